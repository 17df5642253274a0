#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
# vm_init.sh: the first process of the guests of `softpmu vm`.
#
# /softpmu, put there for each run, holds `terminal`, and `command` when one is to run: its output goes
# to the second serial port, its errors to the first, its status to the third.  What it changed in /share
# goes onto the disk, and its length behind the status; where the kernel does not know such a disk, it
# goes behind the status itself.  Without a command there is a shell on the first port.
export PATH=/bin:/usr/bin:/sbin:/usr/sbin:/share HOME=/root LANG=C.UTF-8
/bin/busybox mkdir -p /dev /proc /sys /tmp /root /run
/bin/busybox mount -t proc proc /proc
/bin/busybox --install -s /bin
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t debugfs debug /sys/kernel/debug 2>/dev/null
mount -t tracefs trace /sys/kernel/tracing 2>/dev/null
ln -s /proc/self/fd /dev/fd
echo 0 >/proc/sys/kernel/kptr_restrict
echo -1 >/proc/sys/kernel/perf_event_paranoid
# A guest is slow; the kernel would take that for too many samples and drop some.  It may lower the rate in
# between, and takes none when it is told not to.
rate=/proc/sys/kernel/perf_event_max_sample_rate
for _ in 1 2 3 4 5; do
	echo 25 >/proc/sys/kernel/perf_cpu_time_max_percent
	echo 100000 >$rate
	echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
	[ "$(cat $rate)" != 100000 ] || break
done
hostname softpmu
# Those of Debian's kernel; others have them built in, or not.
for module in msr cpuid virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci \
	virtio_blk; do
	insmod "/lib/modules/$module.ko" 2>/dev/null
done
cd /root || exit
[ ! -d /share ] || cd /share || exit

port() { stty -F "/dev/$1" raw -echo 2>/dev/null; }

# What /share has that is newer than this run (no file that was put there is); many files come as
# several archives, one behind the other.
changed() {
	cd /share || return
	find . -newer /softpmu/command \( -type f -o -type l \) -print0 | xargs -0 -r tar -c -f -
}

if [ -e /softpmu/command ]; then
	stty -F /dev/ttyS0 -opost
	port ttyS1
	port ttyS2
	sh /softpmu/command </dev/null >/dev/ttyS1 2>/dev/ttyS0
	status=$?
	if [ ! -d /share ]; then
		echo "$status 0" >/dev/ttyS2
	elif [ -b /dev/vda ]; then
		bytes=$(changed | tee /dev/vda | wc -c)
		sync
		echo "$status $bytes" >/dev/ttyS2
	else
		{
			echo "$status 0"
			changed
		} >/dev/ttyS2
	fi
else
	. /softpmu/terminal
	echo "softpmu: a shell in the guest; 'exit' or Ctrl-A x ends it"
	setsid cttyhack sh
fi
# The kernel says that it goes.
echo 0 >/proc/sys/kernel/printk
poweroff -f
