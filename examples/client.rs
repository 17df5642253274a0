// SPDX-License-Identifier: MIT
// client.rs: regions of a Rust program, without a crate to build.  A request to softpmu is one
// instruction (softpmu/client.h), which has its arguments in RDI and RSI.
//
//     rustc -O client.rs && softpmu stat -e instructions:u ./client
//
// Prints:
//     499999500000, alone
use std::ffi::CStr;

mod softpmu {
    use std::arch::asm;
    use std::ffi::CStr;

    macro_rules! request {
        ($operation:literal, $name:expr, $number:expr) => {
            // SAFETY: the instruction is a NOP: it changes neither memory nor flags.
            unsafe {
                asm!(".byte 0x0f, 0x1f, 0x84, 0x00", concat!(".long 0x4d505300 + ", $operation),
                     in("rdi") $name, in("rsi") $number, options(nostack, preserves_flags));
            }
        };
    }

    /// A region that ends when it is dropped.
    pub struct Region<'a>(&'a CStr);

    #[inline(always)]
    pub fn region(name: &CStr) -> Region<'_> {
        request!(1, name.as_ptr(), 0u64);
        Region(name)
    }

    impl Region<'_> {
        /// Begins a part of the region.
        #[inline(always)]
        pub fn mark(&self, name: &CStr) {
            request!(3, name.as_ptr(), 0u64);
        }

        #[inline(always)]
        pub fn iterations(&self, number: u64) {
            request!(4, 0u64, number);
        }
    }

    impl Drop for Region<'_> {
        #[inline(always)]
        fn drop(&mut self) {
            request!(2, self.0.as_ptr(), 0u64);
        }
    }

    #[inline(always)]
    pub fn running() -> bool {
        let mut running: u64 = 0;
        // SAFETY: as above; softpmu changes RAX.
        unsafe {
            asm!(".byte 0x0f, 0x1f, 0x84, 0x00", ".long 0x4d505300 + 5",
                 inout("rax") running, options(nostack, preserves_flags));
        }
        running != 0
    }
}

fn name(text: &'static [u8]) -> &'static CStr {
    CStr::from_bytes_with_nul(text).expect("ends with NUL")
}

fn main() {
    let mut total = 0u64;
    {
        let region = softpmu::region(name(b"sum\0"));
        region.mark(name(b"add\0"));
        for i in 0..1_000_000u64 {
            // SAFETY: it writes a variable.  The compiler must not calculate the sum by a formula.
            unsafe { std::ptr::write_volatile(&mut total, total + i) };
        }
        region.iterations(1_000_000);
    }
    println!("{}, {}", total, if softpmu::running() { "with softpmu" } else { "alone" });
}
