/* SPDX-License-Identifier: MIT */
/* build_id.c: reads the build-id of an ELF file, or of the vDSO of this process. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <libelf.h>

#include <src/perfdata/perfdata.h>

static size_t copy_id(Elf *elf, uint8_t id[PERFDATA_BUILD_ID_MAX])
{
	const void *found = NULL;
	ssize_t bytes = elf ? dwelf_elf_gnu_build_id(elf, &found) : 0;

	if (bytes <= 0)
		return 0;
	if (bytes > PERFDATA_BUILD_ID_MAX)
		bytes = PERFDATA_BUILD_ID_MAX;
	memcpy(id, found, (size_t)bytes);
	return (size_t)bytes;
}

/*
 * The vDSO is one ELF image in memory. Its section headers come last and therefore give its size.
 */
static Elf *open_vdso(void)
{
	unsigned long base = getauxval(AT_SYSINFO_EHDR);
	Elf64_Ehdr header;

	if (!base)
		return NULL;
	memcpy(&header, (const void *)base, sizeof(header));
	return elf_memory((char *)base,
			  header.e_shoff + (size_t)header.e_shnum * header.e_shentsize);
}

size_t perfdata_read_build_id(const char *path, uint8_t id[PERFDATA_BUILD_ID_MAX])
{
	Elf *elf;
	size_t bytes;
	int fd = -1;

	memset(id, 0, PERFDATA_BUILD_ID_MAX);
	if (elf_version(EV_CURRENT) == EV_NONE)
		return 0;
	if (!strcmp(path, "[vdso]")) {
		elf = open_vdso();
	} else {
		if (path[0] != '/')
			return 0;
		/* A device file must not block. */
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			return 0;
		elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	}
	bytes = copy_id(elf, id);
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return bytes;
}
