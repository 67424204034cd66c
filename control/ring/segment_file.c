/* SPDX-License-Identifier: MIT */
#include "control/ring/segment_file.h"

#include <inttypes.h>

#include "base/text/buffer.h"

static void put_string(struct sxs_text *out, const char *s)
{
    sxs_text_put(out, "\"");
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            sxs_text_putf(out, "\\%c", c);
        else if (c < ' ')
            sxs_text_putf(out, "\\u%04x", c);
        else
            sxs_text_put_bytes(out, s, 1);
    }
    sxs_text_put(out, "\"");
}

static void put_number(struct sxs_text *out, const char *name, uint64_t value)
{
    sxs_text_putf(out, ",\n \"%s\":%" PRIu64, name, value);
}

void sxs_segment_text(const struct sxs_segment_facts *f, char out[SXS_SEGMENT_TEXT])
{
    struct sxs_text text = sxs_text_counted(out, SXS_SEGMENT_TEXT);
    sxs_text_put(&text, "{\"sxsprof_segment\":1");
    put_number(&text, "number", f->number);
    put_number(&text, "pid", (uint64_t)f->pid);
    put_number(&text, "process_started", f->process_started);
    put_number(&text, "started_ns", f->started_ns);
    put_number(&text, "ended_ns", f->ended_ns);
    put_number(&text, "gap_ns", f->gap_ns);
    sxs_text_put(&text, ",\n \"tools\":");
    put_string(&text, f->tools);
    put_number(&text, "every_ns", f->every_ns);
    put_number(&text, "cpu_ns", f->cpu_ns);
    put_number(&text, "own_cpu_ns", f->own_cpu_ns);
    sxs_text_put(&text, ",\n \"adapted\":");
    put_string(&text, f->adapted);
    sxs_text_put(&text, "}\n");
}

void sxs_trigger_text(const struct sxs_trigger_event *events, const unsigned char *is_in, size_t n,
                      char out[SXS_SEGMENT_TEXT])
{
    struct sxs_text text = sxs_text_counted(out, SXS_SEGMENT_TEXT);
    const char     *separator = "";
    sxs_text_put(&text, "{\"sxsprof_trigger\":1,\"triggers\":[");
    for (size_t i = 0; i < n; i++) {
        if (!is_in[i])
            continue;
        sxs_text_putf(&text, "%s\n {\"time_ns\":%" PRIu64 ",\"on\":", separator, events[i].real_ns);
        put_string(&text, events[i].on);
        sxs_text_put(&text, ",\"what\":");
        put_string(&text, events[i].what);
        sxs_text_putf(&text, ",\"left_out\":%" PRIu64 "}", events[i].left_out);
        separator = ",";
    }
    sxs_text_put(&text, "]}\n");
}
