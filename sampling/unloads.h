/* SPDX-License-Identifier: MIT */
/**
 * sampling/unloads.h - tells when a runtime unloads assemblies. Until it has finished, no address may be
 * looked up in it.
 *
 * A runtime destroys collectible assemblies in this order, on one thread (its finalizer thread):
 *   1. AssemblyUnloadStarted, once for each assembly of the batch;
 *   2. for each loader allocator of the batch: ModuleUnloadStarted, destruction of the modules,
 *      AssemblyUnloadFinished; then all threads are suspended
 *      (COR_PRF_SUSPEND_FOR_APPDOMAIN_SHUTDOWN), the allocator's code is removed from the table of
 *      code, and the threads are resumed;
 *   3. the memory of the batch is freed.
 * From step 2 on, GetFunctionFromIP still finds functions of destroyed modules, and reading the
 * metadata of such a module ends the process. So no address is looked up from the first
 * AssemblyUnloadStarted until the resumption that follows the last AssemblyUnloadFinished. After
 * that, the runtime no longer finds that code. */
#ifndef SXS_SAMPLING_UNLOADS_H
#define SXS_SAMPLING_UNLOADS_H

#include <stdint.h>

/**
 * The state of one runtime; zeroed: no assembly is being unloaded. Not synchronized: callers
 * must exclude each other. */
struct sxs_unloads {
    uint32_t tid;          /* the unloading thread; 0: none */
    uint32_t n_assemblies; /* assemblies that are announced and not yet destroyed */
};

/**
 * sxs_unloads_begin, sxs_unloads_destroyed, sxs_unloads_resumed - note that an assembly's
 * unloading is announced, that an assembly is destroyed, or that all threads are resumed. On the
 * unloading thread. */
void sxs_unloads_begin(struct sxs_unloads *unloads);
void sxs_unloads_destroyed(struct sxs_unloads *unloads);
void sxs_unloads_resumed(struct sxs_unloads *unloads);

/** sxs_unloads_under_way - 1 if no address may be looked up in the runtime. */
int sxs_unloads_under_way(const struct sxs_unloads *unloads);

#endif
