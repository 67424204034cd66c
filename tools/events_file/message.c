/* SPDX-License-Identifier: MIT */
#include "tools/events_file/message.h"

#include <stdio.h>
#include <string.h>

#include "base/mask.h"
#include "base/safe_read.h"
#include "base/text/utf8.h"
#include "session/format/events.h"
#include "values/layout.h"

#define PARENTS_MAX 32

/* ---- text ------------------------------------------------------------------------------------- */

size_t sxs_message_utf8(const uint16_t *units, size_t n, char *out, size_t size, int *cut)
{
    return sxs_utf8_line(units, n, ' ', out, size, cut);
}

/* ---- layout ---------------------------------------------------------------------------------- */

/* Finds the class whose parent has no parent: System.Exception, the base class of all
 * exceptions. */
static int find_root(sxs_class cls, sxs_class *root)
{
    struct sxs_runtime *rt = cls.rt;
    for (unsigned i = 0; i < PARENTS_MAX; i++) {
        sxs_class  parent = {NULL, 0}, grand = {NULL, 0};
        sxs_module module = {NULL, 0};
        if (FAILED(sxs_info_GetClassIDInfo2(rt, cls, &module, NULL, &parent, 0, NULL, NULL)) ||
            !parent.id ||
            FAILED(sxs_info_GetClassIDInfo2(rt, parent, &module, NULL, &grand, 0, NULL, NULL)))
            return -1;
        if (!grand.id) {
            *root = cls;
            return 0;
        }
        cls = parent;
    }
    return -1;
}

static int find_layout(struct sxs_message_layout *l, sxs_class cls)
{
    const struct sxs_layout *fields;
    const struct sxs_field  *message, *trace;
    ULONG                    length_at = 0, chars_at = 0;
    sxs_class                root = {NULL, 0};
    if (find_root(cls, &root) != 0 ||
        FAILED(sxs_info_GetStringLayout2(cls.rt, &length_at, &chars_at)))
        return -1;
    fields = sxs_layout_get(root);
    message = fields ? sxs_layout_field(fields, "_message") : NULL;
    trace = fields ? sxs_layout_field(fields, "_stackTrace") : NULL;
    if (!message)
        return -1;
    l->message_at = message->offset;
    l->trace_at = trace ? trace->offset : 0;
    l->length_at = length_at;
    l->chars_at = chars_at;
    return 1;
}

/* ---- read ------------------------------------------------------------------------------------- */

static void read_string(const struct sxs_message_layout *l, uintptr_t at,
                        struct sxs_exception_message *out)
{
    unsigned char bytes[64 + 2 * SXS_MESSAGE_MAX] __attribute__((aligned(8)));
    uint16_t      units[SXS_MESSAGE_MAX];
    uint32_t      length;
    size_t        got = sxs_safe_read(bytes, at, sizeof(bytes)), there;
    if (l->chars_at > 64 || l->length_at > 60 || got < l->chars_at ||
        got < l->length_at + sizeof(length))
        return;
    memcpy(&length, bytes + l->length_at, sizeof(length));
    there = (got - l->chars_at) / 2;
    if (there > ARRAY_LEN(units))
        there = ARRAY_LEN(units);
    if (there > length)
        there = length;
    if (sxs_mask() == SXS_MASK_ALL) {
        out->size = (size_t)snprintf(out->text, sizeof(out->text), SXS_MASKED);
        return;
    }
    if (sxs_mask()) {
        out->size = (size_t)snprintf(out->text, sizeof(out->text), "string(%u)", length);
        return;
    }
    memcpy(units, bytes + l->chars_at, 2 * there);
    out->size = sxs_message_utf8(units, there, out->text, SXS_MESSAGE_MAX + 1, &out->cut);
    out->cut |= there < length;
}

void sxs_message_read(struct sxs_message_layout *l, sxs_object object, sxs_class cls,
                      struct sxs_exception_message *out)
{
    unsigned char object_bytes[512]; /* the object, at least up to the fields that are read */
    uintptr_t     text = 0, trace = 0;
    size_t        size;
    int           state = atomic_load(&l->state);
    out->text[0] = '\0';
    out->size = 0;
    out->cut = out->traced = 0;
    if (!state) {
        state = find_layout(l, cls); /* two threads at the same time find the same */
        atomic_store(&l->state, state);
    }
    size = (l->message_at > l->trace_at ? l->message_at : l->trace_at) + sizeof(text);
    if (state < 0 || size > sizeof(object_bytes) ||
        sxs_safe_read(object_bytes, object.id, size) != size)
        return;
    memcpy(&text, object_bytes + l->message_at, sizeof(text));
    if (l->trace_at)
        memcpy(&trace, object_bytes + l->trace_at, sizeof(trace));
    out->traced = trace != 0;
    if (text)
        read_string(l, text, out);
}
