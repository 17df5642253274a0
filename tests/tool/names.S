/* SPDX-License-Identifier: MIT */
/*
 * names.S: functions with encoded names of Rust and D, for names.sh.  The second Rust name, the
 * hash included, has the form before RFC 2603.  The others are of that RFC and of D's specification.
 */
	.text
.macro function name
	.globl	\name
	.type	\name, @function
\name:
	.rept	16
	nop
	.endr
	.size	\name, . - \name
.endm
	function _RNvC6_123foo3bar
	function _ZN4core3fmt9Formatter3pad17h0123456789abcdefE
	function _D4test3fooFAyaZv
	function _ZplRK3boxS1_
	function added
	.symver added, _ZNSt6vectorIiE3addEv@@VERS_1.0, remove
	function _Znothing
	function _D
	function plain
	.section .note.GNU-stack,"",@progbits
