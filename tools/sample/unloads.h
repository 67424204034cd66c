/* SPDX-License-Identifier: MIT */
/**
 * unloads.h - when a runtime unloads assemblies, and must not be asked about addresses.
 *
 * A runtime destroys collectible assemblies in this order, on one thread (its finalizer thread):
 *   1. AssemblyUnloadStarted, once for each assembly of the batch;
 *   2. for each loader allocator of the batch: ModuleUnloadStarted, the modules' destruction,
 *      AssemblyUnloadFinished; then all threads are suspended (COR_PRF_SUSPEND_FOR_APPDOMAIN_SHUTDOWN),
 *      the allocator's code is taken out of the table of code, and the threads are resumed;
 *   3. the memory of the batch is freed.
 * From 2 on, GetFunctionFromIP still finds functions whose module is destroyed, and asking for the
 * metadata of such a module ends the process. So nothing is asked by address from the first
 * AssemblyUnloadStarted until the resumption that follows the last AssemblyUnloadFinished: the
 * runtime finds none of that code any more.
 */
#ifndef SXS_SAMPLER_UNLOADS_H
#define SXS_SAMPLER_UNLOADS_H

#include <stdint.h>

/** Of one runtime; zeroed: nothing is unloaded. The caller excludes concurrent use. */
struct sxs_unloads {
    uint32_t tid;          /* the thread that unloads; 0: none */
    uint32_t n_assemblies; /* announced and not destroyed yet */
};

/** On the thread that unloads: an assembly is announced; it is destroyed; all threads are resumed. */
void sxs_unloads_begin(struct sxs_unloads *unloads);
void sxs_unloads_destroyed(struct sxs_unloads *unloads);
void sxs_unloads_resumed(struct sxs_unloads *unloads);

/** 1: the runtime must not be asked about addresses. */
int sxs_unloads_under_way(const struct sxs_unloads *unloads);

#endif
