/* SPDX-License-Identifier: MIT */
/** clrie/config/report.h - report what is wrong with a file. For the files of this folder. */
#ifndef SXS_CLRIE_CONFIG_REPORT_H
#define SXS_CLRIE_CONFIG_REPORT_H

#include "clrie/config/config.h"

struct sxs_config;

/** clrie_report_problems - call @report for each problem of @problems, and free it.
 *  @problems: what config_load_as() returned. Returns 0 without an error, 1 with errors, -1 when
 *  @problems is NULL, that is, without memory. */
int clrie_report_problems(struct sxs_config *problems, clrie_config_report *report, void *arg);

#endif
