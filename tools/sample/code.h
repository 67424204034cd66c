/* SPDX-License-Identifier: MIT */
/**
 * code.h - names for sampled addresses in runtimes' code, found outside the handler.
 *
 * Addresses come in as samples are read back; those in no native module and in no code known so far
 * are looked up in their runtime, and a CODE record is written. What is unloaded is looked up before
 * it goes and forgotten after.
 */
#ifndef SXS_SAMPLER_CODE_H
#define SXS_SAMPLER_CODE_H

#include "manager/runtime.h"
#include "session/write/samples_write.h"

int sxs_code_init(struct sxs_samples_writer *w);

/** sxs_code_started - @rt is sampled from now on. Borrowed until sxs_code_ended(). 0 or -ENOMEM.
 *  Takes a lock, as all functions here do. */
int sxs_code_started(struct sxs_runtime *rt);

/** sxs_code_catch_up - look at what was sampled since the last call. On a thread no runtime knows.
 *  Does nothing while a runtime unloads assemblies: the next call looks at it. */
void sxs_code_catch_up(void);

/** sxs_code_unloading - the code of @rt is about to lose @function (FunctionID; 0: a module's, any
 *  may be): catch up, then forget what is known of it. In a callback of @rt. */
void sxs_code_unloading(struct sxs_runtime *rt, uint64_t function);

/**
 * The three callbacks that tell when @rt unloads assemblies, on the thread that does it:
 * AssemblyUnloadStarted, AssemblyUnloadFinished and RuntimeResumeFinished (with the reason of that
 * suspension). In between, @rt is not asked about any address: see unloads.h.
 */
void sxs_code_assembly_unloading(struct sxs_runtime *rt);
void sxs_code_assembly_unloaded(struct sxs_runtime *rt);
void sxs_code_resumed(struct sxs_runtime *rt, COR_PRF_SUSPEND_REASON reason);

/** sxs_code_ended - @rt ends: the same for all of its code, and for what it told of its compilations. */
void sxs_code_ended(struct sxs_runtime *rt);

/** Writes MODULE records for ELF files that came or went since the last call. */
void sxs_code_modules(void);

#endif
