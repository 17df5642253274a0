#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
# vm_init.sh: the first process of the guests of `softpmu vm`.
#
# The folder /softpmu is made for each run.  It has the file `terminal`, and `command` if there is one.  The
# command's output goes to the second serial port, its errors to the first one, and its status to the third
# one.  Its changes in /share go to the disk, and their length after the status.  If the kernel does not know
# the disk, the changes follow the status on the port.  Without a command there is a shell on the first port.
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
# In a slow guest the kernel would assume too many samples and drop some.  It can lower the rate at any time,
# but not if it is told not to check.
rate=/proc/sys/kernel/perf_event_max_sample_rate
for _ in 1 2 3 4 5; do
	echo 25 >/proc/sys/kernel/perf_cpu_time_max_percent
	echo 100000 >$rate
	echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
	[ "$(cat $rate)" != 100000 ] || break
done
hostname softpmu
# Modules of Debian's kernel.  Other kernels have them built in, or do not have them.
for module in msr cpuid virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci \
	virtio_blk; do
	insmod "/lib/modules/$module.ko" 2>/dev/null
done
cd /root || exit
[ ! -d /share ] || cd /share || exit

port() { stty -F "/dev/$1" raw -echo 2>/dev/null; }

# Packs the files in /share that are newer than the start of this run; all others are older.  Many files make
# several archives, one after the other.
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
# Keeps the kernel from printing that it powers off.
echo 0 >/proc/sys/kernel/printk
poweroff -f
