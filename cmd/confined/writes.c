/* SPDX-License-Identifier: MIT */
#include "cmd/confined/writes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Rights that came later than the first version of Landlock, and that old headers lack. */
#define RIGHT_REFER    (UINT64_C(1) << 13) /* version 2 */
#define RIGHT_TRUNCATE (UINT64_C(1) << 14) /* version 3 */

#define FILE_RIGHTS (LANDLOCK_ACCESS_FS_WRITE_FILE | RIGHT_TRUNCATE)
#define FOLDER_RIGHTS                                                               \
    (FILE_RIGHTS | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | \
     LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | RIGHT_REFER)
#define ALL_RIGHTS                                                                                 \
    (FOLDER_RIGHTS | LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR |                   \
     LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | \
     LANDLOCK_ACCESS_FS_MAKE_SYM)

/* Returns the rights of ALL_RIGHTS that this kernel knows; 0: it has no Landlock. */
static uint64_t known_rights(void)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1)
        return 0;
    return ALL_RIGHTS & ~(version < 2 ? RIGHT_REFER : 0) & ~(version < 3 ? RIGHT_TRUNCATE : 0);
}

/* Permits to write to @path and below. A path that does not exist needs no rule. */
static int permit(int rules, const char *path, uint64_t known)
{
    struct stat st;
    int         fd = open(path, O_PATH | O_CLOEXEC), err = 0;
    if (fd < 0)
        return 0;
    if (fstat(fd, &st) != 0) {
        err = errno;
    } else {
        const struct landlock_path_beneath_attr rule = {
            .allowed_access = known & (S_ISDIR(st.st_mode) ? FOLDER_RIGHTS : FILE_RIGHTS),
            .parent_fd = fd,
        };
        if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
            err = errno;
    }
    close(fd);
    return err;
}

int sxs_confine_writes(const char *const *below, size_t n)
{
    static const char *const           devices[] = {"/dev/null", "/dev/tty"};
    const struct landlock_ruleset_attr attr = {.handled_access_fs = known_rights()};
    int                                err = 0;
    if (!attr.handled_access_fs)
        return EOPNOTSUPP;
    int rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
    if (rules < 0)
        return errno;
    for (size_t i = 0; !err && i < sizeof(devices) / sizeof(devices[0]); i++)
        err = permit(rules, devices[i], attr.handled_access_fs);
    for (size_t i = 0; !err && i < n; i++)
        err = permit(rules, below[i], attr.handled_access_fs);
    if (!err && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
                 syscall(SYS_landlock_restrict_self, rules, 0) != 0))
        err = errno;
    close(rules);
    return err;
}
