# SPDX-License-Identifier: MIT
"""Pure Python: a small n-body simulation, a sieve, and string building."""


def gravity(bodies, steps, dt=0.01):
    for _ in range(steps):
        for i, (p, v, _) in enumerate(bodies):
            for q, w, mass in bodies[i + 1:]:
                d = [a - b for a, b in zip(p, q)]
                pull = dt / (sum(x * x for x in d) + 0.1) ** 1.5
                for axis in range(3):
                    v[axis] -= d[axis] * mass * pull
                    w[axis] += d[axis] * mass * pull
        for p, v, _ in bodies:
            for axis in range(3):
                p[axis] += v[axis] * dt


def primes(limit):
    marks = bytearray([1]) * limit
    for n in range(2, int(limit ** 0.5) + 1):
        if marks[n]:
            marks[n * n::n] = bytes(len(range(n * n, limit, n)))
    return [n for n in range(2, limit) if marks[n]]


def words(count):
    seen = {}
    state = 1
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2147483648
        word = "".join(chr(97 + (state >> shift) % 26) for shift in (4, 9, 14, 19))
        seen[word] = seen.get(word, 0) + 1
    return sorted(seen.items(), key=lambda item: (-item[1], item[0]))[:3]


system = [([float(i), float(i * i % 5), float(i % 3)], [0.0, 0.1 * i, 0.0], 1.0 + i) for i in range(5)]
gravity(system, 16000)
print("%.6f" % system[0][0][0], sum(primes(1000000)), words(250000))
