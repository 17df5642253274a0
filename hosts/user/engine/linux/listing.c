/* SPDX-License-Identifier: MIT */
/*
 * listing.c: the list of its mappings (proc(5), /proc/self/maps) as the program must see it:
 * with the rights that the program asked for, and without rights where the engine is, so that
 * the program does not use that space.  Natively code is executable, and a page of code can be
 * written to even if it is watched here (watch.c).  Where the list shows the amount of memory
 * (smaps, smaps_rollup), the engine has none.
 *
 * A process that opens events also sees the code of other processes of the run, because perf reads
 * their lists.
 *
 * The program gets a copy, made when it opens the file.  Simplified: changes of the map while
 * the file is open do not show, and other files with mappings (map_files, numa_maps, pagemap)
 * are the kernel's.
 */
#include <hosts/user/link.h>

#include "engine/count/ask.h"
#include "engine/count/opened.h"
#include "engine/linux/listing.h"

#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/memfd.h>

#include "engine/linux/smaps.h"
#include "engine/memory/places.h"
#include "engine/memory/regions.h"
#include "engine/rt/context.h"
#include "engine/rt/file.h"
#include "engine/rt/sys.h"

#define LIST_MOST (UINT64_C(8) << 20)
#define LINE_MOST (2 * LINK_PATH_MAX + SMAPS_TEXT)
#define ROLLUP	  "/smaps_rollup"
#define NO_FILE	  "00:00 0 "
#define NO_DEVICE "00:"
#define ROUND	  (UINT64_C(1) << 30) /* for the engine's memory */
#define DIGITS	  8		      /* of an address or offset, at least */

extern const char __ehdr_start[], _end[]; /* of the engine's image */

/* A line.  The part after the offset (device, inode, name) does not change. */
struct line {
	uint64_t start, end, offset;
	char rights[4]; /* "rwxp" */
	const char *tail;
	size_t tail_bytes;
	bool changed; /* differs from the kernel's line */
	struct smaps_counters counters;
};

struct listing {
	char *at;
	struct line last; /* not written yet; empty: none */
	/* Of all lines. */
	struct smaps_counters sum;
	uint64_t of_files, of_shared; /* its kilobytes */
	/* Of another process of the run: its executable memory. */
	const struct region_of *other;
	unsigned others;
};

/* --- text --- */

static bool take_hex(const char **at, char separator, uint64_t *value)
{
	const char *c = *at;

	for (*value = 0; (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'f'); c++)
		*value = *value << 4 | (uint64_t)(*c <= '9' ? *c - '0' : *c - 'a' + 10);
	*at = c + 1;
	return *c == separator;
}

/* Reads a line and moves `at` after it.  Returns false if it is no line of such a list. */
static bool take_line(const char **at, struct line *line)
{
	const char *c = *at;

	*line = (struct line){0};
	if (!take_hex(&c, '-', &line->start) || !take_hex(&c, ' ', &line->end))
		return false;
	memcpy(line->rights, c, sizeof(line->rights));
	c += sizeof(line->rights) + 1;
	if (!take_hex(&c, ' ', &line->offset))
		return false;
	line->tail = c;
	while (*c != '\n')
		c++;
	line->tail_bytes = (size_t)(c - line->tail);
	*at = c + 1;
	smaps_take(at, &line->counters);
	return true;
}

static void put_hex(struct listing *l, uint64_t value, char separator)
{
	unsigned digits = DIGITS;

	while (digits < 16 && value >> 4 * digits)
		digits++;
	while (digits--)
		*l->at++ = "0123456789abcdef"[value >> 4 * digits & 15];
	*l->at++ = separator;
}

static void put_last(struct listing *l)
{
	const struct line *line = &l->last;

	if (line->start == line->end)
		return;
	put_hex(l, line->start, '-');
	put_hex(l, line->end, ' ');
	memcpy(l->at, line->rights, sizeof(line->rights));
	l->at += sizeof(line->rights);
	*l->at++ = ' ';
	put_hex(l, line->offset, ' ');
	memcpy(l->at, line->tail, line->tail_bytes);
	l->at += line->tail_bytes;
	*l->at++ = '\n';
	l->at = smaps_put(l->at, &line->counters, line->end - line->start, line->rights);
}

/* --- lines --- */

static bool is_file(const struct line *line)
{
	return memcmp(line->tail, NO_FILE, sizeof(NO_FILE) - 1) != 0;
}

/* Returns whether the kernel would have merged the two if the engine had not changed their
 * rights. */
static bool goes_on(const struct line *one, const struct line *other)
{
	return one->tail && (one->changed || other->changed) && one->end == other->start &&
	       !memcmp(one->rights, other->rights, sizeof(one->rights)) &&
	       one->tail_bytes == other->tail_bytes &&
	       !memcmp(one->tail, other->tail, one->tail_bytes) &&
	       (!is_file(one) || one->offset + (one->end - one->start) == other->offset);
}

static void add(struct listing *l, const struct line *line)
{
	uint64_t of_files = smaps_of_files(&line->counters);

	smaps_add(&l->sum, &line->counters);
	if (line->rights[3] == 's' && !memcmp(line->tail, NO_DEVICE, sizeof(NO_DEVICE) - 1))
		l->of_shared += of_files;
	else
		l->of_files += of_files;
	if (goes_on(&l->last, line)) {
		l->last.end = line->end;
		l->last.changed = true;
		smaps_add(&l->last.counters, &line->counters);
		return;
	}
	put_last(l);
	l->last = *line;
}

static bool names(const struct line *line, const char *what)
{
	size_t bytes = strlen(what);

	for (size_t i = 0; i + bytes <= line->tail_bytes; i++)
		if (!memcmp(line->tail + i, what, bytes))
			return true;
	return false;
}

static uint64_t image_end(void)
{
	return in_pages((uint64_t)_end);
}

static bool is_image(uint64_t at)
{
	return at >= (uint64_t)__ehdr_start && at < image_end();
}

static bool is_memory(const struct line *line)
{
	return line->start >= ENGINE_MEMORY && line->start < heap_end();
}

/* Of everything that is executable for the kernel, only its own mappings belong to the program. */
static bool is_engines(const struct line *line)
{
	if (line->rights[2] == 'x')
		return !names(line, "[v");
	return names(line, "/memfd:softpmu") || is_image(line->start) || is_memory(line);
}

/* Adds reserved memory, which the program must not use. */
static void add_reserved(struct listing *l, uint64_t start, uint64_t end,
			 struct smaps_counters counters)
{
	static const char tail[] = NO_FILE;
	const struct line line = {start, end,	  0, {'-', '-', '-', 'p'}, tail, sizeof(tail) - 1,
				  true,	 counters};

	add(l, &line);
}

static struct smaps_counters none_like(struct smaps_counters counters)
{
	smaps_clear(&counters);
	return counters;
}

/* Adds the engine's memory as one range.  Its parts depend on the persistent code cache, and its
 * size on what the engine does. */
static void add_engines(struct listing *l, const struct line *line)
{
	uint64_t end = (heap_end() + ROUND - 1) & -ROUND;

	if (line->start == CONTEXT_PLACE) /* what follows is there in some runs only */
		add_reserved(l, line->start, line->start + THREAD_BYTES, none_like(line->counters));
	else if (!is_memory(line))
		add_reserved(l, line->start, line->end, none_like(line->counters));
	else if (l->last.start != ENGINE_MEMORY)
		add_reserved(l, ENGINE_MEMORY, end, none_like(line->counters));
}

/* As region_as_mapped(), in the process whose list it is. */
static uint64_t as_mapped(const struct listing *l, uint64_t at, uint64_t end, bool *code,
			  bool *writable)
{
	*code = *writable = false;
	if (!l->other)
		return region_as_mapped(at, end, code, writable);
	for (unsigned i = 0; i < l->others; i++) {
		const struct region_of *r = &l->other[i];

		if (r->start <= at && at < r->end) {
			*code = true;
			*writable = r->writable;
			return r->end < end ? r->end : end;
		}
		if (r->start > at)
			return r->start < end ? r->start : end;
	}
	return end;
}

/* Adds a mapping in pieces, each with its rights. */
static void add_mapped(struct listing *l, const struct line *line, const char *end)
{
	struct smaps_counters rest = line->counters;
	uint64_t next;
	bool code, writable;

	for (uint64_t at = line->start; at < line->end && l->at < end; at = next) {
		struct line piece = *line;

		if (is_image(at)) { /* the heap may follow it */
			next = image_end();
			piece.counters = smaps_split(&rest, next - at);
			add_reserved(l, at, next, none_like(piece.counters));
			continue;
		}
		next = as_mapped(l, at, line->end, &code, &writable);
		piece.start = at;
		piece.end = next;
		piece.counters = smaps_split(&rest, next - at);
		if (is_file(line))
			piece.offset += at - line->start;
		if (code)
			piece.rights[2] = 'x';
		if (writable)
			piece.rights[1] = 'w';
		piece.changed = memcmp(piece.rights, line->rights, sizeof(piece.rights)) != 0;
		add(l, &piece);
	}
}

/* --- the file --- */

/* Reads all of the file and adds a NUL.  Returns false if it is too long. */
static bool read_all(int fd, char *text)
{
	uint64_t bytes = 0;
	long got;

	while ((got = syscall3(__NR_read, fd, (long)(text + bytes),
			       (long)(LIST_MOST - 1 - bytes))) > 0)
		bytes += (uint64_t)got;
	text[bytes] = 0;
	return !got && bytes < LIST_MOST - 1;
}

static bool write_all(int fd, const char *from, const char *to)
{
	long put;

	for (; from < to; from += put) {
		put = syscall3(__NR_write, fd, (long)from, to - from);
		if (is_error(put))
			return false;
	}
	return !is_error(syscall3(__NR_lseek, fd, 0, 0));
}

static void replace(int fd, const char *from, const char *to)
{
	bool closes = syscall2(__NR_fcntl, fd, F_GETFD) & FD_CLOEXEC;
	int copy;

	if (!file_may_have((uint64_t)(to - from)))
		return;
	copy = (int)syscall2(__NR_memfd_create, (long)"maps", MFD_CLOEXEC);
	if (copy < 0)
		return;
	if (write_all(copy, from, to))
		syscall3(__NR_dup3, copy, fd, closes ? O_CLOEXEC : 0);
	syscall1(__NR_close, copy);
}

static bool ends_with(const char *path, const char *end)
{
	size_t n = strlen(path), bytes = strlen(end);

	return n >= bytes && !memcmp(path + n - bytes, end, bytes);
}

/* Returns the process in "/proc/NUMBER/..."; 0: that is not such a name. */
static uint32_t process_of(const char *path)
{
	uint32_t pid = 0;

	if (memcmp(path, "/proc/", 6) != 0)
		return 0;
	for (path += 6; *path >= '0' && *path <= '9'; path++)
		pid = pid * 10 + (uint32_t)(*path - '0');
	return *path == '/' ? pid : 0;
}

/* Returns whether it is another process that can have opened events. */
static bool is_of_run(uint32_t pid)
{
	return pid && opened_wanted() && ask_find(pid) >= 0;
}

bool listing_is(const char *path)
{
	uint32_t pid = process_of(path);

	if (pid != current->pid)
		return ends_with(path, "/maps") && is_of_run(pid);
	return ends_with(path, "/maps") || ends_with(path, "/smaps") || ends_with(path, ROLLUP);
}

/* Makes the list from the kernel's text.  Returns false if it is too long. */
static bool make_list(struct listing *l, const char *text, const char *end)
{
	struct line line;

	while (l->at < end && *text && take_line(&text, &line))
		if (is_engines(&line))
			add_engines(l, &line);
		else
			add_mapped(l, &line, end);
	put_last(l);
	return l->at < end;
}

/* Replaces the list in `l` by its sums, written to `out` in the kernel's form. */
static bool make_rollup(struct listing *l, int fd, char *out, char *text)
{
	const char *at = text;
	struct line line;

	if (!read_all(fd, text) || !take_line(&at, &line))
		return false;
	smaps_sum(&line.counters, &l->sum, l->of_files, l->of_shared);
	l->at = out;
	l->last = line;
	put_last(l);
	return true;
}

/* Opens the list whose sums `path` shows; below 0: there is none. */
static int open_list_of(const char *path)
{
	char name[64];
	size_t n = strlen(path) - strlen("_rollup");

	if (n >= sizeof(name))
		return -1;
	memcpy(name, path, n);
	name[n] = 0;
	return (int)syscall4(__NR_openat, AT_FDCWD, (long)name, O_RDONLY | O_CLOEXEC, 0);
}

static void open_copy(int fd, const char *path, struct listing *l)
{
	char *text = heap_allocate(3 * LIST_MOST), *out = text + LIST_MOST,
	     *end = out + 2 * LIST_MOST - 2 * LINE_MOST;
	bool rollup = ends_with(path, ROLLUP);
	int list = rollup ? open_list_of(path) : fd;

	l->at = out;
	if (list >= 0 && read_all(list, text) && make_list(l, text, end) &&
	    (!rollup || make_rollup(l, fd, out, out + LIST_MOST)))
		replace(fd, out, l->at);
	if (rollup && list >= 0)
		syscall1(__NR_close, list);
	heap_release(text, 3 * LIST_MOST);
}

void listing_open(int fd, const char *path)
{
	uint32_t pid = process_of(path);
	struct listing l = {0};
	struct region_of *other;

	if (pid == current->pid) {
		open_copy(fd, path, &l);
		return;
	}
	other = heap_allocate(REGIONS_OF_MAX * sizeof(*other));
	l.other = other;
	l.others = regions_read(pid, other);
	if (l.others)
		open_copy(fd, path, &l);
	heap_release(other, REGIONS_OF_MAX * sizeof(*other));
}
