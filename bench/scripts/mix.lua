-- SPDX-License-Identifier: MIT
-- mix.lua N: what scripts do, N times: calls, tables, strings, backtracking, sorting.
local function fibonacci(n)
	if n < 2 then return n end
	return fibonacci(n - 1) + fibonacci(n - 2)
end

local function primes(n)
	local composite, count = {}, 0
	for i = 2, n do
		if not composite[i] then
			count = count + 1
			for j = i * i, n, i do composite[j] = true end
		end
	end
	return count
end

local function words(n)
	local count, sum = {}, 0
	for i = 1, n do
		local word = "w" .. i * 7919 % 1000
		count[word] = (count[word] or 0) + 1
	end
	for word, times in pairs(count) do sum = sum + times * #word end
	return sum
end

local function queens(n)
	local column, up, down, solutions = {}, {}, {}, 0
	local function place(row)
		if row > n then solutions = solutions + 1 return end
		for i = 1, n do
			if not (column[i] or up[row + i] or down[row - i]) then
				column[i], up[row + i], down[row - i] = true, true, true
				place(row + 1)
				column[i], up[row + i], down[row - i] = nil, nil, nil
			end
		end
	end
	place(1)
	return solutions
end

local function sorted(n)
	local list = {}
	for i = 1, n do list[i] = i * 7919 % 100003 end
	table.sort(list)
	return list[1] + list[n // 2]
end

for _ = 1, tonumber(arg[1]) do
	print(fibonacci(27), primes(300000), words(150000), queens(8), sorted(50000))
end
