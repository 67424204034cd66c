/* SPDX-License-Identifier: MIT */
/** copy.h - copy and remove folders by descriptors, without following links. One thread at a time; not
 *  signal-safe. */
#ifndef SXS_CMD_PROCESSES_COPY_H
#define SXS_CMD_PROCESSES_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * sxs_copy_file - copy the bytes of @from to @to, both open regular files; holes stay holes.
 * For files that this user trusts: there is no limit. Returns 0 or an errno value.
 */
int sxs_copy_file(int from, int to);

/** What a copy may do. Zeroed: no limits besides those of sxs_copy_session(). */
struct sxs_copy_rules {
    bool     has_owner; /* every file and folder must belong to `owner`; others are left out */
    uid_t    owner;
    uint64_t max_bytes;   /* of data, without holes; 0: half of what is free where the copy goes */
    uint64_t deadline_ns; /* CLOCK_MONOTONIC; 0: none */
    /* Called often while it copies, with the bytes copied so far; false ends the copy with EINTR.
     * NULL: it is not called. */
    bool (*go_on)(void *arg, uint64_t bytes);
    void *arg; /* borrowed */
};

/** What a copy did. */
struct sxs_copy_result {
    uint64_t bytes; /* of data */
    size_t   n_files;
    size_t   n_skipped;    /* files and folders that were left out */
    char     skipped[320]; /* "NAME: why" of the first of them; NAME is untrusted text */
};

/**
 * sxs_copy_session - copy the parts of a session from the folder @from into the folder @to.
 * Copied are regular files with the names of session_files.h, of no more than the size that is given
 * there, and folders with the names of processes and segments, at most 4 deep. Everything else, such
 * as links, pipes, devices and files of other names, is left out and counted; the names of files that
 * are just being made or removed are left out and not counted. Only regular files are opened, and holes
 * are neither read nor written. Folders get the mode 0700, files 0600. A file that exists in @to is an
 * error.
 * @rules: NULL: zeroed rules. @result: overwritten, also after a failure; may be NULL.
 * Returns 0 or the errno value of the first failure, after which the other files are copied still;
 * but a limit ends the copy at once: EFBIG (max_bytes, or too many names), ETIMEDOUT, EINTR. EPERM:
 * @from belongs to another user than rules->owner.
 */
int sxs_copy_session(int from, int to, const struct sxs_copy_rules *rules,
                     struct sxs_copy_result *result);

#endif
