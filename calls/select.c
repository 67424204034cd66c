/* SPDX-License-Identifier: MIT */
#include "calls/select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "manager/base/log.h"
#include "record/calls_options.h"
#include "values/recipe.h"

struct patterns {
    struct sxs_calls_pattern *all;
    size_t                    n;
};

/* What is known of a module. */
struct module {
    const struct sxs_runtime *rt; /* compared only */
    ModuleID                  id;
    int                       wanted; /* some function of it may be */
    char                      assembly[128];
    char                      path[1024];
};

static struct patterns shown, hidden, valued;
static struct module  *modules; /* the latest last */
static size_t          n_modules, cap_modules;

static int read_patterns(const char *variable, struct patterns *out)
{
    const char *at = getenv(variable);
    while (at && *at) {
        size_t                    len = strcspn(at, ";");
        struct sxs_calls_pattern *more = realloc(out->all, (out->n + 1) * sizeof(*more));
        if (!more)
            return -ENOMEM;
        out->all = more;
        if (len && sxs_calls_pattern(at, len, &more[out->n]) == 0)
            out->n++;
        else if (len)
            sxs_error("%s: \"%.*s\": expected " SXS_CALLS_PATTERN_EXPECTED "; going on without it",
                      variable, (int)len, at);
        at += len + (at[len] == ';');
    }
    return 0;
}

int sxs_select_init(void)
{
    int err = read_patterns("SXSPROF_CALLS", &shown);
    if (!err)
        err = read_patterns("SXSPROF_VALUES", &valued);
    return err ? err : read_patterns("SXSPROF_CALLS_NOT", &hidden);
}

int sxs_select_values(void)
{
    return valued.n != 0;
}

/* ---- modules ---------------------------------------------------------------------------------- */

static void narrow(char *out, size_t size, const WCHAR *wide, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < n && wide[i] && at + 4 < size; i++) {
        unsigned c = wide[i];
        if (c >= 0xd800 && c < 0xdc00 && i + 1 < n)
            c = 0x10000 + ((c - 0xd800) << 10) + ((unsigned)wide[++i] - 0xdc00);
        if (c < 0x80) {
            out[at++] = (char)c;
        } else if (c < 0x800) {
            out[at++] = (char)(0xc0 | c >> 6);
            out[at++] = (char)(0x80 | (c & 63));
        } else {
            if (c >= 0x10000)
                out[at++] = (char)(0xf0 | c >> 18);
            out[at++] = (char)(c >= 0x10000 ? 0x80 | (c >> 12 & 63) : 0xe0 | c >> 12);
            out[at++] = (char)(0x80 | (c >> 6 & 63));
            out[at++] = (char)(0x80 | (c & 63));
        }
    }
    out[at] = '\0';
}

/* The runtime's own assemblies lie beside it, or in the shared frameworks. */
static int is_framework(const struct sxs_runtime *rt, const char *path, const char *assembly)
{
    const char *clr = sxs_runtime_path(rt), *slash = strrchr(clr, '/');
    size_t      n = slash ? (size_t)(slash + 1 - clr) : 0;
    return (n && strncmp(path, clr, n) == 0 && !strchr(path + n, '/')) ||
           strstr(path, "/shared/Microsoft.") || strcmp(assembly, "System.Private.CoreLib") == 0;
}

static int may_be_wanted(const struct sxs_runtime *rt, const struct module *m)
{
    for (size_t i = 0; i < shown.n; i++)
        if (sxs_calls_pattern_assembly(&shown.all[i], sxs_runtime_version(rt), m->assembly))
            return 1;
    for (size_t i = 0; i < valued.n; i++)
        if (sxs_calls_pattern_assembly(&valued.all[i], sxs_runtime_version(rt), m->assembly))
            return 1;
    return !shown.n && !valued.n && m->path[0] && !is_framework(rt, m->path, m->assembly);
}

static const struct module *module_of(sxs_module id)
{
    WCHAR          wide[1024];
    ULONG          n = 0;
    struct module *m;
    const char    *base;
    size_t         len;
    for (size_t i = n_modules; i-- > 0;)
        if (modules[i].id == id.id && modules[i].rt == id.rt)
            return &modules[i];
    if (n_modules == cap_modules) {
        size_t         cap = cap_modules ? cap_modules * 2 : 64;
        struct module *more = realloc(modules, cap * sizeof(*more));
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
        narrow(m->path, sizeof(m->path), wide, n < ARRAY_LEN(wide) ? n : ARRAY_LEN(wide));
    base = strrchr(m->path, '/');
    base = base ? base + 1 : m->path;
    len = strlen(base);
    if (len > 4 && (strcmp(base + len - 4, ".dll") == 0 || strcmp(base + len - 4, ".exe") == 0))
        len -= 4;
    if (len >= sizeof(m->assembly))
        len = sizeof(m->assembly) - 1;
    memcpy(m->assembly, base, len);
    m->wanted = may_be_wanted(id.rt, m);
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

/* ---- functions -------------------------------------------------------------------------------- */

static int fits(const struct patterns *p, const char *version, const char *assembly,
                const char *name)
{
    for (size_t i = 0; i < p->n; i++)
        if (sxs_calls_pattern_assembly(&p->all[i], version, assembly) &&
            sxs_calls_pattern_name(&p->all[i], name))
            return 1;
    return 0;
}

int sxs_select(struct sxs_namer *namer, sxs_function fn, struct sxs_selection *out)
{
    const char          *version = sxs_runtime_version(fn.rt);
    const struct module *m;
    sxs_class            cls;
    sxs_module           module;
    ULONG32              n_args = 0;
    ClassID              args[1];
    if (FAILED(sxs_info_GetFunctionInfo2(fn.rt, fn, 0, &cls, &module, &out->token, 1, &n_args, args)))
        return 0;
    m = module_of(module);
    if (!m || !m->wanted)
        return 0;
    sxs_namer_function(namer, fn, out->name, sizeof(out->name));
    memcpy(out->file, m->path, sizeof(m->path));
    out->with_values = fits(&valued, version, m->assembly, out->name);
    if ((shown.n || valued.n) && !out->with_values &&
        !fits(&shown, version, m->assembly, out->name))
        return 0;
    if (fits(&hidden, version, m->assembly, out->name))
        return 0;
    /* Hooks with values of 8 and 9 want a thread that the runtime knows, and such a method may be what makes it
     * known: the runtime's own code crashes. */
    return !valued.n || !sxs_recipe_is_entry(module, out->token);
}
