/* SPDX-License-Identifier: MIT */
/** select.h - does the user want to see this function? One thread at a time. */
#ifndef SXS_CALLS_SELECT_H
#define SXS_CALLS_SELECT_H

#include "manager/runtime.h"
#include "symbols/names.h"

struct sxs_selection {
    char    name[4096]; /* Namespace.Type.Method(Param) */
    char    file[1024]; /* path of its assembly */
    mdToken token;
    int     with_values; /* 1: arguments and results are wanted */
    ModuleID module;
    ClassID cls; /* 0: not told */
};

/** What is known of a module. */
struct sxs_selected_module {
    const struct sxs_runtime *rt; /* compared only */
    ModuleID                  id;
    int                       wanted;  /* some function of it may be */
    int                       named;   /* and a pattern says so */
    int                       is_core; /* System.Private.CoreLib */
    char                      assembly[128];
    char                      path[1024];
};

/** Reads SXSPROF_CALLS, SXSPROF_VALUES and SXSPROF_CALLS_NOT (patterns, ';' between); one line for each that is none.
 *  Returns 0 or -ENOMEM. */
int sxs_select_init(void);

/** 1: SXSPROF_VALUES names functions. */
int sxs_select_values(void);

/** 1: @fn is to be hooked, and @out is filled. Asks the runtime: in a callback of it. */
int sxs_select(struct sxs_namer *namer, sxs_function fn, struct sxs_selection *out);

/** What is known of @id, when a pattern names some of it; else NULL. In a callback of its runtime;
 *  good until the next call of anything here. */
const struct sxs_selected_module *sxs_select_module(sxs_module id);

/** 1: its method @name (Namespace.Type.Method) is to be seen; some of its type @name may be. The first counts for the patterns that name it. */
int sxs_select_method(const struct sxs_selected_module *m, const char *name);
int sxs_select_type(const struct sxs_selected_module *m, const char *name);

/** Forgets modules of @rt: their IDs may come again. */
void sxs_select_forget(const struct sxs_runtime *rt);

#endif
