/* SPDX-License-Identifier: MIT */
#include "base/user.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/proc.h"

#define ALL_USERS UINT64_C(4294967295) /* (uid_t)-1 is no user */
#define OVERFLOW  65534u               /* the kernel's default */
#define INITIAL   0xeffffffdu          /* inode of the initial user namespace, in every kernel */

/* Returns how many users the map has. Each line is "FIRST FIRST-OUTSIDE COUNT". */
static uint64_t count_users(const char *map)
{
    uint64_t n = 0;
    while (*map) {
        uint64_t value = 0;
        for (int i = 0; i < 3; i++) {
            char *end;
            value = strtoull(map, &end, 10);
            if (end == map)
                return n;
            map = end;
        }
        n += value;
        while (*map == '\n' || *map == ' ')
            map++;
    }
    return n;
}

int sxs_user_is_known_in(uid_t uid, const char *map, uid_t overflow)
{
    return uid != overflow || !map || count_users(map) >= ALL_USERS;
}

static uid_t read_overflow(void)
{
    char    text[24], *end;
    ssize_t n = sxs_proc_read("/proc/sys/kernel/overflowuid", text, sizeof(text) - 1);
    if (n <= 0)
        return OVERFLOW;
    text[n] = '\0';
    unsigned long value = strtoul(text, &end, 10);
    return end == text ? OVERFLOW : (uid_t)value;
}

int sxs_user_is_known(uid_t uid)
{
    char map[8192]; /* the kernel permits 340 lines; those that are cut count as users outside */
    struct stat st;
    ssize_t     n;
    if (stat("/proc/self/ns/user", &st) == 0 && st.st_ino == INITIAL)
        return 1; /* every user is there, and no file needs to be opened */
    n = sxs_proc_read("/proc/self/uid_map", map, sizeof(map) - 1);
    if (n == -ENOENT && stat("/proc/self/stat", &st) == 0)
        return 1; /* this kernel has no user namespaces */
    map[n > 0 ? n : 0] = '\0';
    return sxs_user_is_known_in(uid, map, read_overflow());
}
