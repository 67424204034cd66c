/* SPDX-License-Identifier: MIT */
/**
 * stackwalk/snapshot/compare.h - compares the frames that runtimes report of a stopped stack
 * with the frames that the fast walk finds on it.
 *
 * Pure: the owners of the frames were determined before. All lists are youngest first, with
 * increasing SPs. */
#ifndef SXS_STACKWALK_SNAPSHOT_COMPARE_H
#define SXS_STACKWALK_SNAPSHOT_COMPARE_H

#include <stddef.h>
#include <stdint.h>

#include "session/format/samples.h"

/** A frame that was reported by a runtime or found by the walk. */
struct sxs_account {
    uintptr_t sp, ip;
    uint64_t  function;    /* FunctionID; 0: native code, or code without metadata */
    uint16_t  runtime;     /* number of the runtime that owns the code; 0: native */
    uint8_t   is_dispatch; /* walked frames only: the runtime's own exception handling */
    uint8_t   is_module;   /* walked frames only: code of an ELF file */
    /* walked frames only: number of the runtime whose libcoreclr.so contains the code; 0: none */
    uint32_t  module_of;
};

struct sxs_walk_comparison {
    enum sxs_compared kind; /* ALIKE, LACKING, EXCESS or OTHER */
    unsigned n_frames, n_no_metadata, n_funclets, n_unwound, n_dispatch, n_pinvokes, n_entering;
};

/**
 * sxs_compare_is_at - whether @reported and @walked are the same frame by IP and SP.
 * Functions are not compared: if the IP is the same, the function that the runtime reports is
 * right. The IP of a frame that was interrupted by a fault is walked as IP + 1, like a return
 * address. */
int sxs_compare_is_at(const struct sxs_account *reported, const struct sxs_account *walked);

/**
 * sxs_compare - compare the frames @walked with the frames @reported.
 * @reported: the frames with a function, of all runtimes. @walked: all frames.
 * @is_whole: 1: the walk reached the bottom of the stack. 0: frames older than the last walked
 *   frame are not compared.
 * @out: receives the merged frames, each with its verdict; room for @n_reported + @n_walked
 *   elements.
 * @n_out: receives the number of frames in @out. */
struct sxs_walk_comparison sxs_compare(const struct sxs_account *reported, size_t n_reported,
                                       const struct sxs_account *walked, size_t n_walked,
                                       int is_whole, struct sxs_compared_frame *out, size_t *n_out);

/**
 * sxs_compare_ips - the IPs of the stack to record: all frames but those with the verdict
 * SXS_VERDICT_EXCESS.
 * @from: the SP of the youngest frame to record. Younger frames belong to the suspension.
 * Writes at most @cap IPs, youngest first. Returns their number. */
size_t sxs_compare_ips(const struct sxs_compared_frame *frames, size_t n, uintptr_t from,
                       uint64_t *ips, size_t cap);

#endif
