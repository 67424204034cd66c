/* SPDX-License-Identifier: MIT */
#include "session/read/heap_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/read/file_read.h"

/* ---- the file ---- */

uint32_t sxs_heap_number_of(const char *name)
{
    static const char prefix[] = SXS_HEAP_FILE;
    char             *end;
    if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
        return 0;
    name += sizeof(prefix) - 1;
    if (*name < '1' || *name > '9')
        return 0;
    unsigned long n = strtoul(name, &end, 10);
    return *end || n > UINT32_MAX ? 0 : (uint32_t)n;
}

/* Returns 0 when the header has the format that this reader knows; else EINVAL after writing to
 * @why. */
static int check_header(const struct sxs_heap_header *h, size_t got, char *why, size_t why_size)
{
    if (got < sizeof(*h))
        snprintf(why, why_size, "cut: %zu bytes, a header has %zu", got, sizeof(*h));
    else if (memcmp(h->magic, SXS_HEAP_MAGIC, sizeof(h->magic)) != 0)
        snprintf(why, why_size,
                 "not a heap snapshot: it does not begin with \"" SXS_HEAP_MAGIC "\"");
    else if (h->version < SXS_HEAP_OLDEST || h->version > SXS_HEAP_VERSION)
        snprintf(why, why_size, "format version %u, this command reads versions %u to %u",
                 h->version, SXS_HEAP_OLDEST, SXS_HEAP_VERSION);
    else
        return 0;
    return EINVAL;
}

static void take_header(struct sxs_heap_reader *r, const struct sxs_heap_header *h, uint64_t size)
{
    r->head.pid = h->pid;
    r->head.number = h->number;
    r->head.trigger = h->trigger;
    r->head.error = (int)atomic_load_explicit(&h->error, memory_order_relaxed);
    r->head.started_realtime_ns = h->started_realtime_ns;
    r->head.started_ns = h->started_ns;
    r->head.ended_ns = atomic_load_explicit(&h->ended_ns, memory_order_relaxed);
    memcpy(r->head.command, h->command, sizeof(r->head.command));
    r->head.command[sizeof(r->head.command) - 1] = '\0';
    r->end = atomic_load_explicit(&h->used, memory_order_relaxed);
    r->cut = r->end > size;
    if (r->cut)
        r->end = size;
}

int sxs_heap_reader_open(struct sxs_heap_reader *r, const struct sxs_files *folder, uint32_t number,
                         char *why, size_t why_size)
{
    char                   name[32];
    uint64_t               size;
    struct sxs_heap_header head;
    memset(r, 0, sizeof(*r));
    snprintf(name, sizeof(name), SXS_HEAP_FILE "%u", number);
    r->fd = sxs_file_open(folder, name, &size, why, why_size);
    if (r->fd < 0)
        return -r->fd;
    int err = check_header(&head, sxs_file_read_at(r->fd, &head, sizeof(head), 0), why, why_size);
    r->bytes = err ? NULL : malloc(SXS_HEAP_BLOCK_MAX);
    if (!err && !r->bytes) {
        snprintf(why, why_size, "%s", strerror(ENOMEM));
        err = ENOMEM;
    }
    if (err) {
        sxs_heap_reader_close(r);
        return err;
    }
    take_header(r, &head, size);
    sxs_heap_reader_rewind(r);
    return 0;
}

void sxs_heap_reader_close(struct sxs_heap_reader *r)
{
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
    free(r->bytes);
    r->bytes = NULL;
}

void sxs_heap_reader_rewind(struct sxs_heap_reader *r)
{
    r->next = SXS_HEAP_HEADER_SIZE;
    r->left = 0;
    r->bad = false;
    r->n_bad_blocks = 0;
    r->references = 0;
    r->fields = r->places = 0;
}

/* Counts the block that was loaded last if a part of it was damaged. */
static void leave_block(struct sxs_heap_reader *r)
{
    if (r->bad)
        r->n_bad_blocks++;
    r->bad = false;
}

static bool is_block(const struct sxs_heap_block *b, uint64_t left)
{
    return b->magic == SXS_HEAP_BLOCK_MAGIC && b->size >= sizeof(*b) && b->size % 8 == 0 &&
           b->size <= SXS_HEAP_BLOCK_MAX && b->size <= left;
}

/* Returns true when the block has no hole. A complete block has none, because its process wrote all
 * of it; a file that claims many blocks of zeros is not read. */
static bool is_written(int fd, uint64_t at, uint64_t size)
{
    return sxs_file_next_data(fd, at, at + size) == at &&
           sxs_file_next_hole(fd, at, at + size) == at + size;
}

bool sxs_heap_reader_next(struct sxs_heap_reader *r)
{
    struct sxs_heap_block b;
    leave_block(r);
    r->left = 0;
    r->references = 0;
    r->fields = r->places = 0;
    if (r->next >= r->end || r->next == r->damaged_at)
        return false;
    size_t got = r->end - r->next < sizeof(b) ? 0 : sxs_file_read_at(r->fd, &b, sizeof(b), r->next);
    bool   whole = got == sizeof(b) && is_block(&b, r->end - r->next);
    size_t payload = whole ? b.size - sizeof(b) : 0;
    if (!whole || !is_written(r->fd, r->next, b.size) ||
        sxs_file_read_at(r->fd, r->bytes, payload, r->next + sizeof(b)) != payload) {
        r->damaged_at = r->next;
        return false;
    }
    r->next += b.size;
    r->kind = b.kind;
    r->runtime = b.runtime;
    r->left = b.count;
    r->at = (const uint8_t *)r->bytes;
    r->stop = r->at + payload;
    r->previous = 0;
    return true;
}

const char *sxs_heap_reader_problem(struct sxs_heap_reader *r, size_t index)
{
    leave_block(r);
    r->left = 0;
    if (r->cut && index-- == 0)
        return "cut: the file is shorter than its header says";
    if (r->damaged_at && index-- == 0) {
        snprintf(r->line, sizeof(r->line), "damaged at byte %llu: what follows was not read",
                 (unsigned long long)r->damaged_at);
        return r->line;
    }
    if (r->n_bad_blocks && index-- == 0) {
        snprintf(r->line, sizeof(r->line), "%llu damaged blocks: what follows in them was left out",
                 (unsigned long long)r->n_bad_blocks);
        return r->line;
    }
    return NULL;
}

/* ---- the items of a block; after a failure r->bad is set and all numbers are 0 ---- */

static uint64_t take_number(struct sxs_heap_reader *r)
{
    uint64_t v = 0;
    for (unsigned shift = 0; r->at < r->stop && shift < 70; shift += 7) {
        uint8_t byte = *r->at++;
        v |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return v;
    }
    r->bad = true;
    r->at = r->stop;
    return 0;
}

/* Takes a number that is at most @highest. */
static uint32_t take_limited(struct sxs_heap_reader *r, uint32_t highest)
{
    uint64_t v = take_number(r);
    if (v <= highest)
        return (uint32_t)v;
    r->bad = true;
    return 0;
}

static uint64_t take_address(struct sxs_heap_reader *r, uint64_t from)
{
    uint64_t v = take_number(r);
    return from + ((v >> 1) ^ (0 - (v & 1))) * 8;
}

static struct sxs_heap_text take_text(struct sxs_heap_reader *r)
{
    struct sxs_heap_text text = {"", 0};
    uint64_t             size = take_number(r);
    if (r->bad || size > (uint64_t)(r->stop - r->at)) {
        r->bad = true;
        return text;
    }
    text = (struct sxs_heap_text){(const char *)r->at, (size_t)size};
    r->at += size;
    return text;
}

/* Returns whether there is one more item, which it counts. */
static bool begin_item(struct sxs_heap_reader *r)
{
    uint64_t             address;
    uint32_t             number;
    struct sxs_heap_text name;
    while (r->references)
        sxs_heap_take_reference(r, &address);
    while (r->fields)
        sxs_heap_take_field(r, &name);
    while (r->places)
        sxs_heap_take_place(r, &number);
    if (!r->left || r->bad)
        return false;
    r->left--;
    return true;
}

bool sxs_heap_take_runtime(struct sxs_heap_reader *r, struct sxs_heap_runtime_item *out)
{
    if (!begin_item(r))
        return false;
    out->how = take_number(r);
    out->server = take_number(r);
    out->started_ns = take_number(r);
    out->version = take_text(r);
    out->path = take_text(r);
    return !r->bad;
}

bool sxs_heap_take_type(struct sxs_heap_reader *r, struct sxs_heap_type_item *out)
{
    if (!begin_item(r))
        return false;
    out->number = take_limited(r, SXS_HEAP_MAX_NUMBER);
    out->flags = take_limited(r, UINT32_MAX);
    out->size = take_number(r);
    out->element = take_limited(r, SXS_HEAP_MAX_NUMBER);
    out->name = take_text(r);
    out->module = take_text(r);
    return !r->bad;
}

bool sxs_heap_take_object(struct sxs_heap_reader *r, struct sxs_heap_object_item *out)
{
    if (!begin_item(r))
        return false;
    r->previous = out->address = r->object = take_address(r, r->previous);
    uint64_t type = take_number(r);
    out->sized = type & 1;
    out->type = (uint32_t)(type / 2);
    out->size = out->sized ? take_number(r) : 0;
    out->references = take_number(r);
    if (type / 2 > SXS_HEAP_MAX_NUMBER || out->references > (uint64_t)(r->stop - r->at))
        r->bad = true;
    r->references = r->bad ? 0 : out->references;
    return !r->bad;
}

bool sxs_heap_take_reference(struct sxs_heap_reader *r, uint64_t *address)
{
    if (!r->references)
        return false;
    r->references = r->bad ? 0 : r->references - 1;
    *address = take_address(r, r->object);
    return !r->bad;
}

bool sxs_heap_take_root(struct sxs_heap_reader *r, struct sxs_heap_root_item *out)
{
    if (!begin_item(r))
        return false;
    out->kind = take_limited(r, UINT32_MAX);
    out->flags = take_limited(r, UINT32_MAX);
    r->previous = out->object = take_address(r, r->previous);
    out->id = take_number(r);
    out->name = take_limited(r, SXS_HEAP_MAX_NUMBER);
    return !r->bad;
}

bool sxs_heap_take_name(struct sxs_heap_reader *r, struct sxs_heap_name_item *out)
{
    if (!begin_item(r))
        return false;
    out->number = take_limited(r, SXS_HEAP_MAX_NUMBER);
    out->text = take_text(r);
    return !r->bad;
}

bool sxs_heap_take_dependent(struct sxs_heap_reader *r, struct sxs_heap_dependent_item *out)
{
    if (!begin_item(r))
        return false;
    r->previous = out->primary = take_address(r, r->previous);
    out->secondary = take_address(r, out->primary);
    out->id = take_number(r);
    return !r->bad;
}

bool sxs_heap_take_bounds(struct sxs_heap_reader *r, struct sxs_heap_bounds_item *out)
{
    if (!begin_item(r))
        return false;
    out->generation = take_limited(r, 5);
    out->start = take_number(r);
    out->size = take_number(r);
    return !r->bad;
}

bool sxs_heap_take_value(struct sxs_heap_reader *r, struct sxs_heap_value_item *out)
{
    if (!begin_item(r))
        return false;
    out->what = take_limited(r, UINT32_MAX);
    out->depth = take_limited(r, 64);
    out->address = take_number(r);
    out->offset = take_number(r);
    out->size = take_number(r);
    out->object = take_number(r);
    out->name = take_text(r);
    out->owner = take_text(r);
    out->type = take_text(r);
    out->value = take_text(r);
    return !r->bad;
}

bool sxs_heap_take_fields(struct sxs_heap_reader *r, struct sxs_heap_fields_item *out)
{
    if (!begin_item(r))
        return false;
    out->type = take_limited(r, SXS_HEAP_MAX_NUMBER);
    out->base = take_limited(r, UINT32_MAX);
    out->step = take_limited(r, UINT32_MAX);
    out->lead = take_limited(r, 1);
    out->n = take_limited(r, SXS_HEAP_SLOTS_MAX);
    r->fields = r->bad ? 0 : out->n;
    return !r->bad;
}

bool sxs_heap_take_field(struct sxs_heap_reader *r, struct sxs_heap_text *name)
{
    if (!r->fields)
        return false;
    *name = take_text(r);
    r->fields = r->bad ? 0 : r->fields - 1;
    return !r->bad;
}

bool sxs_heap_take_variant(struct sxs_heap_reader *r, struct sxs_heap_variant_item *out)
{
    if (!begin_item(r))
        return false;
    out->number = take_limited(r, SXS_HEAP_MAX_NUMBER);
    out->type = take_limited(r, SXS_HEAP_MAX_NUMBER);
    out->mask = take_number(r);
    return !r->bad;
}

bool sxs_heap_take_places(struct sxs_heap_reader *r, struct sxs_heap_places_item *out)
{
    if (!begin_item(r))
        return false;
    r->previous = out->address = take_address(r, r->previous);
    out->n = take_limited(r, SXS_HEAP_PLACES_MAX);
    r->bad |= out->n % 2 != 0;
    r->places = r->bad ? 0 : out->n;
    return !r->bad;
}

bool sxs_heap_take_place(struct sxs_heap_reader *r, uint32_t *number)
{
    if (!r->places)
        return false;
    *number = take_limited(r, UINT32_MAX);
    r->places = r->bad ? 0 : r->places - 1;
    return !r->bad;
}

bool sxs_heap_take_end(struct sxs_heap_reader *r, struct sxs_heap_end_item *out)
{
    uint64_t *const all[] = {&out->objects,    &out->bytes, &out->references, &out->roots,
                             &out->dependent,  &out->types, &out->lacking,    &out->pause_ns,
                             &out->suspend_ns, &out->status};
    if (!begin_item(r))
        return false;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        *all[i] = take_number(r);
    return !r->bad;
}
