/* SPDX-License-Identifier: MIT */
#include "control/keep/keep_settings.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/duration.h"
#include "base/text/wildcard.h"
#include "tools/options/tool_options.h"

#define NS_PER_S     UINT64_C(1000000000)
#define LEAST_EVERY  NS_PER_S
#define MOST_EVERY   (86400 * NS_PER_S)
#define EVERY        (60 * NS_PER_S)
#define LEAST_BYTES  (UINT64_C(4) << 20)
#define BYTES        (UINT64_C(1) << 30)
#define BEHIND_ON    (120 * NS_PER_S) /* keep, if there are conditions only */
#define LEAST_BUDGET 10u              /* thousandths of a percent */
#define MOST_BUDGET  50000u
#define MOST_CPU     100000000u /* 1,000 processors */

static int is_given(const char *text)
{
    return text && *text;
}

/* Reads "256M", also with a small letter. */
static int read_bytes(const char *text, uint64_t *out)
{
    char   value[32];
    size_t len = strlen(text);
    if (!len || len >= sizeof(value))
        return -1;
    for (size_t i = 0; i <= len; i++)
        value[i] = (char)tolower((unsigned char)text[i]);
    return sxs_tool_bytes(value, LEAST_BYTES, UINT64_C(1) << 50, out);
}

static int read_keep(const char *text, struct sxs_keep_settings *out, char *why, size_t size)
{
    size_t len = strcspn(text, ",");
    out->keep_bytes = BYTES;
    if (sxs_duration_read(text, len, 0, &out->keep_ns) == 0 && out->keep_ns >= LEAST_EVERY &&
        (!text[len] || read_bytes(text + len + 1, &out->keep_bytes) == 0))
        return 0;
    snprintf(why, size, "keep: '%.80s': expected " SXS_KEEP_EXPECTED, text);
    return -1;
}

static int read_segment(const char *text, struct sxs_keep_settings *out, char *why, size_t size)
{
    if (sxs_duration_read(text, strlen(text), 0, &out->every_ns) == 0 &&
        out->every_ns >= LEAST_EVERY && out->every_ns <= MOST_EVERY)
        return 0;
    snprintf(why, size, "segment: '%.80s': expected " SXS_SEGMENT_EXPECTED, text);
    return -1;
}

/* Reads a number with at most three digits after the point, and '%', as thousandths. */
static int read_percent(const char *text, size_t len, uint64_t *thousandths)
{
    uint64_t n = 0;
    unsigned decimals = 0, point = 0, digits = 0;
    if (len < 2 || len > 12 || text[len - 1] != '%')
        return -1;
    for (size_t i = 0; i + 1 < len; i++) {
        if (text[i] == '.' && !point && digits) {
            point = 1;
        } else if (text[i] >= '0' && text[i] <= '9' && decimals < 3) {
            n = n * 10 + (unsigned)(text[i] - '0');
            decimals += point;
            digits++;
        } else {
            return -1;
        }
    }
    for (; decimals < 3; decimals++)
        n *= 10;
    *thousandths = n;
    return 0;
}

static int read_budget(const char *text, struct sxs_keep_settings *out, char *why, size_t size)
{
    uint64_t value;
    if (read_percent(text, strlen(text), &value) == 0 && value >= LEAST_BUDGET &&
        value <= MOST_BUDGET) {
        out->budget = (unsigned)value;
        return 0;
    }
    snprintf(why, size, "budget: '%.80s': expected %s", text, SXS_BUDGET_EXPECTED);
    return -1;
}

/* ---- conditions ------------------------------------------------------------------------------ */

static int read_type(const char *text, size_t len, struct sxs_trigger *out)
{
    if (!len || len >= sizeof(out->type))
        return -1;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] <= ' ' || text[i] == '"' || text[i] == '\\')
            return -1;
    memcpy(out->type, text, len);
    return 0;
}

/* Reads one condition of @len bytes. */
static int read_condition(const char *text, size_t len, struct sxs_trigger *out)
{
    static const char gc[] = "gc>", cpu[] = "cpu>", exception[] = "exception=";
    memset(out, 0, sizeof(*out));
    if (!len || len >= sizeof(out->text))
        return -1;
    memcpy(out->text, text, len);
    if (strncmp(text, gc, strlen(gc)) == 0) {
        out->kind = SXS_TRIGGER_GC;
        return sxs_duration_read(text + strlen(gc), len - strlen(gc), 0, &out->limit);
    }
    if (strncmp(text, cpu, strlen(cpu)) == 0) {
        out->kind = SXS_TRIGGER_CPU;
        if (read_percent(text + strlen(cpu), len - strlen(cpu), &out->limit) != 0)
            return -1;
        return out->limit && out->limit <= MOST_CPU ? 0 : -1;
    }
    if (strncmp(text, exception, strlen(exception)) == 0) {
        out->kind = SXS_TRIGGER_EXCEPTION;
        return read_type(text + strlen(exception), len - strlen(exception), out);
    }
    return -1;
}

static int read_on(const char *text, struct sxs_keep_settings *out, char *why, size_t size)
{
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, ";");
        if (out->n_triggers == SXS_KEEP_TRIGGERS) {
            snprintf(why, size, "on: expected at most %u conditions", SXS_KEEP_TRIGGERS);
            return -1;
        }
        if (read_condition(at, len, &out->triggers[out->n_triggers++]) != 0) {
            snprintf(why, size, "on: '%.*s': expected %s", (int)(len < 80 ? len : 80), at,
                     SXS_ON_EXPECTED);
            return -1;
        }
        at += len;
        if (!*at)
            return 0;
    }
}

int sxs_trigger_fits(const struct sxs_trigger *t, const char *type)
{
    const char *last = strrchr(type, '.');
    if (t->kind != SXS_TRIGGER_EXCEPTION)
        return 0;
    return sxs_wildcard_matches(t->type, type) ||
           (last && !strchr(t->type, '.') && sxs_wildcard_matches(t->type, last + 1));
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void fill_defaults(const struct sxs_keep_texts *texts, struct sxs_keep_settings *out)
{
    if (out->n_triggers && !is_given(texts->keep)) {
        out->keep_ns = out->every_ns > BEHIND_ON / 2 ? 2 * out->every_ns : BEHIND_ON;
        out->keep_bytes = BYTES;
    }
    if (is_given(texts->segment))
        return;
    out->every_ns = EVERY;
    if (out->keep_ns && out->keep_ns / 5 < EVERY)
        out->every_ns = out->keep_ns / 5 > LEAST_EVERY ? out->keep_ns / 5 : LEAST_EVERY;
}

/* Checks what the settings say together. Returns 0 or -1. */
static int check_all(const struct sxs_keep_texts *texts, const struct sxs_keep_settings *s,
                     char *why, size_t size)
{
    if (!s->is_on && is_given(texts->budget))
        snprintf(why, size,
                 "budget: expected keep, every or on with it: rates change from one "
                 "segment to the next");
    else if (s->is_on && s->keep_ns && s->keep_ns < s->every_ns)
        snprintf(
            why, size,
            "keep: '%.40s': expected at least the time of one segment, which is %.40s (segment)",
            texts->keep, texts->segment);
    else if (s->is_on && s->keep_ns / s->every_ns > SXS_KEEP_MAX_SEGMENTS)
        snprintf(
            why, size, "keep: '%.40s': expected at most %u segments, and one lasts %.40s (segment)",
            texts->keep, SXS_KEEP_MAX_SEGMENTS, is_given(texts->segment) ? texts->segment : "60s");
    else
        return 0;
    return -1;
}

int sxs_keep_parse(const struct sxs_keep_texts *texts, struct sxs_keep_settings *out, char *why,
                   size_t size)
{
    int err = 0;
    memset(out, 0, sizeof(*out));
    out->is_on = is_given(texts->keep) || is_given(texts->segment) || is_given(texts->on);
    if (is_given(texts->keep))
        err = read_keep(texts->keep, out, why, size);
    if (!err && is_given(texts->segment))
        err = read_segment(texts->segment, out, why, size);
    if (!err && is_given(texts->on))
        err = read_on(texts->on, out, why, size);
    if (!err && is_given(texts->budget))
        err = read_budget(texts->budget, out, why, size);
    if (!err && out->is_on)
        fill_defaults(texts, out);
    if (!err)
        err = check_all(texts, out, why, size);
    if (err || !out->is_on)
        memset(out, 0, sizeof(*out));
    return err;
}
