/* SPDX-License-Identifier: MIT */
/**
 * compare.h - two accounts of one stopped stack: what the runtimes report, and what was walked.
 *
 * Pure: who a frame belongs to has been asked before. All lists are youngest first, their SPs rise.
 */
#ifndef SXS_SAMPLER_COMPARE_H
#define SXS_SAMPLER_COMPARE_H

#include <stddef.h>
#include <stdint.h>

#include "session/format/samples.h"

/** A frame of either account. */
struct sxs_account {
    uintptr_t sp, ip;
    uint64_t  function;    /* FunctionID; 0: native code, or code without metadata */
    uint16_t  runtime;     /* number of the runtime whose code it is; 0: native */
    uint8_t   is_dispatch; /* walked only: the runtime's own code that handles exceptions */
    uint8_t   is_module;   /* walked only: code of an ELF file */
    uint32_t  module_of; /* walked only: number of the runtime whose libcoreclr it is, 0: none's */
};

struct sxs_comparison {
    enum sxs_compared kind; /* ALIKE, LACKING, EXCESS or OTHER */
    unsigned n_frames, n_no_metadata, n_funclets, n_unwound, n_dispatch, n_pinvokes, n_entering;
};

/**
 * sxs_compare_is_at - is @reported what @walked stands for? By its IP, whosever that is: then the
 * runtime's word counts. A fault's IP is walked as one more, like a return address.
 */
int sxs_compare_is_at(const struct sxs_account *reported, const struct sxs_account *walked);

/**
 * sxs_compare - hold @walked against @reported.
 * @reported: frames with a function, of all runtimes; @walked: all frames.
 * @is_whole: @walked goes to the bottom; else nothing older than its last frame is compared.
 * @out: receives both in one, each with its verdict; room for @n_reported + @n_walked.
 * @n_out: receives how many.
 */
struct sxs_comparison sxs_compare(const struct sxs_account *reported, size_t n_reported,
                                  const struct sxs_account *walked, size_t n_walked, int is_whole,
                                  struct sxs_compared_frame *out, size_t *n_out);

/**
 * sxs_compare_ips - the stack to record: reported frames, and walked ones but those in excess.
 * @from: the SP of the first to record (what is younger is the suspension's own work).
 * Writes at most @cap IPs, youngest first; returns how many.
 */
size_t sxs_compare_ips(const struct sxs_compared_frame *frames, size_t n, uintptr_t from,
                       uint64_t *ips, size_t cap);

#endif
