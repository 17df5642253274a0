/* SPDX-License-Identifier: MIT */
/*
 * program.c: finds the program to run, and checks what can be checked before it starts.
 *
 * It does what execve(2) and a shell do: searches PATH, and follows `#!` lines with one optional
 * argument, the ELF header and its segments.  A text without a `#!` line goes to /bin/sh, as in
 * execvp().  Other files are refused.  Set-user-ID bits have no effect.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hosts/user/launch.h>

#define CANNOT_RUN 126
#define NOT_FOUND  127

#define SHELL	     "/bin/sh" /* runs scripts without a `#!` line, as in execvp() */
#define SCRIPT_LINE  256       /* the kernel reads no more of a `#!` line */
#define SCRIPT_DEPTH 4	       /* how many interpreters can be scripts */

static int refuse(char **error, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse(char **error, int status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(error, format, arguments) < 0)
		*error = NULL;
	va_end(arguments);
	return status;
}

/* --- PATH ----------------------------------------------------------------- */

static bool is_program(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISREG(status.st_mode) && !access(path, X_OK);
}

static int find_in_path(const char *name, char **path, char **error)
{
	const char *list = getenv("PATH");
	char *refused = NULL;

	if (!list)
		list = "/bin:/usr/bin";
	for (const char *at = list;; at++) {
		size_t length = strcspn(at, ":");
		char *candidate;
		struct stat status;

		/* An empty element means the working directory. */
		if (asprintf(&candidate, "%.*s%s%s", (int)length, at, length ? "/" : "./", name) <
		    0)
			return refuse(error, CANNOT_RUN, "out of memory");
		if (is_program(candidate)) {
			free(refused);
			*path = candidate;
			return 0;
		}
		if (!refused && !stat(candidate, &status) && S_ISREG(status.st_mode))
			refused = candidate;
		else
			free(candidate);
		at += length;
		if (!*at)
			break;
	}
	if (!refused)
		return refuse(error, NOT_FOUND, "%s: command not found", name);
	refuse(error, CANNOT_RUN, "%s: Permission denied", refused);
	free(refused);
	return CANNOT_RUN;
}

/* --- ELF ------------------------------------------------------------------ */

static const char *machine_name(unsigned machine)
{
	static const struct {
		unsigned machine;
		const char *name;
	} names[] = {
		{EM_386, "i386"},      {EM_AARCH64, "AArch64"}, {EM_ARM, "ARM"},
		{EM_RISCV, "RISC-V"},  {EM_PPC64, "PowerPC64"}, {EM_PPC, "PowerPC"},
		{EM_S390, "S/390"},    {EM_MIPS, "MIPS"},	{EM_SPARCV9, "SPARC"},
		{EM_IA_64, "Itanium"}, {EM_68K, "m68k"},	{EM_ALPHA, "Alpha"},
		{258, "LoongArch"},    {EM_PARISC, "PA-RISC"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].machine == machine)
			return names[i].name;
	}
	return "an unknown machine";
}

static bool read_all(int fd, void *to, size_t bytes, uint64_t offset)
{
	uint8_t *at = to;

	while (bytes) {
		ssize_t got = pread(fd, at, bytes, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		offset += (uint64_t)got;
		bytes -= (size_t)got;
	}
	return true;
}

static int check_header(const Elf64_Ehdr *header, const char *path, char **error)
{
	if (header->e_ident[EI_CLASS] == ELFCLASS32)
		return refuse(error, CANNOT_RUN,
			      "%s: a 32-bit program (%s); only 64-bit x86-64 programs can be run",
			      path, machine_name(header->e_machine));
	if (header->e_ident[EI_DATA] != ELFDATA2LSB)
		return refuse(error, CANNOT_RUN,
			      "%s: a big-endian program; only x86-64 programs can be run", path);
	if (header->e_machine != EM_X86_64)
		return refuse(error, CANNOT_RUN,
			      "%s: a program for %s; only x86-64 programs can be run", path,
			      machine_name(header->e_machine));
	if (header->e_ident[EI_CLASS] != ELFCLASS64)
		return refuse(error, CANNOT_RUN, "%s: a damaged ELF file (class %u)", path,
			      header->e_ident[EI_CLASS]);
	if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
		return refuse(error, CANNOT_RUN, "%s: not a program but %s", path,
			      header->e_type == ET_REL	  ? "an object file"
			      : header->e_type == ET_CORE ? "a core dump"
							  : "another kind of ELF file");
	if (header->e_phentsize != sizeof(Elf64_Phdr) || !header->e_phnum)
		return refuse(error, CANNOT_RUN, "%s: a damaged ELF file (program headers)", path);
	return 0;
}

static int check_elf(int fd, const char *path, bool interpreter, char **error);

static int check_interpreter(int fd, const Elf64_Phdr *segment, const char *path, char **error)
{
	char name[LINK_PATH_MAX];
	int status, interpreter;

	if (segment->p_filesz < 2 || segment->p_filesz > sizeof(name) ||
	    !read_all(fd, name, segment->p_filesz, segment->p_offset) ||
	    name[segment->p_filesz - 1])
		return refuse(error, CANNOT_RUN, "%s: a damaged ELF file (interpreter)", path);
	interpreter = open(name, O_RDONLY | O_CLOEXEC);
	if (interpreter < 0)
		return refuse(error, errno == ENOENT ? NOT_FOUND : CANNOT_RUN,
			      "%s: its interpreter %s: %s", path, name, strerror(errno));
	status = check_elf(interpreter, name, true, error);
	close(interpreter);
	return status;
}

static int check_elf(int fd, const char *path, bool interpreter, char **error)
{
	Elf64_Ehdr header;
	struct stat file;
	bool loads = false;
	int status;

	/* A 32-bit header is shorter, but the class and the machine are in the same place. */
	memset(&header, 0, sizeof(header));
	if (fstat(fd, &file) || !read_all(fd, &header, sizeof(Elf32_Ehdr), 0))
		return refuse(error, CANNOT_RUN, "%s: a truncated ELF file (header)", path);
	if (header.e_ident[EI_CLASS] != ELFCLASS32 && !read_all(fd, &header, sizeof(header), 0))
		return refuse(error, CANNOT_RUN, "%s: a truncated ELF file (header)", path);
	status = check_header(&header, path, error);
	if (status)
		return status;

	for (unsigned i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;
		uint64_t end;

		if (!read_all(fd, &segment, sizeof(segment), header.e_phoff + i * sizeof(segment)))
			return refuse(error, CANNOT_RUN,
				      "%s: a truncated ELF file (program headers)", path);
		if (segment.p_type != PT_LOAD && segment.p_type != PT_INTERP)
			continue;
		if (__builtin_add_overflow(segment.p_offset, segment.p_filesz, &end) ||
		    end > (uint64_t)file.st_size)
			return refuse(error, CANNOT_RUN,
				      "%s: a truncated ELF file (segment %u ends past the file)",
				      path, i);
		loads |= segment.p_type == PT_LOAD;
		if (segment.p_type == PT_INTERP && !interpreter) {
			status = check_interpreter(fd, &segment, path, error);
			if (status)
				return status;
		}
	}
	if (!loads)
		return refuse(error, CANNOT_RUN, "%s: an ELF file with nothing to load", path);
	return 0;
}

/* --- scripts -------------------------------------------------------------- */

/* Splits a `#!` line into the interpreter and the argument (NULL: none), as binfmt_script does. */
static bool split_script_line(char *line, char **interpreter, char **argument)
{
	char *end = strchr(line, '\n');
	char *at = line + 2;

	/* A line can be too long as long as the name of the interpreter is complete.  Its last
	 * byte does not count. */
	if (!end && strlen(line) == SCRIPT_LINE) {
		if (!strpbrk(at + strspn(at, " \t"), " \t"))
			return false;
		end = line + SCRIPT_LINE - 1;
	}
	if (end)
		*end = '\0';
	end = line + strlen(line);
	while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = '\0';
	at += strspn(at, " \t");
	if (!*at)
		return false;
	*interpreter = at;
	at += strcspn(at, " \t");
	if (*at)
		*at++ = '\0';
	at += strspn(at, " \t");
	*argument = *at ? at : NULL;
	return true;
}

/* Replaces argv[0] by "interpreter [argument] script". */
static bool put_interpreter(struct launch_program *program, const char *interpreter,
			    const char *argument)
{
	char *path = strdup(interpreter);
	char **argv;
	size_t count = 0, to = 0;

	while (program->argv[count])
		count++;
	argv = calloc(count + 3, sizeof(*argv));
	if (!path || !argv)
		goto no_memory;
	argv[to] = strdup(interpreter);
	if (!argv[to++])
		goto no_memory;
	if (argument) {
		argv[to] = strdup(argument);
		if (!argv[to++])
			goto no_memory;
	}
	argv[to++] = program->path;
	for (size_t from = 1; from < count; from++)
		argv[to++] = program->argv[from];
	if (count)
		free(program->argv[0]);
	free(program->argv);
	program->argv = argv;
	program->path = path;
	return true;

no_memory:
	while (argv && to)
		free(argv[--to]);
	free(argv);
	free(path);
	return false;
}

/* Makes a script without a `#!` line an argument of the shell, as execvp() does. */
static bool put_shell(struct launch_program *program)
{
	char *shell = strdup(SHELL);

	if (!shell || !put_interpreter(program, shell, NULL)) {
		free(shell);
		return false;
	}
	free(program->file);
	program->file = shell;
	return true;
}

/* Returns true if the first line has no NUL byte: shells take such a file for a script. */
static bool is_text(const char *bytes, ssize_t got)
{
	const char *end = memchr(bytes, '\n', got > 0 ? (size_t)got : 0);

	return got >= 0 && !memchr(bytes, 0, end ? (size_t)(end - bytes) : (size_t)got);
}

/* --- all together --------------------------------------------------------- */

static int open_program(const char *path, int *fd, char **error)
{
	struct stat status;

	if (stat(path, &status))
		return refuse(error, errno == ENOENT || errno == ENOTDIR ? NOT_FOUND : CANNOT_RUN,
			      "%s: %s", path, strerror(errno));
	if (S_ISDIR(status.st_mode))
		return refuse(error, CANNOT_RUN, "%s: Is a directory", path);
	if (!S_ISREG(status.st_mode) || access(path, X_OK))
		return refuse(error, CANNOT_RUN, "%s: %s", path, strerror(EACCES));
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return refuse(error, CANNOT_RUN, "%s: cannot read the program: %s", path,
			      strerror(errno));
	return 0;
}

/* Checks an ELF file.  Replaces a script by its interpreter, and sets *again.  Returns the
 * status. */
static int check_file(struct launch_program *program, bool *again, char **error)
{
	char line[SCRIPT_LINE + 1] = "";
	char *interpreter, *argument;
	ssize_t got;
	int fd = -1, status;

	*again = false;
	status = open_program(program->path, &fd, error);
	if (status)
		return status;
	got = pread(fd, line, SCRIPT_LINE, 0);
	if (got >= SELFMAG && !memcmp(line, ELFMAG, SELFMAG)) {
		status = check_elf(fd, program->path, false, error);
	} else if (got >= 2 && !memcmp(line, "#!", 2)) {
		*again = true;
		if (!split_script_line(line, &interpreter, &argument))
			status = refuse(error, CANNOT_RUN, "%s: no interpreter in its #! line",
					program->path);
		else if (!put_interpreter(program, interpreter, argument))
			status = refuse(error, CANNOT_RUN, "out of memory");
	} else if (is_text(line, got) && !strcmp(program->path, program->file)) {
		*again = true;
		if (!put_shell(program))
			status = refuse(error, CANNOT_RUN, "out of memory");
	} else {
		status = refuse(error, CANNOT_RUN, "%s: neither an x86-64 ELF program nor a script",
				program->path);
	}
	close(fd);
	return status;
}

static bool copy_argv(struct launch_program *program, char **argv)
{
	size_t count = 0;

	while (argv[count])
		count++;
	program->argv = calloc(count + 1, sizeof(*argv));
	if (!count || !program->argv)
		return false;
	for (size_t i = 0; i < count; i++) {
		program->argv[i] = strdup(argv[i]);
		if (!program->argv[i])
			return false;
	}
	program->name = strdup(argv[0]);
	return program->name;
}

/* Puts the name of the script before a message about its interpreter. */
static void name_script(const struct launch_program *program, char **error)
{
	char *full;

	if (!*error || asprintf(&full, "%s: %s", program->name, *error) < 0)
		return;
	free(*error);
	*error = full;
}

/* Returns the path of the program, or NULL with *status and *error. */
static char *find_path(const char *name, int *status, char **error)
{
	char *path = NULL;

	if (!name[0]) {
		*status = refuse(error, NOT_FOUND, "'': command not found");
	} else if (strchr(name, '/')) {
		path = strdup(name);
		if (!path)
			*status = refuse(error, CANNOT_RUN, "out of memory");
	} else {
		*status = find_in_path(name, &path, error);
	}
	return path;
}

int program_find(struct launch_program *program, char **argv, char **error)
{
	bool again = true;
	int status = 0;

	*error = NULL;
	memset(program, 0, sizeof(*program));
	program->path = find_path(argv[0], &status, error);
	if (!program->path)
		return status;
	program->file = strdup(program->path);
	if (!program->file || !copy_argv(program, argv)) {
		program_forget(program);
		return refuse(error, CANNOT_RUN, "out of memory");
	}
	for (int depth = 0; !status && again; depth++) {
		if (depth > SCRIPT_DEPTH)
			status = refuse(error, CANNOT_RUN, "too many levels of #! scripts");
		else
			status = check_file(program, &again, error);
		if (status && depth)
			name_script(program, error);
	}
	if (!status &&
	    (strlen(program->path) >= LINK_PATH_MAX || strlen(program->file) >= LINK_PATH_MAX))
		status = refuse(error, CANNOT_RUN, "%s: %s", program->name, strerror(ENAMETOOLONG));
	if (status)
		program_forget(program);
	return status;
}

void program_forget(struct launch_program *program)
{
	for (char **argv = program->argv; argv && *argv; argv++)
		free(*argv);
	free(program->argv);
	free(program->file);
	free(program->path);
	free(program->name);
	memset(program, 0, sizeof(*program));
}
