/* SPDX-License-Identifier: MIT */
/**
 * guest_option.h - check the guests of --guest, --adopt and SXSPROF_GUESTS: other profilers that run
 * inside the profiler library.
 */
#ifndef SXS_CMD_GUEST_OPTION_H
#define SXS_CMD_GUEST_OPTION_H

#include "guests/config/declaration.h"

#include <stdbool.h>
#include <stddef.h>

/** Where the first of several problems is written. */
struct sxs_first_problem {
    char  *why;
    size_t size; /* bytes */
    bool   any;  /* true: there was one */
};

/** sxs_first_problem_keep - write the problem @line if it is the first one. @arg: a struct sxs_first_problem.
 *  To be passed to functions that report problems one by one. */
void sxs_first_problem_keep(void *arg, const char *line);

/**
 * sxs_profiler_library_check - check that @path is a library for this machine that exports
 * DllGetClassObject. Runs no code of it. @of: what is expected, as "a profiler".
 * @why: receives what is wrong and what is expected; holds @size bytes. Returns 0 or -1.
 */
int sxs_profiler_library_check(const char *path, const char *of, char *why, size_t size);

/**
 * sxs_guest_check - check that the library of a guest is there and is a profiler for this machine,
 * that all data symbols that it needs are defined, and that its `pick` can be meant. Runs no code of
 * the library.
 * @why: receives what is wrong and what is expected; holds @size bytes.
 * Returns 0 or -1.
 */
int sxs_guest_check(const struct guest_declaration *declared, char *why, size_t size);

/** sxs_guests_check - check a value of SXSPROF_GUESTS, with the files that it names. Returns NULL,
 *  or the first thing that is wrong (static, or written to @why of @size bytes). */
const char *sxs_guests_check(const char *value, char *why, size_t size);

/**
 * sxs_guest_item - check the argument of --guest: CLSID=PATH[,OPTION]..., or the path of an XML file.
 * Returns it as an item of SXSPROF_GUESTS with absolute paths, owned; NULL after writing what is
 * wrong to @why of @size bytes.
 */
char *sxs_guest_item(const char *argument, char *why, size_t size);

/** sxs_guests_adopts - return true when the value of SXSPROF_GUESTS has the item `adopt`. */
bool sxs_guests_adopts(const char *value);

/**
 * sxs_guests_adopt - add the profilers that the environment names to a value of SXSPROF_GUESTS, and
 * the item `adopt`. A profiler that is there already is not added again. A profiler whose library
 * cannot be used is named on standard error and left out, as a runtime goes on without it.
 * @value: NULL or "": none so far. Returns an owned string, or NULL without memory.
 */
char *sxs_guests_adopt(const char *value);

#endif
