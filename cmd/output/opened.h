/* SPDX-License-Identifier: MIT */
/**
 * opened.h - a session that a command has opened: its processes, the segments that it consists of, the files of each
 * process, the data in them, and what is missing. A command opens a session once and passes it to all code that
 * reads it.
 *
 * Opening reads the census of each process and the headers of its files. The rest is read by
 * sxs_opened_read(), which goes once through the folders of the processes for several readers, so that a
 * file that several of them need is opened once. Not more than one folder and its files are open at a time.
 */
#ifndef SXS_CMD_OUTPUT_OPENED_H
#define SXS_CMD_OUTPUT_OPENED_H

#include "cmd/output/missing.h"
#include "cmd/output/processes.h"
#include "cmd/output/segments.h"
#include "session/read/session_files.h"

/** A folder of a process. */
struct sxs_opened_part {
    size_t
        process; /* index in session.processes; of those without a census n_processes + index in `unread` */
    size_t   number; /* of the folder among those of the process */
    uint32_t files;  /* which it has: bits of sxs_session_file_bit() */
    int      err;    /* why it could not be opened; errno value, 0: it was */
};

/** Which data the processes have, all together, as the headers of their files say. */
struct sxs_recorded {
    uint32_t files; /* as in struct sxs_opened_part */
    bool
        sampled; /* samples; also when a file of samples cannot be read: its reader reports the reason */
    bool     sampled_waiting; /* also of threads that wait */
    bool     has_contexts;    /* samples with the traces that they belong to */
    unsigned costs;           /* bit N: costs of the kind N (enum sxs_cost_kind) */
    unsigned live;            /* bit N: of costs of the kind N, the session has the ends: freed, or collected */
};

struct sxs_opened {
    const char         *dir;      /* borrowed */
    int                 fd;       /* owned; the folder `dir`; -1: none */
    struct sxs_session  session;  /* `parts` has numbers of its processes: they stay as they are */
    struct sxs_segments segments; /* those that it consists of; n 0: it is one session */
    struct sxs_opened_part
                       *parts; /* owned; those of one process follow each other, in order of time */
    size_t              n_parts, cap_parts;
    struct sxs_recorded recorded;
    uint64_t *missing; /* owned; by process, for each the counters of sxs_missing_counters() */
};

/**
 * sxs_opened_open - open the session in the folder @dir, or the segments in it that overlap @period as one.
 * @dir, @period: as for sxs_session_read_joined(); @dir must outlive @out.
 * @out: overwritten; call sxs_opened_close(), also after an error.
 * Returns 0, or an errno value when @dir cannot be opened.
 */
int sxs_opened_open(const char *dir, const struct sxs_period *period, struct sxs_opened *out);

/** sxs_opened_open_one - likewise, but the session in @dir only: segments are not looked for. */
int sxs_opened_open_one(const char *dir, struct sxs_opened *out);

/** sxs_opened_open_read - likewise; @session has been read from @dir, and is moved to @out. */
int sxs_opened_open_read(const char *dir, struct sxs_session *session, struct sxs_opened *out);

/** sxs_opened_close - release all; a zeroed @v is allowed. */
void sxs_opened_close(struct sxs_opened *v);

/** sxs_opened_has_file - return true when a process has a file of this kind, SXS_CALLS_FILE for example. */
bool sxs_opened_has_file(const struct sxs_opened *v, const char *name);

/** sxs_opened_missing - list what the session lacks, as sxs_missing_read(). @out: needs sxs_missing_free(), before @v
 *  is closed. */
void sxs_opened_missing(const struct sxs_opened *v, const char *process, struct sxs_missing *out);

/** A reader of files of the processes: a report, or the list of what is missing. */
struct sxs_opened_reader {
    sxs_process_take *take;
    void             *arg;   /* passed to @take */
    uint32_t          files; /* it is called for folders that have one of these; 0: for all */
    bool all; /* also for processes without a census, and for folders that cannot be opened:
                              * then part->fd is -1, and part->err says why */
    void (*end)(void *arg); /* called once after the last folder; NULL: not needed */
    int err;                /* out: what `take` returned, if not 0: then it was not called again */
};

/**
 * sxs_opened_read - go once through the folders of the requested processes, and call the readers for each folder.
 * @process: as for sxs_process_wanted(). A folder that cannot be opened is skipped, because
 * sxs_session_read() has reported it, or a ring has deleted it.
 * Returns the first error of a reader, or 0.
 */
int sxs_opened_read(const struct sxs_opened *v, const char *process,
                    struct sxs_opened_reader *readers, size_t n);

/** sxs_opened_take - the same with one reader of the files @files. */
int sxs_opened_take(const struct sxs_opened *v, const char *process, uint32_t files,
                    sxs_process_take *take, void *arg);

#endif
