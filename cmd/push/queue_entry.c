/* SPDX-License-Identifier: MIT */
#include "cmd/push/queue_entry.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/output/must.h"

char *sxs_push_entry_line(const struct sxs_push_out *requests, const char *batch,
                          const char *source, uint64_t next_ns)
{
    json_t *list = json_array(), *top;
    for (size_t i = 0; i < requests->n; i++) {
        const struct sxs_push_kept *r = &requests->requests[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:s*, s:I}", "path", r->path, "type",
                                              r->content_type, "encoding", r->encoding, "size",
                                              (json_int_t)r->size));
    }
    top = json_pack("{s:i, s:s, s:s, s:I, s:o}", "version", 2, "batch", batch, "source", source,
                    "next", (json_int_t)next_ns, "requests", list);
    char *line = top ? json_dumps(top, JSON_COMPACT) : NULL, *whole = NULL;
    if (line && asprintf(&whole, "%s\n", line) < 0)
        whole = NULL;
    free(line);
    json_decref(top);
    return whole;
}

/* Texts go into the head of a request. */
static bool is_plain(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s <= ' ' && *s != ' ')
            return false;
    return true;
}

static int add_request(const json_t *item, const uint8_t *bytes, size_t size, size_t *at,
                       struct sxs_push_out *out)
{
    struct sxs_push_request r = {0};
    json_int_t              n = -1;
    if (json_unpack((json_t *)(uintptr_t)item, "{s:s, s:s, s?s, s:I}", "path", &r.path, "type",
                    &r.content_type, "encoding", &r.encoding, "size", &n) != 0 ||
        n < 0 || (uint64_t)n > size - *at || !is_plain(r.path) || !is_plain(r.content_type) ||
        (r.encoding && !is_plain(r.encoding)))
        return -1;
    r.body = bytes + *at;
    r.size = (size_t)n;
    *at += r.size;
    return out ? sxs_push_emit(out, &r) : 0;
}

static int read_note(const json_t *top, struct sxs_push_note *note)
{
    const char *batch, *source;
    json_int_t  next;
    int         version;
    if (json_unpack((json_t *)(uintptr_t)top, "{s:i, s:s, s:s, s:I}", "version", &version, "batch",
                    &batch, "source", &source, "next", &next) != 0 ||
        version != 2 || strlen(batch) >= sizeof(note->batch) || next < 0)
        return -1;
    strcpy(note->batch, batch);
    note->source = sxs_must(strdup(source));
    note->next_ns = (uint64_t)next;
    return 0;
}

int sxs_push_entry_parse(const void *bytes, size_t size, struct sxs_push_out *requests,
                         struct sxs_push_note *note)
{
    const uint8_t *end = memchr(bytes, '\n', size);
    json_t        *top = NULL, *item;
    size_t         i, at = end ? (size_t)(end + 1 - (const uint8_t *)bytes) : 0;
    if (requests)
        *requests = (struct sxs_push_out){0};
    *note = (struct sxs_push_note){.next_ns = 0};
    if (end)
        top = json_loadb(bytes, at, 0, NULL);
    int result = top ? read_note(top, note) : -1;
    json_array_foreach(json_object_get(top, "requests"), i, item)
    {
        if (result == 0)
            result = add_request(item, bytes, size, &at, requests);
    }
    if (at != size) /* cut, or longer than its parts */
        result = -1;
    json_decref(top);
    return result;
}
