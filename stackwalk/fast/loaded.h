/* SPDX-License-Identifier: MIT */
/**
 * stackwalk/fast/loaded.h - ELF files that were loaded since the last sxs_tables_refresh().
 *
 * That function lists files on a thread of the library, some times a second. A file that is used
 * right after dlopen() is looked up here, in the signal handler, by the C library's
 * _dl_find_object() (base/find_object.h; before glibc 2.35, nothing is found here). Its
 * unwind information is read where it lies, by reads that fail when another thread unloads it. */
#ifndef SXS_STACKWALK_FAST_LOADED_H
#define SXS_STACKWALK_FAST_LOADED_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "stackwalk/fast/rule.h"

/** A file that a walk met. It may have been unloaded since. */
struct sxs_loaded {
    uintptr_t lo, hi; /* range of its executable segments, half-open */
    uintptr_t bias;
    uint64_t  time_ns; /* CLOCK_MONOTONIC, when a walk met it first */
    uint8_t   build_id[20];
    uint8_t   build_id_size; /* bytes; 0: the file has no build ID */
    char      path[4096];    /* the loader's name of the file, 0-terminated; never empty */
};

/**
 * sxs_loaded_rule - find the rule at @pc, an address in no listed file, and keep the file that
 * contains @pc for sxs_loaded_each().
 * @rule: receives the rule.
 * Returns 1, or 0 if no loaded file describes the address. Signal-safe; some microseconds. */
SXS_SIGSAFE int sxs_loaded_rule(uintptr_t pc, struct sxs_unwind_rule *rule);

/**
 * sxs_loaded_each - call @on for each file that walks have met since the last call, and forget it.
 * A file can be given several times. Files for which there was no room are not given: there are
 * places for 32 files. One thread at a time. */
void sxs_loaded_each(void (*on)(const struct sxs_loaded *file, void *user), void *user);

#endif
