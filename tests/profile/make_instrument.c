/* SPDX-License-Identifier: MIT */
/*
 * make_instrument.c - writes the files "instrument" and "traced" with known numbers to the session DIR/4242.
 *
 * Three methods in runtimes 1 and 2: one failed, one has a label. 40 calls of the first method, in groups of
 * four that are nested in each other. Each call has arguments; every second call has a result, the other
 * calls are left by an exception. One helper that threw twice.
 *
 *   make_instrument DIR
 */
#include "session/format/instrument.h"
#include "session/format/traced.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PID   4242u
#define TICKS UINT64_C(1000000)

static struct {
    char     chunk[SXS_CHUNK_SIZE] __attribute__((aligned(8)));
    uint32_t used;
} file;

static void *add(uint16_t type, size_t size)
{
    struct sxs_record *r = (void *)(file.chunk + file.used);
    size = (size + 7) & ~(size_t)7;
    *r = (struct sxs_record){(uint32_t)size, SXS_RECORD_MARK, type};
    file.used += (uint32_t)size;
    return r;
}

static void begin(void)
{
    memset(&file, 0, sizeof(file));
    file.used = sizeof(struct sxs_chunk_header);
}

static int end(const char *dir, const char *name, const void *head, size_t head_size)
{
    struct sxs_chunk_header *c = (void *)file.chunk;
    static char              page[SXS_HEADER_SIZE];
    char                     path[4096];
    FILE                    *to;
    *c = (struct sxs_chunk_header){SXS_CHUNK_MAGIC, 0, file.used, 0};
    memset(page, 0, sizeof(page));
    memcpy(page, head, head_size);
    snprintf(path, sizeof(path), "%s/%u/%s", dir, PID, name);
    to = fopen(path, "wb");
    if (!to || fwrite(page, sizeof(page), 1, to) != 1 ||
        fwrite(file.chunk, sizeof(file.chunk), 1, to) != 1)
        return 1;
    return fclose(to) != 0;
}

static void method(uint32_t number, uint16_t runtime, const char *name)
{
    struct sxs_instrument_method *s = add(SXS_INSTRUMENT_METHOD, sizeof(*s) + 4 + strlen(name));
    s->number = number;
    s->runtime = runtime;
    s->token = 0x06000001 + number;
    s->assembly_size = 4;
    s->name_size = (uint16_t)strlen(name);
    memcpy(s->text, "shop", 4);
    memcpy(s->text + 4, name, s->name_size);
}

static void state(uint32_t number, enum sxs_instrumented_state what, const char *text)
{
    struct sxs_instrument_state *s = add(SXS_INSTRUMENT_STATE, sizeof(*s) + strlen(text));
    s->method = number;
    s->state = (uint8_t)what;
    s->size = (uint16_t)strlen(text);
    memcpy(s->text, text, s->size);
}

static int make_instrument_file(const char *dir)
{
    struct sxs_instrument_header  h = {.magic = SXS_INSTRUMENT_MAGIC,
                                       .version = SXS_INSTRUMENT_VERSION,
                                       .chunk_size = SXS_CHUNK_SIZE,
                                       .pid = PID,
                                       .started_ns = 1000,
                                       .started_tick = 1000,
                                       .seen_ns = 1000 + 100 * TICKS,
                                       .seen_tick = 1000 + 100 * TICKS,
                                       .n_chunks = 1,
                                       .max_chunks = 8};
    struct sxs_instrument_counts *c;
    struct sxs_instrument_label  *l;
    struct sxs_instrument_helper *helper;
    begin();
    method(0, 1, "Shop.Orders.Add");
    method(1, 2, "Shop.Orders.Add");
    method(2, 1, "Shop.Orders.Remove");
    for (uint32_t i = 0; i < 3; i++)
        state(i, SXS_INSTRUMENTED_PENDING, "orders, all");
    state(0, SXS_INSTRUMENTED_ACTIVE, "");
    state(2, SXS_INSTRUMENTED_FAILED, "it is static: there is no this");
    l = add(SXS_INSTRUMENT_LABEL, sizeof(*l) + 5);
    l->size = 5;
    memcpy(l->text, "added", 5);
    c = add(SXS_INSTRUMENT_COUNTS, sizeof(*c));
    c->counts[0] = (struct sxs_instrument_count){40, 40, 20, 40 * TICKS, 2, 40 * TICKS, 0};
    helper = add(SXS_INSTRUMENT_HELPER, sizeof(*helper) + 12);
    helper->threw = 2;
    helper->runtime = 1;
    helper->size = 12;
    memcpy(helper->text, "Hooks.M in x", 12);
    return end(dir, SXS_INSTRUMENT_FILE, &h, sizeof(h));
}

static void call(uint32_t n)
{
    uint64_t                 started = 2000 + n * TICKS, ended = started + (4 - n % 4) * TICKS - n % 4;
    char                     text[64];
    struct sxs_traced_enter *enter;
    struct sxs_traced_end   *end_of;
    size_t size = (size_t)snprintf(text, sizeof(text), "n = %u, s = \"s%u\"", n, n);
    enter = add(SXS_TRACED_ENTER, sizeof(*enter) + size);
    enter->started_tick = started;
    enter->tid = 100;
    enter->size = (uint32_t)size;
    memcpy(enter->text, text, size);
    end_of = add(SXS_TRACED_END, sizeof(*end_of) + 20);
    end_of->started_tick = started;
    end_of->ended_tick = ended;
    end_of->tid = 100;
    end_of->threw = n % 2;
    if (n % 2) {
        end_of->thrown_size = 10;
        memcpy(end_of->text, "Shop.Wrong", 10);
    } else {
        end_of->result_size = 4;
        end_of->after_size = 5;
        memcpy(end_of->text, "trueb = 2", 9);
    }
}

int main(int argc, char **argv)
{
    struct sxs_traced_header h = {.magic = SXS_TRACED_MAGIC,
                                  .version = SXS_TRACED_VERSION,
                                  .chunk_size = SXS_CHUNK_SIZE,
                                  .pid = PID,
                                  .n_chunks = 1,
                                  .max_chunks = 8,
                                  .lost = 7};
    char path[4096];
    if (argc != 2)
        return 2;
    mkdir(argv[1], 0777);
    snprintf(path, sizeof(path), "%s/%u", argv[1], PID);
    mkdir(path, 0777);
    if (make_instrument_file(argv[1]))
        return 1;
    begin();
    for (uint32_t i = 0; i < 40; i++)
        call(i);
    return end(argv[1], SXS_TRACED_FILE, &h, sizeof(h));
}
