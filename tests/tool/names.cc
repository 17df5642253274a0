/* SPDX-License-Identifier: MIT */
/* names.cc: a program for names.sh, whose functions have templates, operators and overloads. */
#include <cstdio>

namespace shapes
{
template <class T> struct box {
	T side;
	T area(T times) const;
	box operator*(T by) const;
};

template <class T> __attribute__((noinline)) T box<T>::area(T times) const
{
	T sum = 0;

	for (T i = 0; i < 1000; i++) {
		sum += side * times;
		asm volatile("" : "+r"(sum));
	}
	return sum;
}

template <class T> __attribute__((noinline)) box<T> box<T>::operator*(T by) const
{
	asm volatile("");
	return {side * by};
}
} // namespace shapes

__attribute__((noinline)) static long twice(long x)
{
	return shapes::box<long>{x}.area(2);
}

__attribute__((noinline)) static long twice(int x)
{
	long sum = 0;

	for (int i = 0; i < 100; i++)
		sum += (shapes::box<int>{x} * i).area(2);
	return sum;
}

int main(int argc, char **)
{
	auto thrice = [](int x) __attribute__((noinline)) {
		return twice(x) + twice(static_cast<long>(x));
	};

	std::printf("%ld\n", thrice(argc));
	return 0;
}
