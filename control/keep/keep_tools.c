/* SPDX-License-Identifier: MIT */
/* keep_tools.c - composes the tools of a segment: with low rates, and with the tools that conditions need. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/text/buffer.h"
#include "control/keep/keep_settings.h"
#include "tools/options/alloc_options.h"
#include "tools/options/late_start.h"
#include "tools/options/native_options.h"
#include "tools/options/sample_options.h"
#include "tools/options/wait_options.h"

#define WHY 8 /* the reasons of wrong options are logged when the tool starts */

/* One of the tools, in the text. */
struct item {
    const char *name, *options; /* not terminated */
    size_t      name_len, options_len;
};

/* Reads the next tool after *at. Returns 0 when there is none. */
static int next_item(const char **at, struct item *out)
{
    size_t len;
    *at += strspn(*at, ";");
    len = strcspn(*at, ";");
    out->name = *at;
    out->name_len = strcspn(*at, ":;");
    out->options = *at + out->name_len + (out->name_len < len);
    out->options_len = len - (size_t)(out->options - *at);
    *at += len;
    return len != 0;
}

/* Tells whether there is a tool in the text at all. */
static int has_any(const char *tools)
{
    struct item item;
    return tools && next_item(&tools, &item);
}

static int is_named(const struct item *i, const char *name)
{
    return strlen(name) == i->name_len && strncmp(i->name, name, i->name_len) == 0;
}

static int has_tool(const char *tools, const char *name)
{
    struct item item;
    while (next_item(&tools, &item))
        if (is_named(&item, name))
            return 1;
    return 0;
}

/* Tells whether the options have one whose text begins with @key. */
static int has_option(const char *options, const char *key)
{
    for (; *options; options += strcspn(options, ","), options += *options == ',')
        if (strncmp(options, key, strlen(key)) == 0)
            return 1;
    return 0;
}

static unsigned divided(unsigned rate, unsigned scale)
{
    return rate / scale ? rate / scale : 1;
}

/* ---- the options that change ----------------------------------------------------------------- */

static void put_sample(struct sxs_text *out, const char *options, unsigned scale)
{
    struct sxs_sampler_options o;
    char                       why[WHY];
    int                        is_given =
        has_option(options, "rate=") || has_option(options, "cpu=") || has_option(options, "wall=");
    sxs_text_putf(out, ":%s", options);
    if (sxs_sampler_parse(options, &o, why, sizeof(why)) != 0)
        return;
    sxs_text_putf(out, "%srate=%u", *options ? "," : "",
                  divided(is_given ? o.hz : SXS_KEEP_HZ, scale));
    if (!has_option(options, "tiers"))
        sxs_text_put(out, ",tiers=off");
}

static void put_wait(struct sxs_text *out, const char *options, unsigned scale)
{
    struct sxs_wait_options o;
    char                    why[WHY];
    int                     is_given = has_option(options, "rate=");
    if (sxs_wait_parse(options, &o, why, sizeof(why)) == 0)
        sxs_text_putf(out, ":rate=%u", divided(is_given ? o.hz : SXS_KEEP_WAIT_HZ, scale));
    else
        sxs_text_putf(out, ":%s", options);
}

/* @interval: of the options; 0: they are wrong. @most: the largest interval that the tool takes. */
static void put_interval(struct sxs_text *out, const char *options, uint64_t interval,
                         uint64_t most, unsigned scale)
{
    uint64_t wanted = interval * scale;
    sxs_text_putf(out, "%s%s", *options ? ":" : "", options);
    if (interval && scale > 1)
        sxs_text_putf(out, "%sinterval=%" PRIu64, *options ? "," : ":",
                      wanted < most ? wanted : most);
}

static void put_alloc(struct sxs_text *out, const char *options, unsigned scale)
{
    struct sxs_alloc_options o;
    char                     why[WHY];
    int                      err = sxs_alloc_options_parse(options, &o, why, sizeof(why));
    put_interval(out, options, err ? 0 : o.interval, UINT64_C(1) << 30, scale);
}

static void put_native(struct sxs_text *out, const char *options, unsigned scale)
{
    struct sxs_native_options o;
    char                      why[WHY];
    int                       err = sxs_native_options_parse(options, &o, why, sizeof(why));
    put_interval(out, options, err ? 0 : o.interval, UINT64_C(1) << 30, scale);
}

static const struct {
    const char *name;
    void (*put)(struct sxs_text *out, const char *options, unsigned scale);
} scaled[] = {
    {"sample", put_sample}, {"wait", put_wait}, {"alloc", put_alloc}, {"native", put_native}};

static void put_item(struct sxs_text *out, const struct item *item, unsigned scale)
{
    char options[SXS_KEEP_TOOLS];
    snprintf(options, sizeof(options), "%.*s", (int)item->options_len, item->options);
    sxs_text_put_bytes(out, item->name, item->name_len);
    for (size_t i = 0; i < ARRAY_LEN(scaled); i++) {
        if (is_named(item, scaled[i].name)) {
            scaled[i].put(out, options, scale);
            return;
        }
    }
    if (options[0])
        sxs_text_putf(out, ":%s", options);
}

int sxs_keep_can_scale(const char *tools)
{
    if (!has_any(tools))
        return 1; /* it is the tool sample */
    for (size_t i = 0; i < ARRAY_LEN(scaled); i++)
        if (has_tool(tools, scaled[i].name))
            return 1;
    return 0;
}

/* ---- the tools ------------------------------------------------------------------------------- */

static int needs(const struct sxs_keep_settings *s, enum sxs_trigger_kind kind)
{
    for (size_t i = 0; i < s->n_triggers; i++)
        if (s->triggers[i].kind == kind)
            return 1;
    return 0;
}

int sxs_keep_tools(const char *tools, const struct sxs_keep_settings *s, unsigned scale,
                   char out[SXS_KEEP_TOOLS])
{
    struct sxs_text text = sxs_text_counted(out, SXS_KEEP_TOOLS);
    const char     *at = has_any(tools) ? tools : "sample";
    const char     *all = at;
    struct item     item;
    while (next_item(&at, &item)) {
        if (text.len)
            sxs_text_put(&text, ";");
        put_item(&text, &item, scale);
    }
    if (needs(s, SXS_TRIGGER_GC) && !has_tool(all, "gc"))
        sxs_text_put(&text, ";gc");
    if (needs(s, SXS_TRIGGER_EXCEPTION) && !has_tool(all, "exceptions"))
        sxs_text_put(&text, ";exceptions");
    return text.len < SXS_KEEP_TOOLS ? 0 : -1;
}

int sxs_keep_tools_check(const char *tools, char *why, size_t size)
{
    struct item item;
    const char *reason;
    for (const char *at = tools ? tools : ""; next_item(&at, &item);) {
        char name[64], options[SXS_KEEP_TOOLS];
        snprintf(name, sizeof(name), "%.*s", (int)item.name_len, item.name);
        snprintf(options, sizeof(options), "%.*s", (int)item.options_len, item.options);
        /* The newest runtimes let tools do all that any runtime does. */
        if (sxs_late_start(SXS_LATE_REQUEST, name, options, sxs_facts_newest(), &reason) !=
            SXS_LATE_NO)
            continue;
        snprintf(why, size, "the tool %s cannot record segments: %s", name, reason);
        return -1;
    }
    return 0;
}
