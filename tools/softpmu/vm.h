/* SPDX-License-Identifier: MIT */
/*
 * vm.h: what the files of `softpmu vm` share: archives for a guest's memory, and QEMU as a child.
 */
#ifndef SOFTPMU_TOOL_VM_H
#define SOFTPMU_TOOL_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/*
 * A cpio archive (the "newc" form, which Linux unpacks as its initramfs) that grows in a file
 * without a name.  Every function but open returns false when that cannot be written.
 */
struct vm_archive {
	int fd;
	uint64_t bytes;
	uint32_t entries;
	time_t newest; /* no file gets a later time */
};

bool vm_archive_open(struct vm_archive *archive, time_t newest);
/* Another archive stands before what is added. */
bool vm_archive_begin_with(struct vm_archive *archive, const char *file);
bool vm_archive_folder(struct vm_archive *archive, const char *name);
bool vm_archive_text(struct vm_archive *archive, const char *name, const char *text);
/* The files, folders and symbolic links below a folder; others are left out with a note. */
bool vm_archive_tree(struct vm_archive *archive, const char *name, const char *folder);
bool vm_archive_close(struct vm_archive *archive);

/* QEMU as a child, and how its run ended. */
struct vm_run {
	char **argv;	   /* its command line; grows */
	bool with_command; /* the guest runs a command: its lines are ours */
	bool verbose;
	const char *share;   /* folder that takes what the command changed in /share; NULL: none */
	uint64_t disk_bytes; /* of the disk on which that comes, with a share */
};

/* Add one word to the command line. */
void vm_word(struct vm_run *run, const char *word);

/* Start QEMU, stay until it ends; the exit status of the tool. */
int vm_execute(struct vm_run *run);

/*
 * Run a script of bash with up to five arguments, the last behind them NULL; what it prints goes
 * to *text (to free()).  Its exit status, -1 when it did not run.
 */
int vm_script(const char *script, const char *const argv[], char **text);

/* A file without a name that holds these bytes, kept open in children; -1. */
int vm_hidden_file(const char *name, const void *bytes, size_t size);

#endif
