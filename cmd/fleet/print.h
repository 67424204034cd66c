/* SPDX-License-Identifier: MIT */
/** print.h - answers of a fleet as text and JSON. One thread. */
#ifndef SXS_CMD_FLEET_PRINT_H
#define SXS_CMD_FLEET_PRINT_H

#include "cmd/fleet/functions.h"
#include "cmd/fleet/names.h"
#include "cmd/fleet/rows.h"

/** sxs_fleet_print_functions - write what `fleet top` found, or `fleet diff` when @other is set. */
void sxs_fleet_print_functions(FILE *to, bool json, const struct sxs_fleet_selection *s,
                               const struct sxs_fleet_selection *other,
                               const struct sxs_fleet_functions *of,
                               const struct sxs_fleet_names     *names);

/** sxs_fleet_print_series - write what `fleet series` found. @step: seconds; 0: one period. @by:
 * NULL:
 *  no groups. */
void sxs_fleet_print_series(FILE *to, bool json, const struct sxs_fleet_selection *s, int64_t step,
                            const char *by, const struct sxs_fleet_groups *g);

/** sxs_fleet_print_changes - write what `fleet diff --by` found: the groups of @a (before) and @b,
 * the
 *  largest change first. @top: how many in the text. */
void sxs_fleet_print_changes(FILE *to, bool json, const struct sxs_fleet_selection *a,
                             const struct sxs_fleet_selection *b, const char *by,
                             const struct sxs_fleet_groups *of_a,
                             const struct sxs_fleet_groups *of_b, size_t top);

#endif
