/* SPDX-License-Identifier: MIT */
/**
 * sampling/code.h - finds the names of sampled addresses in code of runtimes, outside of the
 * signal handler.
 *
 * Samples are read back from the file. An address that is in no ELF file and in no code looked
 * up before is looked up in its runtime, and a CODE record is written. Code that is about to be
 * unloaded is looked up before that and forgotten afterwards. */
#ifndef SXS_SAMPLING_CODE_H
#define SXS_SAMPLING_CODE_H

#include "manager/runtime.h"
#include "session/write/samples_write.h"

int sxs_code_init(struct sxs_samples_writer *w);

/**
 * sxs_code_started - note that @rt is sampled from now on. @rt is borrowed until
 * sxs_code_ended(). Returns 0 or -ENOMEM. Takes a lock, as all functions here do. */
int sxs_code_started(struct sxs_runtime *rt);

/**
 * sxs_code_catch_up - look up what was sampled since the last call. Must be called on a thread
 * that no runtime knows. Does nothing while a runtime unloads assemblies; the next call looks up
 * those samples. */
void sxs_code_catch_up(void);

/**
 * sxs_code_unloading - look up new samples of @rt and then forget code that is about to be
 * unloaded.
 * @function: FunctionID; 0: a module is unloaded, so all functions are forgotten.
 * Called in a callback of @rt. */
void sxs_code_unloading(struct sxs_runtime *rt, uint64_t function);

/**
 * sxs_code_assembly_unloading, sxs_code_assembly_unloaded, sxs_code_resumed - must be called on
 * the unloading thread, in the callbacks AssemblyUnloadStarted, AssemblyUnloadFinished and
 * RuntimeResumeFinished (@reason: of that suspension). In between, no address is looked up in
 * @rt, see sampling/unloads.h. */
void sxs_code_assembly_unloading(struct sxs_runtime *rt);
void sxs_code_assembly_unloaded(struct sxs_runtime *rt);
void sxs_code_resumed(struct sxs_runtime *rt, COR_PRF_SUSPEND_REASON reason);

/**
 * sxs_code_ended - look up new samples of @rt and then forget all its code and its compilations,
 * because it ends. */
void sxs_code_ended(struct sxs_runtime *rt);

/** sxs_code_end - free everything: the session ends. All runtimes have ended by sxs_code_ended(). */
void sxs_code_end(void);

/**
 * sxs_code_modules - write MODULE records for ELF files that were loaded or unloaded since the
 * last call. */
void sxs_code_modules(void);

/** sxs_code_exits - the same while the process exits. Gives up after 0.1 s if another thread holds the
 *  lock, because that thread may wait for ever for a runtime. */
void sxs_code_exits(void);

#endif
