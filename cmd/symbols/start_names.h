/* SPDX-License-Identifier: MIT */
/** start_names.h - workers for names and lines of files, for a process that may start none itself. */
#ifndef SXS_CMD_SYMBOLS_START_NAMES_H
#define SXS_CMD_SYMBOLS_START_NAMES_H

struct sxs_confinement;

/**
 * sxs_symbol_start_names - make the starter of workers (worker_process.h) that look up the names of native code,
 * and PDBs. Call it before the process is confined (cmd/confined/reader.h) and has read anything foreign.
 * @c: limits and capabilities of the workers.
 * @symbols: the struct sxs_symbol_path of --symbols with which names are looked up later; NULL: none. Borrowed.
 */
void sxs_symbol_start_names(const struct sxs_confinement *c, void *symbols);

#endif
