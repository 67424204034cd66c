/* SPDX-License-Identifier: MIT */
/**
 * confined.h - run work on foreign data in a process that can do little: limits on memory, processor
 * time, time and files, no capabilities, no rights of root, and a filter of system calls.
 *
 * What the system refuses, such as a filter where the kernel has none, is left out: the work is done
 * with the protection that is left.
 */
#ifndef SXS_CMD_CONFINED_CONFINED_H
#define SXS_CMD_CONFINED_CONFINED_H

#include "cmd/confined/calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Keeps all capabilities. */
#define SXS_CONFINED_KEEP_ALL UINT64_MAX

/** What confines a process. 0 everywhere: no limits, but no capabilities either. */
struct sxs_confinement {
    /* Bytes of address space beyond what the process has; 0: no limit. This and the next one have no
     * effect in sanitized builds, which reserve address space without end. */
    uint64_t memory;
    /* Bytes of memory that it can write to; files that are mapped for reading do not count; 0: no
     * limit. */
    uint64_t data;
    uint64_t file_size;    /* bytes to which it may write files, which end it beyond; 0: no limit */
    unsigned cpu_s;        /* seconds of processor time, whole process; 0: no limit */
    unsigned wall_ms;      /* sxs_confined_run(): milliseconds until it is killed; 0: no limit */
    unsigned descriptors;  /* how many descriptors may be open; 0: no limit */
    uint64_t capabilities; /* bit set of CAP_... that stay, if it has them; 0: none */
    /* Root becomes the user "nobody" (65534), without groups; descriptors that are open stay. Without
     * effect for other users. */
    bool                    drop_root;
    enum sxs_confined_calls calls;
    /* For children: descriptors that the work needs, besides 0, 1, 2 and its output; all others are
     * closed. NULL: none is closed. Borrowed. */
    const int *keep;
    size_t     n_keep; /* of them, at most SXS_CONFINED_MAX_KEEP */
};

#define SXS_CONFINED_MAX_KEEP 16

/**
 * sxs_confine_self - confine the calling process for the rest of its life, and its children. It gets
 * no new rights by programs that it executes, and writes no core. One that drops root ends with its
 * parent; one with SXS_CONFINED_PARSE opens no file for writing (where the kernel has Landlock, which
 * would hide /proc/PID/map_files from SXS_CONFINED_LOOK).
 * Call it before threads are started: the filter holds for the calling thread and what it starts.
 * Never fails: see above. Returns true when the filter of system calls works (false also for
 * SXS_CONFINED_ANY).
 */
bool sxs_confine_self(const struct sxs_confinement *c);

/**
 * sxs_confined_keep_capabilities - keep of the calling thread's capabilities only those in @kept, a bit set
 * of CAP_...; all that it keeps are effective, and programs that it executes inherit none.
 * Returns 0 or an errno value.
 */
int sxs_confined_keep_capabilities(uint64_t kept);

/**
 * sxs_confined_run - call @work(@arg, @out_fd) in a confined child process and collect what it writes
 * to @out_fd. The child ends with this process.
 * @work: returns 0 or an errno value (below 256). It must not rely on threads of this process.
 * @out: receives the bytes, @size at most. @len: receives how many.
 * Returns 0, the result of @work, or: ETIMEDOUT when the child was ended by a limit of time, ENOMEM
 * also when it was ended by that of memory, EOVERFLOW when it wrote more than @size bytes, EFBIG when
 * it wrote too large a file, EBADMSG when it crashed, which its input has caused; or the errno value
 * of why it could not be started. @out and @len hold what came before a failure.
 * Returns at c->wall_ms and a tenth of a second at the latest, also when the child cannot be killed
 * (it hangs in the kernel): such a child is left behind, and ends when the kernel lets it go.
 */
int sxs_confined_run(const struct sxs_confinement *c, int (*work)(void *arg, int out_fd), void *arg,
                     void *out, size_t size, size_t *len);

/**
 * sxs_confined_start - start a confined child process that calls @work(@arg) and exits with its
 * result. It ends with this process, gets the signals' default actions, and closes the descriptors
 * that are not in c->keep.
 * Returns its PID, or -1 with errno.
 */
int sxs_confined_start(const struct sxs_confinement *c, int (*work)(void *arg), void *arg);

/**
 * sxs_confined_end - end a child of sxs_confined_start() by SIGKILL and wait for it, a tenth of a
 * second at most.
 */
void sxs_confined_end(int pid);

#endif
