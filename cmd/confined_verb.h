/* SPDX-License-Identifier: MIT */
/**
 * confined_verb.h - do the work of a verb that reads files of strangers in a child with limits.
 *
 * Sessions, packed sessions, symbol files and assemblies come from anybody. A mistake in the code
 * that reads them must not give their author the rights of the user who reads them. So a child does
 * the work: it cannot gain rights, has no capabilities but those for reading and writing files,
 * writes only where the verb writes, executes nothing, and has limits of memory and CPU time that
 * depend on the size of the input.
 */
#ifndef SXS_CMD_CONFINED_VERB_H
#define SXS_CMD_CONFINED_VERB_H

#include "cmd/child.h"
#include "cmd/confined/helper.h"

#include <stdbool.h>
#include <stddef.h>

struct sxs_symbol_path;

#define SXS_CONFINED_PATHS 4u

/** What the work needs. Strings are borrowed; entries that are NULL are left out. */
struct sxs_confined_verb {
    /* Sessions or files, whose sizes set the limits: the variables that have their paths. Where a path
     * leads through another process (/proc/PID/root/...), which the child may not look into, the
     * variable gets another path; sxs_shown() has the first one. */
    const char **reads[SXS_CONFINED_PATHS];
    /* The file that is written, by sxs_output_open() of the same path. It is opened before the child starts,
     * and gets its name when the child has completed it: the child cannot write to its folder. */
    const char *output;
    bool        is_private;                 /* others may not read it */
    const char *writes[SXS_CONFINED_PATHS]; /* folders in which files are written besides */
    bool        no_packs;                   /* reads no packed session: makes no temporary files */
    bool asks; /* looks into other processes: the child gets a helper (cmd/confined/helper.h) */
    sxs_helper_answer *answer; /* what it answers; NULL: only sxs_helper_stat() */
    void              *answer_arg;
    bool               network; /* connects to servers: of debug files, or those that get pushes */
    /* Names and lines of files are looked up, by workers (cmd/symbols/worker.h), also in these folders
     * of --symbols. */
    bool                    names;
    struct sxs_symbol_path *symbols;
    unsigned
        stuck_ms; /* it is ended when it reads, writes and computes nothing for so long; 0: never */
    const struct sxs_child_limit *limit; /* when it is given up else; NULL: never. Borrowed. */
    void (*lost)(
        void); /* called when it was given up or has crashed, before that is said; NULL: nothing */
    bool endless; /* goes on until it is ended: no limit of CPU time */
};

/**
 * sxs_confined_verb - call @work in such a child and wait for its end.
 * Signals that this process gets meanwhile are sent to the child.
 * Returns the exit status that @work returned. When a limit ended it, complains with one line and
 * returns SXS_EXIT_PROBLEM; when another signal did, this process ends by the same signal.
 * With SXSPROF_CONFINE=off, or in a process that is confined already, @work is called in this process. Where the child cannot be made, complains
 * and returns SXS_EXIT_FAILED.
 * For a process with one thread.
 */
int sxs_confined_verb(const struct sxs_confined_verb *needs, int (*work)(void *arg), void *arg);

#endif
