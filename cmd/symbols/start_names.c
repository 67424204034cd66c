/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/start_names.h"

#include "cmd/symbols/elf_names.h"
#include "cmd/symbols/pdb_search.h"
#include "cmd/symbols/worker_process.h"

void sxs_symbol_start_names(const struct sxs_confinement *c, void *symbols)
{
    const struct sxs_symbol_job jobs[] = {{sxs_elf_names_answer, symbols},
                                          {sxs_pdb_search_answer, symbols}};
    sxs_symbol_starter(c, jobs, sizeof(jobs) / sizeof(*jobs));
}
