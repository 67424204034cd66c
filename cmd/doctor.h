/* SPDX-License-Identifier: MIT */
/**
 * doctor.h - the examinations of "sxsprof doctor". Each prints a section of text and counts the
 * problems it found in struct sxs_findings.
 */
#ifndef SXS_CMD_DOCTOR_H
#define SXS_CMD_DOCTOR_H

#include "cmd/finding.h"
#include "cmd/installed.h"
#include "cmd/library.h"

#include <sys/types.h>

/**
 * sxs_doctor_library - check that the profiler library and the signal library exist and can be
 * loaded.
 */
void sxs_doctor_library(struct sxs_findings *f, const struct sxs_library *lib);

/** sxs_doctor_variables - list the environment variables that are set and matter to profiling. */
void sxs_doctor_variables(void);

/** sxs_doctor_profiler - report which profiler a runtime would load from here, and why. */
void sxs_doctor_profiler(struct sxs_findings *f, const struct sxs_library *lib);

/** sxs_doctor_preload - examine the libraries that LD_PRELOAD names. */
void sxs_doctor_preload(struct sxs_findings *f, const struct sxs_library *lib);

/** sxs_doctor_settings - check the values of the SXSPROF_ variables. */
void sxs_doctor_settings(struct sxs_findings *f);

/** sxs_doctor_guests - examine the guests that SXSPROF_GUESTS declares: whether each library can be
 *  loaded, for which it is loaded in a child process, and has its class. */
void sxs_doctor_guests(struct sxs_findings *f, const struct sxs_library *lib);

/** sxs_doctor_methods - examine the plug-ins of CLRIE that SXSPROF_METHODS and CLRIE's variables name. */
void sxs_doctor_methods(struct sxs_findings *f);

/** sxs_doctor_system - examine what the kernel and control groups allow. */
void sxs_doctor_system(struct sxs_findings *f);

/** sxs_doctor_limits - say what tools do not see. */
void sxs_doctor_limits(void);

/**
 * sxs_doctor_command - examine whether a command can be run and profiled.
 * @argv: at least one element, NULL-terminated. @installed: the runtimes of this machine.
 */
void sxs_doctor_command(struct sxs_findings *f, char **argv,
                        const struct sxs_installed_list *installed);

/** sxs_doctor_process - examine what can be recorded in process @pid, which runs already. */
void sxs_doctor_process(struct sxs_findings *f, const struct sxs_library *lib, pid_t pid);

/**
 * sxs_doctor_elf - check that @path is a library that can be loaded on this machine.
 * @what: the name of the library in messages.
 * Returns 0 when it can be loaded, else -1.
 */
int sxs_doctor_elf(struct sxs_findings *f, const char *what, const char *path);

#endif
