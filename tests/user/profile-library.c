/* SPDX-License-Identifier: MIT */
/* profile-library.c: a library that profile-code.c loads.  It is built in two ways, whose
 * instructions are at different addresses. */
unsigned run(unsigned n);

unsigned run(unsigned n)
{
	unsigned x = n;

	while (n--) {
#ifdef OTHER
		x ^= x << 13;
		x ^= x >> 17;
		if (x & 64)
			x += n * 12345;
#endif
		if (x & 8)
			x = x * 3 + n;
		else
			x ^= 0x55;
	}
	return x;
}
