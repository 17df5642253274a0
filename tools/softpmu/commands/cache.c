/* SPDX-License-Identifier: MIT */
/*
 * cache.c: `softpmu cache`: lists, checks, removes, exports and imports saved translations, the
 * files of hosts/user/engine/persist.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hosts/user/cache_file.h>
#include <hosts/user/cache_folder.h>
#include <hosts/user/checksum.h>
#include <hosts/user/launch.h>

#include "tools/softpmu/base/output.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/commands/commands.h"

#define NAME_DIGITS 16

static void help(void)
{
	puts("Usage: softpmu cache [list|verify|prune|export FOLDER|import FOLDER] [OPTIONS]\n\n"
	     "Shows and moves the translations that stat, record, profile, trace and run have\n"
	     "saved.\n\n"
	     "  list             one line for each file: size, blocks of code, date, program\n"
	     "  verify           also read each file; status 1 if one is damaged\n"
	     "  prune            remove files that are damaged, unfinished, or of another version\n"
	     "                   of softpmu\n"
	     "  export FOLDER    copy the good files to a folder, for an image or another job\n"
	     "  import FOLDER    copy the good files of a folder; those that are there stay.\n"
	     "                   softpmu runs the code in them, so import only what you trust\n\n"
	     "  -a, --all        prune: remove all files\n"
	     "  -s, --system     the folder of the whole system, which all users read and only\n"
	     "                   root can fill: /var/cache/softpmu/translations");
}

enum state { STATE_GOOD, STATE_OTHER_VERSION, STATE_UNFINISHED, STATE_DAMAGED, STATE_UNREADABLE };

static const char *const state_text[] = {
	[STATE_GOOD] = "",
	[STATE_OTHER_VERSION] = "of another version of softpmu",
	[STATE_UNFINISHED] = "unfinished",
	[STATE_DAMAGED] = "damaged",
	[STATE_UNREADABLE] = "cannot be read",
};

/* --- one file --- */

/* Reads the file to its end.  Returns its sum. */
static bool read_sum(int fd, uint64_t *sum)
{
	static uint8_t piece[CACHE_PIECE_BYTES];
	off_t at = sizeof(*sum);
	ssize_t n;

	*sum = 0;
	while ((n = pread(fd, piece, sizeof(piece), at)) > 0) {
		*sum = checksum_of(*sum, piece, (size_t)n);
		at += n;
	}
	return n == 0;
}

static enum state examine_open(int fd, struct cache_title *title, bool whole)
{
	ssize_t n = pread(fd, title, sizeof(*title), 0);
	uint64_t sum;

	if (n < 0)
		return STATE_UNREADABLE;
	if (n < (ssize_t)sizeof(*title) || title->magic != CACHE_MAGIC ||
	    !memchr(title->program, 0, sizeof(title->program)))
		return STATE_DAMAGED;
	if (title->image_sum != engine_image_sum)
		return STATE_OTHER_VERSION;
	if (!whole)
		return STATE_GOOD;
	if (!read_sum(fd, &sum))
		return STATE_UNREADABLE;
	return sum == title->sum ? STATE_GOOD : STATE_DAMAGED;
}

/* Reads the title of a file, and all of it if `whole`. */
static enum state examine(int folder, const char *name, struct cache_title *title, bool whole)
{
	enum state state = STATE_UNREADABLE;
	int fd;

	*title = (struct cache_title){.sum = 0};
	if (strchr(name, '.'))
		return STATE_UNFINISHED;
	fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0) {
		state = examine_open(fd, title, whole);
		close(fd);
	}
	if (state != STATE_GOOD && state != STATE_OTHER_VERSION)
		title->program[0] = 0;
	return state;
}

/* Returns whether a file of the folder is one of translations, finished or not. */
static bool is_of_translations(const char *name)
{
	return strspn(name, "0123456789abcdef") == NAME_DIGITS &&
	       (!name[NAME_DIGITS] || name[NAME_DIGITS] == '.');
}

/* --- the folder --- */

struct folder {
	char path[PATH_MAX];
	mode_t mode; /* of files that are copied there */
	int fd;
	struct cache_entry *entries;
	size_t count;
};

/* Opens folder->path. */
static bool folder_open(struct folder *folder)
{
	ssize_t n = cache_folder_list(folder->path, &folder->entries);

	folder->fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (n < 0 || folder->fd < 0) {
		tool_error("cache: %s: %s", folder->path, strerror(errno));
		return false;
	}
	folder->count = 0;
	for (ssize_t i = 0; i < n; i++)
		if (is_of_translations(folder->entries[i].name))
			folder->entries[folder->count++] = folder->entries[i];
	return true;
}

static void folder_close(struct folder *folder)
{
	if (folder->fd >= 0)
		close(folder->fd);
	free(folder->entries);
}

/* --- list, verify --- */

static void print_entry(const struct cache_entry *entry, const struct cache_title *title,
			enum state state)
{
	struct tm tm;
	char date[32] = "";

	if (localtime_r(&entry->written.tv_sec, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M", &tm);
	printf("%10.1f %9" PRIu32 "  %s  %s%s%s%s\n", (double)entry->bytes / 1e6, title->blocks,
	       date, title->program[0] ? title->program : entry->name,
	       *state_text[state] ? " (" : "", state_text[state], *state_text[state] ? ")" : "");
}

/* Prints the files.  `whole`: reads each to its end, and returns 1 if one is damaged. */
static int list(const struct folder *folder, bool whole)
{
	struct cache_title title;
	double bytes = 0;
	int status = 0;

	if (folder->count)
		printf("%10s %9s  %-16s  %s\n", "megabytes", "blocks", "written", "program");
	for (size_t i = 0; i < folder->count; i++) {
		enum state state = examine(folder->fd, folder->entries[i].name, &title, whole);

		print_entry(&folder->entries[i], &title, state);
		bytes += (double)folder->entries[i].bytes;
		if (whole && (state == STATE_DAMAGED || state == STATE_UNREADABLE))
			status = 1;
	}
	printf("%zu file%s, %.1f MB in %s\n", folder->count, folder->count == 1 ? "" : "s",
	       bytes / 1e6, folder->path);
	return status;
}

/* --- prune --- */

static int prune(const struct folder *folder, bool all)
{
	struct cache_title title;
	size_t removed = 0;
	int status = 0;

	for (size_t i = 0; i < folder->count; i++) {
		const struct cache_entry *entry = &folder->entries[i];
		enum state state = examine(folder->fd, entry->name, &title, true);

		if (!all && (state == STATE_GOOD || state == STATE_UNREADABLE ||
			     (state == STATE_UNFINISHED && !cache_folder_is_abandoned(entry))))
			continue;
		if (unlinkat(folder->fd, entry->name, 0)) {
			tool_error("cache: %s/%s: %s", folder->path, entry->name, strerror(errno));
			status = 1;
			continue;
		}
		removed++;
	}
	printf("%zu of %zu file%s removed from %s\n", removed, folder->count,
	       folder->count == 1 ? "" : "s", folder->path);
	return status;
}

/* --- export, import --- */

static bool copy_bytes(int from, int to)
{
	static uint8_t piece[CACHE_PIECE_BYTES];
	ssize_t n;

	while ((n = read(from, piece, sizeof(piece))) > 0)
		for (ssize_t done = 0, written; done < n; done += written)
			if ((written = write(to, piece + done, (size_t)(n - done))) <= 0)
				return false;
	return n == 0;
}

/* Sets the mode, and the time that says that the sum was compared. */
static bool set_attributes(int fd, const struct folder *folder, const struct cache_title *title)
{
	const struct timespec times[2] = {
		{.tv_nsec = UTIME_OMIT},
		{.tv_sec = time(NULL), .tv_nsec = (long)CACHE_MARK(title->sum)}};

	return !fchmod(fd, folder->mode) && !futimens(fd, times);
}

/* Copies a file under another name until it is complete.  Returns false with errno. */
static bool copy(const struct folder *from, const struct folder *to, const char *name,
		 const struct cache_title *title)
{
	char *unfinished = tool_print("%s.%ld", name, (long)getpid());
	int in = openat(from->fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	int out = openat(to->fd, unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			 S_IRUSR | S_IWUSR);
	bool good = in >= 0 && out >= 0 && copy_bytes(in, out) && set_attributes(out, to, title);
	int error;

	if (out >= 0 && close(out))
		good = false;
	good = good && !renameat(to->fd, unfinished, to->fd, name);
	error = errno;
	if (out >= 0 && !good)
		unlinkat(to->fd, unfinished, 0);
	if (in >= 0)
		close(in);
	free(unfinished);
	errno = error;
	return good;
}

/* Copies the good files.  `keep`: those that the other folder has stay as they are. */
static int copy_all(const struct folder *from, const struct folder *to, bool keep)
{
	struct cache_title title, other;
	size_t copied = 0, there = 0, bad = 0;

	for (size_t i = 0; i < from->count; i++) {
		const char *name = from->entries[i].name;

		if (examine(from->fd, name, &title, true) != STATE_GOOD) {
			bad++;
			continue;
		}
		if (keep && examine(to->fd, name, &other, true) == STATE_GOOD) {
			there++;
			continue;
		}
		if (!copy(from, to, name, &title)) {
			tool_error("cache: %s/%s: %s", to->path, name, strerror(errno));
			return 1;
		}
		copied++;
	}
	printf("%zu of %zu file%s copied to %s", copied, from->count, from->count == 1 ? "" : "s",
	       to->path);
	if (there)
		printf(", %zu already there", there);
	if (bad)
		printf(", %zu not usable (see softpmu cache verify)", bad);
	puts("");
	return 0;
}

static int move(struct folder *own, const char *other_path, bool is_import)
{
	struct folder other = {.fd = -1, .mode = S_IRUSR | S_IWUSR};
	int status = 1;

	snprintf(other.path, sizeof(other.path), "%s", other_path);
	if (!is_import && mkdir(other.path, S_IRWXU) && errno != EEXIST) {
		tool_error("cache: %s: %s", other.path, strerror(errno));
		return 1;
	}
	if (folder_open(&other))
		status = is_import ? copy_all(&other, own, true) : copy_all(own, &other, false);
	folder_close(&other);
	return status;
}

/* --- the command --- */

/* Finds the user's folder.  Returns false, with a message, if there is none. */
static bool find_own(struct folder *folder)
{
	folder->mode = S_IRUSR | S_IWUSR;
	if (cache_folder_find(folder->path, sizeof(folder->path)))
		return true;
	tool_error("cache: there is no folder that only you can write to: set XDG_CACHE_HOME or "
		   "HOME");
	return false;
}

/* The same for the system's folder.  `make`: makes it if it does not exist. */
static bool find_system(struct folder *folder, bool make)
{
	const char *path = make ? cache_folder_make_system() : cache_folder_system();

	folder->mode = S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH;
	if (path)
		snprintf(folder->path, sizeof(folder->path), "%s", path);
	else if (make)
		tool_error("cache: " CACHE_SYSTEM_FOLDER ": %s", strerror(errno));
	else
		tool_error("cache: there is no " CACHE_SYSTEM_FOLDER " that only root can write "
			   "to: make it by softpmu cache --system import FOLDER as root");
	return path != NULL;
}

static int run(const char *what, const char *operand, bool all, bool system)
{
	struct folder folder = {.fd = -1};
	bool is_import = !strcmp(what, "import");
	int status = 1;

	if (!(system ? find_system(&folder, is_import) : find_own(&folder)))
		return 1;
	if (!folder_open(&folder))
		status = 1;
	else if (!strcmp(what, "prune"))
		status = prune(&folder, all);
	else if (operand)
		status = move(&folder, operand, is_import);
	else
		status = list(&folder, !strcmp(what, "verify"));
	folder_close(&folder);
	return output_finish("cache", status);
}

int cmd_cache(int argc, char **argv)
{
	static const struct option options[] = {{"all", no_argument, NULL, 'a'},
						{"system", no_argument, NULL, 's'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	static const char *const words[] = {"list", "verify", "prune", "export", "import"};
	const char *what = "list";
	bool all = false, system = false, known = false, moves;
	int option;

	while ((option = getopt_long(argc, argv, ":ash", options, NULL)) != -1) {
		switch (option) {
		case 'a':
			all = true;
			break;
		case 's':
			system = true;
			break;
		case 'h':
			help();
			return output_finish("cache", 0);
		default:
			return tool_bad_option("cache", option, argv);
		}
	}
	if (optind < argc)
		what = argv[optind++];
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		known |= !strcmp(what, words[i]);
	if (!known)
		return tool_usage_error("cache",
					"'%s' is not list, verify, prune, export or import", what);
	moves = !strcmp(what, "export") || !strcmp(what, "import");
	if (moves && optind == argc)
		return tool_usage_error("cache", "%s needs a folder", what);
	if (argc - optind > moves)
		return tool_usage_error("cache", "unexpected argument '%s'", argv[optind + moves]);
	if (all && strcmp(what, "prune") != 0)
		return tool_usage_error("cache", "--all belongs to prune");
	return run(what, moves ? argv[optind] : NULL, all, system);
}
