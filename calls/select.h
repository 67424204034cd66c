/* SPDX-License-Identifier: MIT */
/** select.h - does the user want to see this function? One thread at a time. */
#ifndef SXS_CALLS_SELECT_H
#define SXS_CALLS_SELECT_H

#include "manager/runtime.h"
#include "stackwalk/names.h"

struct sxs_selection {
    char    name[4096]; /* Namespace.Type.Method(Param) */
    char    file[1024]; /* path of its assembly */
    mdToken token;
    int     with_values; /* 1: arguments and results are wanted */
};

/** Reads SXSPROF_CALLS, SXSPROF_VALUES and SXSPROF_CALLS_NOT (patterns, ';' between); one line for each that is none.
 *  Returns 0 or -ENOMEM. */
int sxs_select_init(void);

/** 1: SXSPROF_VALUES names functions. */
int sxs_select_values(void);

/** 1: @fn is to be hooked, and @out is filled. Asks the runtime: in a callback of it. */
int sxs_select(struct sxs_namer *namer, sxs_function fn, struct sxs_selection *out);

/** Forgets modules of @rt: their IDs may come again. */
void sxs_select_forget(const struct sxs_runtime *rt);

#endif
