/* SPDX-License-Identifier: MIT */
/**
 * identity.h - the identity of a process: its program, its start time, and its rights.
 *
 * A process can execute another program, a set-user-ID one too, between two looks at it. Facts about
 * a process are used only if its identity was the same before and after they were read, and this command acts
 * for a process only with the rights that its identity names (inside.h).
 */
#ifndef SXS_CMD_PROCESSES_IDENTITY_H
#define SXS_CMD_PROCESSES_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sxs_identity {
    uint64_t start_ticks;      /* since boot: tells processes with the same PID apart */
    uid_t    uids[4];          /* real, effective, saved, of the file system */
    gid_t    gids[4];          /* the same */
    uint64_t capabilities;     /* permitted, in the user namespace of the process; a bit each */
    uint64_t exe_dev, exe_ino; /* of the program; both 0: this user may not know */
    bool     guarded;          /* its own user may not look into it: see sxs_identity_problem() */
};

/**
 * sxs_proc_text - read a file of /proc/PID.
 * @dir: descriptor of /proc/PID. @most: bytes that are read at most.
 * @len: receives the number of bytes; NULL: not needed. May be 0.
 * Returns the text with a zero after it, owned; or NULL with errno: EACCES, ESRCH when the process
 * has ended, ENOMEM, EFBIG when the file is longer.
 */
char *sxs_proc_text(int dir, const char *name, size_t most, size_t *len);

/** sxs_status_value - return the value after "NAME:" in @text, that of /proc/PID/status, or NULL.
 *  Borrowed from @text. Pure. */
const char *sxs_status_value(const char *text, const char *name);

/** sxs_identity_of_status - fill the user, group and capabilities of @out from the text of
 *  /proc/PID/status. Returns 0 or EPROTO. Pure. */
int sxs_identity_of_status(const char *text, struct sxs_identity *out);

/** sxs_identity_read_users - read users, groups and capabilities only. As sxs_identity_read(). */
int sxs_identity_read_users(int dir, struct sxs_identity *out);

/** sxs_identity_read - read the identity of the process @dir (descriptor of /proc/PID). Asks no file
 *  system. Returns 0 or an errno value: ESRCH when the process has ended. */
int sxs_identity_read(int dir, struct sxs_identity *out);

/** sxs_identity_is_same - return true when both are the same program with the same user, started at the
 *  same time. Capabilities are not compared: a process may give them up. Pure. */
bool sxs_identity_is_same(const struct sxs_identity *a, const struct sxs_identity *b);

/** sxs_identity_problem - return why nobody should act for the process as its user, as a part of a
 *  sentence; NULL: nothing speaks against it. Static. Pure. */
const char *sxs_identity_problem(const struct sxs_identity *identity);

/** sxs_identity_is_mixed - return true when the four user IDs, or the four group IDs, differ. Pure. */
bool sxs_identity_is_mixed(const struct sxs_identity *identity);

#endif
