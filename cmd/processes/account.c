/* SPDX-License-Identifier: MIT */
#include "cmd/processes/account.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/nsfs.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/processes/identity.h"

enum { MAX_DEPTH = 33 };    /* of user namespaces; the kernel allows 32 */
#define MAX_FILE (4u << 20) /* bytes */

/* Returns the real user of a process: the owner of /proc/PID is root when it is not dumpable. */
static uid_t user_of(int dir)
{
    struct sxs_identity identity;
    return sxs_identity_read_users(dir, &identity) == 0 ? identity.uids[0] : (uid_t)-1;
}

static bool is_own(int ns, const struct stat *own)
{
    struct stat st;
    return fstat(ns, &st) == 0 && st.st_ino == own->st_ino && st.st_dev == own->st_dev;
}

/* Finds the owner of the outermost user namespace of the process below that of this command. Returns
 * false when it is in that of this command, or may not be looked at, or root has made it: for others. */
static bool owner_of(int dir, unsigned *uid)
{
    struct stat own;
    int         ns = openat(dir, "ns/user", O_RDONLY | O_CLOEXEC);
    bool        found = false;
    uid_t       owner;
    if (ns < 0 || stat("/proc/self/ns/user", &own) != 0) {
        if (ns >= 0)
            close(ns);
        return false;
    }
    for (int i = 0; i < MAX_DEPTH && ns >= 0 && !is_own(ns, &own); i++) {
        if (ioctl(ns, NS_GET_OWNER_UID, &owner) == 0) {
            *uid = owner;
            found = owner != 0;
        }
        int parent = ioctl(ns, NS_GET_PARENT);
        close(ns);
        ns = parent;
    }
    if (ns >= 0)
        close(ns);
    return found;
}

/* Returns the user ID of @name, a name or a number of @len bytes, or @otherwise. */
static unsigned id_of(const char *passwd, const char *name, size_t len, unsigned otherwise)
{
    if (isdigit((unsigned char)*name))
        return (unsigned)strtoul(name, NULL, 10);
    for (const char *at = passwd; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        if (strncmp(at, name, len) != 0 || at[len] != ':')
            continue;
        const char *id = strpbrk(at + len + 1, ":\n");
        if (id && *id == ':' && isdigit((unsigned char)id[1]))
            return (unsigned)strtoul(id + 1, NULL, 10);
    }
    return otherwise;
}

unsigned sxs_account_of_range(const char *subuid, const char *passwd, unsigned uid)
{
    for (const char *at = subuid; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        size_t len = strcspn(at, ":\n");
        char  *end;
        if (at[len] != ':' || !isdigit((unsigned char)at[len + 1]))
            continue;
        unsigned long first = strtoul(at + len + 1, &end, 10);
        if (*end != ':' || !isdigit((unsigned char)end[1]))
            continue;
        unsigned long count = strtoul(end + 1, NULL, 10);
        if (uid >= first && uid - first < count) {
            unsigned id = id_of(passwd, at, len, (unsigned)first);
            return id ? id : (unsigned)first;
        }
    }
    return uid;
}

unsigned sxs_account_of(int dir)
{
    static char *subuid, *passwd;
    static bool  read;
    unsigned     uid;
    if (!read) {
        subuid = sxs_proc_text(AT_FDCWD, "/etc/subuid", MAX_FILE, NULL);
        passwd = subuid ? sxs_proc_text(AT_FDCWD, "/etc/passwd", MAX_FILE, NULL) : NULL;
        read = true;
    }
    if (!owner_of(dir, &uid))
        uid = user_of(dir);
    return subuid ? sxs_account_of_range(subuid, passwd ? passwd : "", uid) : uid;
}

uint64_t *sxs_accounts_get(struct sxs_accounts *accounts, unsigned account)
{
    size_t n = accounts->n;
    for (size_t i = 0; i < n; i++)
        if (accounts->items[i].account == account)
            return &accounts->items[i].spent;
    if (n == sizeof(accounts->items) / sizeof(accounts->items[0]))
        return NULL;
    accounts->items[n].account = account;
    accounts->items[n].spent = 0;
    accounts->n++;
    return &accounts->items[n].spent;
}
