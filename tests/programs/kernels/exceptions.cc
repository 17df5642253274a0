// SPDX-License-Identifier: MIT
// exceptions: throws through frames with destructors, rethrows, catches by base class, throws out
// of constructors and virtual calls, and lets std:: throw; the unwinder reads return addresses.
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

static long destroyed;

struct guard {
	~guard() { destroyed++; }
};

struct shape {
	virtual ~shape() = default;
	virtual double area() const = 0;
};

struct square : shape {
	double side;
	explicit square(double s) : side(s)
	{
		if (s < 0)
			throw std::invalid_argument("negative " + std::to_string(static_cast<int>(s)));
	}
	double area() const override { return side * side; }
};

struct broken : shape {
	double area() const override { throw 42; }
};

static int deep(int n)
{
	guard g;
	if (n == 0)
		throw std::runtime_error("bottom");
	return deep(n - 1) + 1;
}

static std::string attempt(int i)
{
	try {
		try {
			switch (i % 5) {
			case 0:
				deep(i % 40);
				break;
			case 1:
				return std::to_string(square(i - 50).area());
			case 2:
				return std::to_string(std::unique_ptr<shape>(new broken)->area());
			case 3:
				return std::vector<std::string>{ "a", "b" }.at(static_cast<size_t>(i));
			default:
				return std::to_string(std::stoi(i % 2 ? "12" : "twelve"));
			}
		} catch (const std::logic_error &) {
			guard g;
			throw;
		}
	} catch (const std::exception &e) {
		return e.what();
	} catch (int n) {
		return "int " + std::to_string(n);
	}
	return "none";
}

int main()
{
	std::map<std::string, int> seen;
	for (int i = 0; i < 2000; i++)
		seen[attempt(i)]++;
	for (const auto &[what, count] : seen)
		if (count > 1)
			std::cout << what << " " << count << "\n";
	std::cout << seen.size() << " " << destroyed << std::endl;
	throw std::domain_error("not caught");
}
