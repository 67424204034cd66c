/* SPDX-License-Identifier: MIT */
/**
 * keep_settings.h - the settings of continuous mode (docs/internals/keep.md): SXSPROF_KEEP,
 * SXSPROF_SEGMENT, SXSPROF_ON and SXSPROF_BUDGET, and the tools that segments are recorded with by these settings.
 * Used by the library and the command. Pure functions.
 */
#ifndef SXS_CONTROL_KEEP_KEEP_SETTINGS_H
#define SXS_CONTROL_KEEP_KEEP_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#define SXS_KEEP_WHY          320    /* bytes that are enough for a sentence */
#define SXS_KEEP_TOOLS        1024   /* bytes that are enough for the tools of a segment */
#define SXS_KEEP_TRIGGERS     8u     /* conditions in SXSPROF_ON */
#define SXS_KEEP_MAX_SEGMENTS 10000u /* segments of a ring */
#define SXS_KEEP_HZ           19u    /* rate of the tool sample, if none is given */
#define SXS_KEEP_WAIT_HZ      10u    /* of the tool wait */
#define SXS_KEEP_MAX_SCALE    1024u  /* rates are divided by at most this */

/* What each setting expects, for messages. */
#define SXS_KEEP_EXPECTED \
    "a time from 1s to 366d, and optionally the bytes on disk, from 4M, as 10m or 10m,256M"
#define SXS_SEGMENT_EXPECTED "a time from 1s to 1d, as 30s, 10m, 2h or 1d"
#define SXS_ON_EXPECTED                                                                        \
    "gc>TIME, cpu>NUMBER% or exception=TYPE, as gc>200ms, cpu>80% (100% is one processor) or " \
    "exception=System.TimeoutException"
#define SXS_BUDGET_EXPECTED "a percentage from 0.01% to 50%, as 1%"

enum sxs_trigger_kind {
    SXS_TRIGGER_GC,        /* a pause for a collection, longer than `limit` nanoseconds */
    SXS_TRIGGER_CPU,       /* the process used more than `limit` thousandths of a percent of one
                            * processor, over five seconds */
    SXS_TRIGGER_EXCEPTION, /* an exception whose type fits `type` is thrown */
};

/** A condition of SXSPROF_ON. */
struct sxs_trigger {
    enum sxs_trigger_kind kind;
    uint64_t              limit;
    char                  type[256]; /* wildcards * and ?; without a dot: any namespace */
    char                  text[272]; /* as it was given */
};

struct sxs_keep_settings {
    int      is_on;      /* 0: one session, as long as the program runs */
    uint64_t keep_ns;    /* how old segments may be; 0: nothing is deleted for its age */
    uint64_t keep_bytes; /* how much the segments may take on disk; 0: no limit */
    uint64_t every_ns;   /* how long a segment lasts at most */
    unsigned budget;     /* share of the CPU time for the profiler, in 0.001 %; 0: no limit */
    size_t   n_triggers;
    struct sxs_trigger triggers[SXS_KEEP_TRIGGERS];
};

/** The settings as texts. NULL or "": not given. */
struct sxs_keep_texts {
    const char *keep;   /* TIME[,BYTES] */
    const char *segment; /* TIME */
    const char *on;     /* CONDITION[;CONDITION]... */
    const char *budget; /* NUMBER% */
};

/**
 * sxs_keep_parse - read the settings, and fill in defaults: with `on`, keep=2m or two segments, if
 * these last longer; with keep, 1 GiB; segment=60s, but at most a fifth of keep, and at least one
 * second.
 * @why: receives a sentence that begins with the name of the wrong setting ("keep"), @size bytes.
 * Returns 0, or -1; then @out is off.
 */
int sxs_keep_parse(const struct sxs_keep_texts *texts, struct sxs_keep_settings *out, char *why,
                   size_t size);

/** sxs_keep_tools_check - tell whether @tools (as SXSPROF_TOOLS) can record segments. Returns 0, or -1
 *  with a sentence in @why: a tool cannot start in a runtime that runs already. */
int sxs_keep_tools_check(const char *tools, char *why, size_t size);

/**
 * sxs_keep_tools - write the tools of a segment to @out (SXS_KEEP_TOOLS bytes): @tools, as
 * SXSPROF_TOOLS, or the tool sample if it names none or is NULL. Rates that are not given are set to low ones.
 * The tools gc and exceptions are added if conditions need them.
 * @scale: all rates are divided by it, at least 1; intervals of the tools alloc and native are
 *   multiplied.
 * Returns 0, or -1 if there is not enough room.
 */
int sxs_keep_tools(const char *tools, const struct sxs_keep_settings *s, unsigned scale,
                   char out[SXS_KEEP_TOOLS]);

/** sxs_keep_can_scale - 1 if a tool of @tools, as above, has a rate that @scale changes. */
int sxs_keep_can_scale(const char *tools);

/** sxs_trigger_fits - 1 if @t is a condition for exceptions, and @type is one of its types. */
int sxs_trigger_fits(const struct sxs_trigger *t, const char *type);

#endif
