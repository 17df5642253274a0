// SPDX-License-Identifier: MIT
// signals-program.cc: exceptions that leave signal handlers, through frames of the program and of
// the handler (built with -fnon-call-exceptions).
#include <csignal>
#include <cstdio>
#include <stdexcept>

static int destroyed;

struct guard {
	~guard() { destroyed++; }
};

static void raise_exception(int number)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, nullptr);
	guard g;
	throw std::runtime_error(number == SIGSEGV ? "segv" : "fpe");
}

static int __attribute__((noinline)) load(volatile int *at)
{
	guard g;

	return *at;
}

static int __attribute__((noinline)) divide(volatile int by)
{
	guard g;

	return 7 / by;
}

int main()
{
	signal(SIGSEGV, raise_exception);
	signal(SIGFPE, raise_exception);
	for (int i = 0; i < 50; i++) {
		try {
			printf("%d\n", i % 2 ? load(reinterpret_cast<int *>(16)) : divide(0));
		} catch (const std::exception &e) {
			printf("%s %d\n", e.what(), destroyed);
		}
	}
	return 40;
}
