/* SPDX-License-Identifier: MIT */
#include "tools/calls/select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/log.h"
#include "base/session_state.h"
#include "base/text/utf8.h"
#include "manager/module_info.h"
#include "tools/calls/not_instrumented.h"
#include "tools/options/calls_options.h"
#include "values/formatter.h"

struct patterns {
    struct sxs_calls_pattern *all;
    struct sxs_calls_note   **notes; /* one for each pattern, for the report; NULL: none */
    size_t                    n;
};

/* SXSPROF_CALLS, SXSPROF_CALLS_NOT, SXSPROF_VALUES */
static struct patterns             shown, hidden, valued;
SXS_SESSION_KEEPS(valued);
SXS_SESSION_KEEPS(shown);
SXS_SESSION_KEEPS(hidden);
static struct sxs_selected_module *modules; /* owned; the newest is the last */
SXS_SESSION_KEEPS(modules);
static size_t                      n_modules, cap_modules;
SXS_SESSION_KEEPS(n_modules);
SXS_SESSION_KEEPS(cap_modules);

static int note_pattern(struct patterns *p, const char *text, size_t len)
{
    struct sxs_calls_note **more = realloc(p->notes, (p->n + 1) * sizeof(*more));
    if (!more)
        return -ENOMEM;
    p->notes = more;
    more[p->n] = p != &hidden ? sxs_gaps_note(SXS_CALLS_NOTE_PATTERN, 0, text, len) : NULL;
    return 0;
}

static int read_patterns(enum sxs_env variable, struct patterns *out)
{
    const char *at = sxs_env_get(variable);
    while (at && *at) {
        size_t                    len = strcspn(at, ";");
        struct sxs_calls_pattern *more = realloc(out->all, (out->n + 1) * sizeof(*more));
        if (!more)
            return -ENOMEM;
        out->all = more;
        if (len && sxs_calls_pattern(at, len, &more[out->n]) == 0) {
            if (note_pattern(out, at, len))
                return -ENOMEM;
            out->n++;
        } else if (len)
            sxs_error("%s: \"%.*s\": expected " SXS_CALLS_PATTERN_EXPECTED "; going on without it",
                      sxs_env_table[variable].name, (int)len, at);
        at += len + (at[len] == ';');
    }
    return 0;
}

int sxs_select_init(void)
{
    int err = read_patterns(SXS_ENV_CALLS, &shown);
    if (!err)
        err = read_patterns(SXS_ENV_VALUES, &valued);
    return err ? err : read_patterns(SXS_ENV_CALLS_NOT, &hidden);
}

int sxs_select_values(void)
{
    return valued.n != 0;
}

/* ---- modules ---------------------------------------------------------------------------------- */

/* Returns 1 for a framework assembly: it lies in the runtime's folder or in a shared framework. */
static int is_framework(const struct sxs_runtime *rt, const char *path, const char *assembly)
{
    const char *clr = sxs_runtime_path(rt), *slash = strrchr(clr, '/');
    size_t      n = slash ? (size_t)(slash + 1 - clr) : 0;
    return (n && strncmp(path, clr, n) == 0 && !strchr(path + n, '/')) ||
           strstr(path, "/shared/Microsoft.") || strcmp(assembly, "System.Private.CoreLib") == 0;
}

/* Returns 1 if pattern @i names the assembly of @m, and counts the match for the report. */
static int names_assembly(const struct patterns *p, size_t i, const struct sxs_runtime *rt,
                          const struct sxs_selected_module *m)
{
    if (!sxs_calls_pattern_assembly(&p->all[i], sxs_runtime_version(rt), m->assembly))
        return 0;
    if (p->notes[i])
        atomic_fetch_add(&p->notes[i]->count, 1);
    return 1;
}

static int may_be_wanted(const struct sxs_runtime *rt, const struct sxs_selected_module *m)
{
    int fits = 0;
    for (size_t i = 0; i < shown.n; i++)
        fits |= names_assembly(&shown, i, rt, m);
    for (size_t i = 0; i < valued.n; i++)
        fits |= names_assembly(&valued, i, rt, m);
    return fits ||
           (!shown.n && !valued.n && m->path[0] && !is_framework(rt, m->path, m->assembly));
}

/* Returns the token of the dispatcher of tail calls in System.Private.CoreLib; 0: there is none. */
static mdToken find_dispatcher(sxs_module core)
{
    IMetaDataImport2 *imp = sxs_module_import(core);
    mdTypeDef         type;
    mdMethodDef       method = 0;
    if (!imp)
        return 0;
    if (FAILED(imp->vtbl->FindTypeDefByName(imp, u"System.Runtime.CompilerServices.RuntimeHelpers",
                                            0, &type)) ||
        FAILED(imp->vtbl->FindMethod(imp, type, u"DispatchTailCalls", NULL, 0, &method)))
        method = 0;
    imp->vtbl->Release(imp);
    return method;
}

static const struct sxs_selected_module *module_of(sxs_module id)
{
    WCHAR          wide[1024];
    ULONG          n = 0;
    struct sxs_selected_module *m;
    const char    *base;
    size_t         len;
    for (size_t i = n_modules; i-- > 0;)
        if (modules[i].id == id.id && modules[i].rt == id.rt)
            return &modules[i];
    if (n_modules == cap_modules) {
        size_t         cap = cap_modules ? cap_modules * 2 : 64;
        struct sxs_selected_module *more = realloc(modules, cap * sizeof(*more));
        if (!more)
            return NULL;
        modules = more;
        cap_modules = cap;
    }
    m = &modules[n_modules];
    memset(m, 0, sizeof(*m));
    m->rt = id.rt;
    m->id = id.id;
    if (SUCCEEDED(sxs_info_GetModuleInfo(id.rt, id, NULL, ARRAY_LEN(wide), &n, wide, NULL)))
        sxs_utf8_of(wide, n < ARRAY_LEN(wide) ? n : ARRAY_LEN(wide), m->path, sizeof(m->path));
    base = strrchr(m->path, '/');
    base = base ? base + 1 : m->path;
    len = strlen(base);
    if (len > 4 && (strcmp(base + len - 4, ".dll") == 0 || strcmp(base + len - 4, ".exe") == 0))
        len -= 4;
    if (len >= sizeof(m->assembly))
        len = sizeof(m->assembly) - 1;
    memcpy(m->assembly, base, len);
    m->is_core = strcmp(m->assembly, "System.Private.CoreLib") == 0;
    m->dispatcher = m->is_core ? find_dispatcher(id) : 0;
    m->wanted = may_be_wanted(id.rt, m);
    m->named = m->wanted && shown.n;
    n_modules++;
    return m;
}

void sxs_select_forget(const struct sxs_runtime *rt)
{
    size_t n = 0;
    for (size_t i = 0; i < n_modules; i++)
        if (modules[i].rt != rt)
            modules[n++] = modules[i];
    n_modules = n;
}

const struct sxs_selected_module *sxs_select_module(sxs_module id)
{
    const struct sxs_selected_module *m = shown.n ? module_of(id) : NULL;
    return m && m->named ? m : NULL;
}

/* ---- functions -------------------------------------------------------------------------------- */

static int pattern_fits(const struct patterns *p, const char *version, const char *assembly,
                        const char *name)
{
    int any = 0;
    for (size_t i = 0; i < p->n; i++)
        if (sxs_calls_pattern_assembly(&p->all[i], version, assembly) &&
            sxs_calls_pattern_name(&p->all[i], name)) {
            if (p->notes[i])
                atomic_fetch_add(&p->notes[i]->more, 1);
            any = 1;
        }
    return any;
}

int sxs_select_method(const struct sxs_selected_module *m, const char *name)
{
    const char *version = sxs_runtime_version(m->rt);
    return pattern_fits(&shown, version, m->assembly, name) &&
           !pattern_fits(&hidden, version, m->assembly, name);
}

/* Compares the pattern's text before its first wildcard with the type's name: one must begin with
 * the other. */
int sxs_select_type(const struct sxs_selected_module *m, const char *name)
{
    for (size_t i = 0; i < shown.n; i++) {
        const char *pattern = shown.all[i].name;
        size_t      n = strcspn(pattern, "*?"), len = strlen(name);
        if (sxs_calls_pattern_assembly(&shown.all[i], sxs_runtime_version(m->rt), m->assembly) &&
            strncmp(pattern, name, n < len ? n : len) == 0 && (n <= len || pattern[len] == '.'))
            return 1;
    }
    return 0;
}

int sxs_select(struct sxs_namer *namer, sxs_function fn, struct sxs_selection *out)
{
    const char          *version = sxs_runtime_version(fn.rt);
    const struct sxs_selected_module *m;
    sxs_class            cls;
    sxs_module           module;
    ULONG32              n_args = 0;
    ClassID              args[1];
    if (FAILED(sxs_info_GetFunctionInfo2(fn.rt, fn, 0, &cls, &module, &out->token, 1, &n_args, args)))
        return 0;
    m = module_of(module);
    out->dispatches = m && m->dispatcher && m->dispatcher == out->token;
    if (!m || (!m->wanted && !out->dispatches))
        return 0;
    sxs_namer_function(namer, fn, out->name, sizeof(out->name));
    memcpy(out->file, m->path, sizeof(m->path));
    out->module = module.id;
    out->cls = cls.id;
    out->with_values = 0;
    if (out->dispatches)
        return 1;
    out->with_values = pattern_fits(&valued, version, m->assembly, out->name);
    if ((shown.n || valued.n) && !out->with_values &&
        !pattern_fits(&shown, version, m->assembly, out->name))
        return 0;
    if (pattern_fits(&hidden, version, m->assembly, out->name))
        return 0;
    /* With values, [UnmanagedCallersOnly] methods are not hooked. The hooks with values of 8 and 9
     * need a thread that the runtime knows. A thread may become known to the runtime only by the
     * call of such a method, and then the runtime's own code crashes. */
    return !valued.n || !sxs_formatter_is_entry(module, out->token);
}
