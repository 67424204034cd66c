/* SPDX-License-Identifier: MIT */
/**
 * doctor.h - the doctor's examinations; each prints its section and counts its problems.
 */
#ifndef SXS_REPORT_DOCTOR_H
#define SXS_REPORT_DOCTOR_H

#include "cmd/finding.h"
#include "cmd/installed.h"
#include "cmd/library.h"

/** sxs_doctor_library - are the profiler library and the signal library there, and loadable? */
void sxs_doctor_library(struct sxs_findings *f, const struct sxs_library *lib);

/** sxs_doctor_variables - list the variables that matter and are set. */
void sxs_doctor_variables(void);

/** sxs_doctor_profiler - which profiler would a runtime load from this environment, and why? */
void sxs_doctor_profiler(struct sxs_findings *f, const struct sxs_library *lib);

/** sxs_doctor_preload - what LD_PRELOAD names. */
void sxs_doctor_preload(struct sxs_findings *f, const struct sxs_library *lib);

/** sxs_doctor_settings - the values of the SXSPROF_ variables. */
void sxs_doctor_settings(struct sxs_findings *f);

/**
 * sxs_doctor_command - can @argv (at least one element, NULL-terminated) be run and profiled?
 */
void sxs_doctor_command(struct sxs_findings *f, char **argv,
                        const struct sxs_installed_list *installed);

/**
 * sxs_doctor_elf - is @path a library that can be loaded here? @what: its name in messages.
 * Returns 0 when it is.
 */
int sxs_doctor_elf(struct sxs_findings *f, const char *what, const char *path);

#endif
