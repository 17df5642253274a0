/* SPDX-License-Identifier: MIT */
/*
 * vm.h: what the files of `softpmu vm` share: options, archives for a guest, and QEMU as a child.
 */
#ifndef SOFTPMU_TOOL_VM_H
#define SOFTPMU_TOOL_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define VM_MEBIBYTE (UINT64_C(1) << 20)

/* The options of `softpmu vm`; NULL: not given. */
struct vm {
	const char *model, *cpu, *memory, *kernel, *initrd, *append, *share;
	uint64_t processors, memory_bytes;
	unsigned bits; /* of the guest's system: 32 or 64 */
	bool verbose, icount;
	char **command; /* NULL: a shell */
};

/* Boots a guest and waits until it ends.  Returns the exit status of the tool. */
int vm_boot(struct vm *vm);

/*
 * A cpio archive (the "newc" form, which Linux unpacks as its initramfs), written to a file without
 * a name.  Its functions return false, after a message, if the archive cannot be written.
 */
struct vm_archive {
	int fd;
	uint64_t bytes;
	uint32_t entries;
	time_t newest; /* later times of files are set to this one */
};

bool vm_archive_open(struct vm_archive *archive, time_t newest);
/* Copies another archive, which comes before all that is added. */
bool vm_archive_begin_with(struct vm_archive *archive, const char *file);
bool vm_archive_folder(struct vm_archive *archive, const char *name);
bool vm_archive_text(struct vm_archive *archive, const char *name, const char *text);
/* Adds the files, folders and symbolic links below a folder.  Names others and leaves them out. */
bool vm_archive_tree(struct vm_archive *archive, const char *name, const char *folder);
bool vm_archive_close(struct vm_archive *archive);

/* A run of QEMU as a child. */
struct vm_run {
	char **argv;	   /* its command line, ended by NULL */
	bool with_command; /* the guest runs a command, whose output is ours */
	bool verbose;
	const char *share;   /* folder for what the command changed in /share; NULL: none */
	uint64_t disk_bytes; /* size of the disk that brings the changes */
};

/* Adds a word to the command line. */
void vm_run_word(struct vm_run *run, const char *word);

/* Starts QEMU and waits until it ends.  Returns the exit status of the tool. */
int vm_run_qemu(struct vm_run *run);

/*
 * Runs a bash script with at most five arguments, ended by NULL, and sets *text to its output, to
 * free().  Returns its exit status, -1 if it could not run.
 */
int vm_run_script(const char *script, const char *const argv[], char **text);

/* Returns a file without a name that has these bytes and stays open in children, or -1. */
int vm_run_hidden_file(const char *name, const void *bytes, size_t size);

#endif
