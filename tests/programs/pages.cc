// SPDX-License-Identifier: MIT
// pages.cc: a program with two threads, templates and recursion.  With MORE it counts more words.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <vector>

#ifdef MORE
static const int words = 26000;
#else
static const int words = 20000;
#endif

static unsigned long state = 42;

__attribute__((noinline)) static unsigned long next_random()
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

struct word_counter {
	std::map<std::string, int> counts;

	__attribute__((noinline)) void add(const std::string &word)
	{
		counts[word]++;
	}
};

template <class T> __attribute__((noinline)) static void sort_all(std::vector<T> &list)
{
	std::sort(list.begin(), list.end());
}

__attribute__((noinline)) static void numbers()
{
	std::vector<unsigned long> list;

	for (int i = 0; i < 20000; i++)
		list.push_back(next_random());
	sort_all(list);
}

__attribute__((noinline)) static int fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

int main()
{
	std::thread other([] { printf("%d\n", fibonacci(22)); });
	word_counter counter;

	for (int i = 0; i < words; i++)
		counter.add(std::to_string(next_random() % 3000));
	numbers();
	numbers();
	other.join();
	printf("%zu\n", counter.counts.size());
}
