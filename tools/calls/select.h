/* SPDX-License-Identifier: MIT */
/** select.h - matches functions with the user's patterns. One thread at a time may call this file's
 *  functions. */
#ifndef SXS_TOOLS_CALLS_SELECT_H
#define SXS_TOOLS_CALLS_SELECT_H

#include "manager/runtime.h"
#include "symbols/names.h"

/** A function that is to be hooked. */
struct sxs_selection {
    char    name[4096]; /* Namespace.Type.Method(Param) */
    char    file[1024]; /* path of its assembly */
    mdToken token;
    int     with_values; /* 1: record arguments and results */
    ModuleID module;
    ClassID cls; /* 0: the runtime did not report the class */
    int      dispatches; /* 1: the runtime's dispatcher of tail calls: hooked, but not counted */
};

/** A module, and which patterns apply to it. */
struct sxs_selected_module {
    const struct sxs_runtime *rt; /* borrowed */
    ModuleID                  id;
    int                       wanted;  /* 1: functions of this module may be selected */
    int                       named;   /* 1: wanted, and SXSPROF_CALLS has patterns */
    int                       is_core; /* 1: System.Private.CoreLib */
    mdToken                   dispatcher;    /* of tail calls; 0: not in this module */
    char                      assembly[128]; /* file name without .dll or .exe */
    char                      path[1024];
};

/** sxs_select_init - read the patterns, separated by ';', of SXSPROF_CALLS, SXSPROF_VALUES and
 *  SXSPROF_CALLS_NOT. Logs one line for each invalid pattern and ignores the pattern.
 *  Returns 0 or -ENOMEM. */
int sxs_select_init(void);

/** sxs_select_values - return 1 if SXSPROF_VALUES has patterns, else 0. */
int sxs_select_values(void);

/** sxs_select - return 1 and fill @out if @fn is to be hooked, else return 0. Asks the runtime:
 *  call in a callback of the runtime of @fn. */
int sxs_select(struct sxs_namer *namer, sxs_function fn, struct sxs_selection *out);

/** sxs_select_module - return the description of @id if SXSPROF_CALLS has patterns and @id may have
 *  functions that match, else NULL. Call in a callback of its runtime. The result is valid until
 *  the next call of any function of this file. */
const struct sxs_selected_module *sxs_select_module(sxs_module id);

/** sxs_select_method - return 1 if the method @name (Namespace.Type.Method) of @m matches
 *  SXSPROF_CALLS and not SXSPROF_CALLS_NOT, else 0. Counts the match in the notes of the
 *  patterns. */
int sxs_select_method(const struct sxs_selected_module *m, const char *name);

/** sxs_select_type - return 1 if methods of the type @name of @m may match SXSPROF_CALLS, else
 *  0. */
int sxs_select_type(const struct sxs_selected_module *m, const char *name);

/** sxs_select_forget - forget the modules of @rt, because @rt may reuse their ModuleIDs. */
void sxs_select_forget(const struct sxs_runtime *rt);

#endif
