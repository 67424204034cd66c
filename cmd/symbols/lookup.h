/* SPDX-License-Identifier: MIT */
/** lookup.h - where the names and lines of addresses are looked up. */
#ifndef SXS_CMD_SYMBOLS_LOOKUP_H
#define SXS_CMD_SYMBOLS_LOOKUP_H

#include "cmd/symbols/names_table.h"
#include "cmd/symbols/symbol_path.h"

/** All members are borrowed and can be NULL. */
struct sxs_lookup {
    struct sxs_symbol_path *symbols; /* the folders of --symbols */
    const struct sxs_names *table;   /* names of a packed session. With a table, files are found by
                                      * build-id only, not by the paths in the session */
    struct sxs_names       *record;  /* receives the results of all lookups */
};

#endif
