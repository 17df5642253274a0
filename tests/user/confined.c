/* SPDX-License-Identifier: MIT */
/*
 * confined.c FOLDER PROGRAM: lets Landlock forbid to execute files outside the folder, and executes
 * the program.  Ends with status 77 if the kernel has no Landlock.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct landlock_ruleset_attr rules = {.handled_access_fs = LANDLOCK_ACCESS_FS_EXECUTE};
	struct landlock_path_beneath_attr below = {.allowed_access = LANDLOCK_ACCESS_FS_EXECUTE};
	long ruleset = syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);

	if (ruleset < 0)
		return 77;
	if (argc != 3)
		return 2;
	below.parent_fd = open(argv[1], O_PATH | O_CLOEXEC);
	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &below, 0) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_landlock_restrict_self, ruleset, 0)) {
		perror("landlock");
		return 1;
	}
	execl(argv[2], argv[2], (char *)NULL);
	perror(argv[2]);
	return 3;
}
