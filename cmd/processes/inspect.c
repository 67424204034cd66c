/* SPDX-License-Identifier: MIT */
#include "cmd/processes/inspect.h"

#include "base/clock.h"
#include "cmd/output/table_hash.h"
#include "cmd/processes/account.h"
#include "cmd/processes/deadline.h"
#include "cmd/processes/inspector.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

/* ---- time ---- */

/* What files may cost on a machine whose processors are free, in microseconds: those of a process, of a user, and
 * all. */
#define PROCESS_US UINT64_C(2000000)
#define USER_US    UINT64_C(3000000)
#define ALL_US     UINT64_C(7000000)
/* A process that costs less is not counted as its user's: an honest machine may have many. */
#define FREE_US UINT64_C(20000)

static struct {
    uint64_t            all, process;
    ino_t               which; /* inode of /proc/PID: the process that is being examined */
    struct sxs_accounts users; /* in microseconds */
} spent;

static uint64_t *account_of(int dir)
{
    return sxs_accounts_get(&spent.users, sxs_account_of(dir));
}

/* Begins to count for a process. */
static void turn_to(int dir)
{
    struct stat st;
    ino_t       which = fstat(dir, &st) == 0 ? st.st_ino : 0;
    if (which != spent.which)
        spent.process = 0;
    spent.which = which;
}

void sxs_inspect_charge(int dir, uint64_t us)
{
    turn_to(dir);
    uint64_t before = spent.process < FREE_US ? FREE_US : spent.process;
    spent.all += us;
    spent.process += us;
    uint64_t *account = spent.process > FREE_US ? account_of(dir) : NULL;
    if (account)
        *account += spent.process - before;
}

bool sxs_inspect_may_go_on(int dir)
{
    turn_to(dir);
    if (spent.all >= sxs_deadline_stretch(ALL_US) ||
        spent.process >= sxs_deadline_stretch(PROCESS_US))
        return false;
    bool     heavy = false; /* has any user used up the time? */
    uint64_t most = sxs_deadline_stretch(USER_US);
    for (size_t i = 0; i < spent.users.n; i++)
        heavy |= spent.users.items[i].spent >= most;
    uint64_t *account = heavy ? account_of(dir) : NULL;
    return !account || *account < most;
}

static uint64_t now_us(void)
{
    return sxs_now_ns(CLOCK_MONOTONIC) / 1000;
}

/* ---- what has been examined ---- */

/* A file by the numbers that /proc/PID/maps shows, with its path, which is not 0; or by those of stat(),
 * with 0. A failure is known by those of stat() and the user, as if he were a path: a process can change
 * its mappings between two looks, and shall hide no file of another user by that. */
struct key {
    uint64_t dev, ino, path;
};

struct examined {
    struct key           key;
    bool                 used, with_version;
    int                  err;
    struct sxs_inspected found;
};

static struct examined *table;
static size_t           n_examined, room; /* room: a power of 2 */
static bool             has_failures;

/* Returns the entry of @key, or a free one. There is always room. */
static struct examined *slot_of(struct examined *in, size_t size, const struct key *key)
{
    size_t at = (size_t)sxs_table_hash(key, sizeof(*key), 17) & (size - 1);
    while (in[at].used && memcmp(&in[at].key, key, sizeof(*key)) != 0)
        at = (at + 1) & (size - 1);
    return &in[at];
}

static bool make_room(void)
{
    size_t           more = room ? 2 * room : 1024;
    struct examined *grown = n_examined < room / 2 ? table : calloc(more, sizeof(*grown));
    if (grown == table)
        return room != 0;
    if (!grown)
        return false;
    for (size_t i = 0; i < room; i++)
        if (table[i].used)
            *slot_of(grown, more, &table[i].key) = table[i];
    free(table);
    table = grown;
    room = more;
    return true;
}

/* Remembers a file, if there is memory; else it is examined again. */
static void remember(const struct key *key, bool version, int err,
                     const struct sxs_inspected *found)
{
    if (!make_room())
        return;
    struct examined *k = slot_of(table, room, key);
    n_examined += !k->used;
    *k = (struct examined){*key, true, version, err, *found};
}

static const struct examined *look_up(const struct key *key, bool version)
{
    const struct examined *k = room ? slot_of(table, room, key) : NULL;
    return k && k->used && (k->with_version || !version) ? k : NULL;
}

/* ---- files ---- */

/* Asks for the numbers of a file without asking its file system, which may not answer. Returns false when
 * this user may not. */
static bool key_of_stat(int dir, const struct sxs_mapped_file *f, struct key *out)
{
    char         name[64] = "exe";
    struct statx st;
    if (f)
        snprintf(name, sizeof(name), "map_files/%llx-%llx", (unsigned long long)f->start,
                 (unsigned long long)f->end);
    if (statx(dir, name, AT_STATX_DONT_SYNC, STATX_INO | STATX_TYPE, &st) != 0)
        return false;
    *out = (struct key){makedev(st.stx_dev_major, st.stx_dev_minor), st.stx_ino, 0};
    return true;
}

/* Makes the key of failures for the user of the process. */
static struct key key_of_failure(int dir, const struct key *file)
{
    return (struct key){file->dev, file->ino, (uint64_t)sxs_account_of(dir) << 1 | 1};
}

static int take_examined(const struct examined *k, struct sxs_inspected *out)
{
    *out = k->found;
    return k->err;
}

int sxs_inspect(int dir, const struct sxs_mapped_file *f, bool version, struct sxs_inspected *out)
{
    struct sxs_inspector_answer answer = {0};
    struct key                  mapped = {0}, file = {0};
    const struct examined      *k = NULL;
    if (f) {
        mapped = (struct key){makedev(f->major, f->minor), f->inode,
                              sxs_table_hash(f->path, strlen(f->path), 18) | 1};
        k = look_up(&mapped, version);
    }
    if (k)
        return take_examined(k, out);
    bool has_key = key_of_stat(dir, f, &file);
    k = has_key ? look_up(&file, version) : NULL;
    if (!k && has_key && has_failures) {
        struct key failure = key_of_failure(dir, &file);
        k = look_up(&failure, version);
    }
    if (k)
        return take_examined(k, out);
    memset(out, 0, sizeof(*out));
    if (!sxs_inspect_may_go_on(dir))
        return ETIMEDOUT;
    uint64_t began = now_us();
    int      err = sxs_inspector_ask(dir, f, version, &answer);
    sxs_inspect_charge(dir, now_us() - began);
    if (err == EAGAIN)
        return ETIMEDOUT; /* too many files have ended the children */
    if (!err)
        *out = answer.found;
    err = err ? err : answer.err;
    struct key found = {answer.dev, answer.ino, 0};
    if (!err && !answer.ino) {
        /* From the memory of the process, which can change it: nothing is said of the file. */
    } else if (!err) {
        remember(&found, version, 0, out);
        if (f && (!has_key || (found.dev == mapped.dev && found.ino == mapped.ino)))
            remember(&mapped, version, 0, out);
    } else if (has_key && (err == ETIMEDOUT || err == EBADMSG)) {
        struct key failure = key_of_failure(dir, &file);
        remember(&failure, version, err, out);
        has_failures = true;
    }
    return err;
}

void sxs_inspect_end(void)
{
    sxs_inspector_end();
}
