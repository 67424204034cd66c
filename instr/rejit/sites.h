/* SPDX-License-Identifier: MIT */
/**
 * sites.h - the methods that rules apply to, in all runtimes: what is wanted of each, and its state.
 *
 * Any thread; a lock inside, under which no runtime is called. Not signal-safe.
 */
#ifndef SXS_REWRITE_SITES_H
#define SXS_REWRITE_SITES_H

#include "instr/config/config.h"
#include "manager/runtime.h"
#include "instr/weave/callouts.h"

#define SXS_SITE_RULES 64u /* of one method; more are left out */

/** A configuration in force; counted, for sites refer to its rules. */
struct sxs_plan {
    unsigned           refs;       /* under the lock of sites */
    uint32_t           generation; /* 1, 2, 3... */
    struct sxs_config *config;     /* owned */
};

/** Takes @config over. NULL: no memory, and it is freed. */
struct sxs_plan *sxs_plan_new(struct sxs_config *config, uint32_t generation);
struct sxs_plan *sxs_plan_ref(struct sxs_plan *plan);
void             sxs_plan_unref(struct sxs_plan *plan); /* NULL is fine */

/** A method to be asked for. */
struct sxs_site_key {
    sxs_module module;
    mdToken    token;
};

/** What a site is to become. */
struct sxs_site_work {
    const struct sxs_marker *marker; /* lives as long as the process */
    struct sxs_plan         *plan;   /* a reference of the caller's; NULL: nothing is wanted */
    const struct sxs_rule   *rules[SXS_SITE_RULES];
    size_t                   n_rules;
    uint64_t                 identity; /* of all of it */
};

/** sxs_sites_want - @rules of @plan are wanted of a method. Returns 1: the runtime must be asked; 0: they
 *  were, or there are as many sites as there may be, which is said once: the method stays as it is; -1: no memory. @assembly
 *  and @name: for the file. */
int sxs_sites_want(struct sxs_site_key key, const char *assembly, const char *name,
                   struct sxs_plan *plan, const struct sxs_rule *const *rules, size_t n);

/** sxs_sites_keep - what is wanted of a method stays, though the plan of @generation was not found to want it. Nothing
 *  happens when it is no site. */
void sxs_sites_keep(struct sxs_site_key key, uint32_t generation);

/** sxs_sites_outdated - the methods of @module of which the plan of
 *  @generation did not want anything: they are no longer wanted. Returns how many, at most @room; call again
 *  while it is @room. */
size_t sxs_sites_outdated(sxs_module module, uint32_t generation, struct sxs_site_key *out,
                          size_t room);

/** sxs_sites_work - of a method. Returns 1 with *work filled in, which sxs_site_work_done() ends, or 0: it is
 *  no site. */
int  sxs_sites_work(struct sxs_site_key key, struct sxs_site_work *work);
void sxs_site_work_done(struct sxs_site_work *work);

/** sxs_sites_woven - what became of @work; nothing is noted if something else is wanted by now. */
void sxs_sites_woven(struct sxs_site_key key, const struct sxs_site_work *work,
                     enum sxs_site_state state, HRESULT hr, const char *text);

/** sxs_sites_wanted - is anything wanted of it now? Cheap while there are no sites. */
int sxs_sites_wanted(struct sxs_site_key key);

/** What a runtime takes new IL for but once, when it compiles a method first: in collectible assemblies. */
enum sxs_site_once {
    SXS_ONCE_NOT,  /* it is no such method */
    SXS_ONCE_OPEN, /* not compiled yet */
    SXS_ONCE_DONE, /* it stays as it was compiled */
};

/** sxs_sites_once - it is one from now on. Returns what it was. */
enum sxs_site_once sxs_sites_once(struct sxs_site_key key);

/** sxs_sites_compiling - nonzero for its first compilation: now, or never. */
int sxs_sites_compiling(struct sxs_site_key key);

/** How many sites there may be, of all times: SXS_SITES_MAX. Tests set it, before there are any. */
extern uint32_t sxs_sites_limit;

/** sxs_sites_any - are there sites at all? Lock-free. */
int sxs_sites_any(void);

/** sxs_sites_state - it came to @state; recorded and, when it failed, said in the log. */
void sxs_sites_state(struct sxs_site_key key, enum sxs_site_state state, HRESULT hr,
                     const char *text);

/** sxs_sites_compiled - the runtime has finished compiling it, nonzero @first: for the first time; recorded once
 *  for new IL that is active. */
void sxs_sites_compiled(struct sxs_site_key key, int first);

/** sxs_sites_unloaded - the module is gone (id 0: all of the runtime's). Takes time for its own sites alone. When a module
 *  with a method of the same assembly, name and token is loaded into the same runtime later, the method gets the site
 *  back, with its number and its counts: modules that come and go take no more sites than there are at one time. */
void sxs_sites_unloaded(sxs_module module);

#endif
