/* SPDX-License-Identifier: MIT */
#include "tools/calls/thread_state.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/session_state.h"

#define FIRST_FRAMES 4096u
#define MAX_FRAMES   (1u << 20)
#define FIRST_SLOTS  1024u
#define FIRST_FLAT   4096u

SXS_TLS struct sxs_calls_state *sxs_calls_state;
SXS_TLS struct sxs_calls_node **sxs_calls_flat;
SXS_TLS uint32_t                sxs_calls_n_flat;

static struct sxs_calls_header *header;
SXS_SESSION_KEEPS(header);
static pthread_key_t            at_end;
SXS_SESSION_KEEPS(at_end);
static _Atomic int              forgotten;
SXS_SESSION_KEEPS(forgotten);

/* Maps memory instead of using malloc(), because a hook may run while the thread holds malloc's
 * lock. */
static void *take_pages(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void give_back(void *at, size_t size)
{
    if (at)
        munmap(at, size);
}

/* Enlarges an array of @had items of @item bytes to @want items. The array may move. Returns NULL
 * and changes nothing when there is no memory. */
static void *lengthen_array(void *old, size_t had, size_t want, size_t item)
{
    void *at = old ? mremap(old, had * item, want * item, MREMAP_MAYMOVE) : take_pages(want * item);
    return at == MAP_FAILED ? NULL : at;
}

int sxs_calls_more_frames(struct sxs_calls_state *s)
{
    size_t                  had = s->frames ? (size_t)(s->limit - s->frames) + 1 : 0;
    size_t                  want = had ? had * 4 : FIRST_FRAMES;
    size_t                  at = s->frames ? (size_t)(s->top - s->frames) : 0;
    struct sxs_calls_frame *frames;
    if (want > MAX_FRAMES)
        return -1;
    frames = lengthen_array(s->frames, had, want, sizeof(*frames));
    if (!frames)
        return -1;
    s->frames = frames;
    s->limit = frames + want - 1;
    s->top = frames + at;
    return 0;
}

static void put_slot(struct sxs_calls_state *s, const struct sxs_calls_slot *slot)
{
    uint32_t i = sxs_calls_slot_of(s, slot->key);
    while (s->slots[i].node)
        i = (i + 1) & (s->n_slots - 1);
    s->slots[i] = *slot;
}

int sxs_calls_more_slots(struct sxs_calls_state *s)
{
    struct sxs_calls_slot *old = s->slots;
    uint32_t               n_old = s->n_slots, n = n_old ? n_old * 2 : FIRST_SLOTS;
    struct sxs_calls_slot *slots = take_pages(n * sizeof(*slots));
    if (!slots)
        return -1;
    s->slots = slots;
    s->n_slots = n;
    for (uint32_t i = 0; i < n_old; i++)
        if (old[i].node)
            put_slot(s, &old[i]);
    give_back(old, n_old * sizeof(*old));
    return 0;
}

static uint32_t enough_for(uint32_t had, uint32_t number)
{
    uint32_t want = had ? had : FIRST_FLAT;
    while (want <= number)
        want *= 2;
    return want;
}

int sxs_calls_more_flat(struct sxs_calls_state *s, uint32_t number)
{
    uint32_t                want = enough_for(s->n_flat, number);
    struct sxs_calls_node **flat = lengthen_array(s->flat, s->n_flat, want, sizeof(*flat));
    if (!flat)
        return -1;
    s->flat = sxs_calls_flat = flat;
    s->n_flat = sxs_calls_n_flat = want;
    return 0;
}

sxs_calls_ref sxs_calls_histogram(struct sxs_calls_state *s, const struct sxs_called *fn)
{
    struct sxs_calls_histogram *h;
    sxs_calls_ref               ref;
    if (fn->number >= s->n_histograms) {
        uint32_t       want = enough_for(s->n_histograms, fn->number);
        sxs_calls_ref *refs = lengthen_array(s->histograms, s->n_histograms, want, sizeof(*refs));
        if (!refs)
            return 0;
        s->histograms = refs;
        s->n_histograms = want;
    }
    if (s->histograms[fn->number])
        return s->histograms[fn->number];
    ref = sxs_calls_cells(&s->arena, sizeof(*h) / SXS_CALLS_CELL);
    if (!ref)
        return 0;
    h = sxs_calls_cell(ref);
    h->function = fn->cell;
    h->min = UINT64_MAX;
    s->histograms[fn->number] = ref;
    return ref;
}

void sxs_calls_more_events(struct sxs_calls_state *s)
{
    sxs_calls_ref ref = 0;
    if (atomic_fetch_add_explicit(&header->n_blocks, 1, memory_order_relaxed) < header->max_blocks)
        ref = sxs_calls_cells(&s->blocks, SXS_CALLS_BLOCK_CELLS);
    else
        s->tracing = SXS_TRACE_FULL;
    if (!ref) { /* no block now; if the file may still grow, a later call may get one */
        atomic_fetch_sub_explicit(&header->n_blocks, 1, memory_order_relaxed);
        return;
    }
    if (s->block)
        s->block->next = ref;
    else
        s->record->events = ref;
    s->block = sxs_calls_cell(ref);
    s->event = (struct sxs_calls_event *)(s->block + 1);
    s->event_end = s->event + SXS_CALLS_BLOCK_EVENTS;
}

void sxs_calls_note_text(struct sxs_calls_state *s, const struct sxs_calls_event *of,
                         const char *text, size_t size)
{
    struct sxs_calls_event  head = {of->tick, of->node, SXS_CALLS_TEXT | (uint32_t)size << 8};
    struct sxs_calls_event *e;
    size_t                  slots = 1 + SXS_CALLS_TEXT_SLOTS(size);
    if ((size_t)(s->event_end - s->event) < slots && s->tracing == SXS_TRACE_ON)
        sxs_calls_more_events(s);
    if ((size_t)(s->event_end - s->event) < slots) {
        atomic_fetch_add_explicit(&s->record->values_lost, 1, memory_order_relaxed);
        return;
    }
    e = s->event;
    s->event = e + slots;
    memcpy(e + 1, text, size);
    e->node = head.node;
    e->kind = head.kind;
    atomic_signal_fence(memory_order_release);
    e->tick = head.tick;
}

/* ---- start and end of a thread --------------------------------------------------------------- */

static void free_state(struct sxs_calls_state *s)
{
    give_back(s->frames, s->frames ? (size_t)(s->limit - s->frames + 1) * sizeof(*s->frames) : 0);
    give_back(s->slots, s->n_slots * sizeof(*s->slots));
    give_back(s->flat, s->n_flat * sizeof(*s->flat));
    give_back(s->histograms, s->n_histograms * sizeof(*s->histograms));
    give_back(s, sizeof(*s));
}

/* The thread's value of the key at_end is its state, or this: it was announced, and has none. */
static char announced;
SXS_SESSION_KEEPS(announced);

static void on_thread_end(void *arg)
{
    struct sxs_calls_state *s = arg;
    if (arg == &announced)
        return;
    pthread_setspecific(at_end, &announced); /* what ends later may still call hooked functions */
    sxs_calls_state = NULL;
    sxs_calls_flat = NULL;
    sxs_calls_n_flat = 0;
    if (!atomic_load(&forgotten)) {
        prctl(PR_GET_NAME, s->record->name);
        atomic_store(&s->record->ended_tick, sxs_tick());
        atomic_store(&s->record->ended, 1);
        sxs_calls_cells_end(&s->arena);
        sxs_calls_cells_end(&s->blocks);
    }
    free_state(s);
}

/* Makes the thread's record and root node, and adds the record to the header's list of threads.
 * Returns 0 or -1. */
static int enlist_state(struct sxs_calls_state *s)
{
    sxs_calls_ref record, root;
    s->arena.owner = s->blocks.owner = (uint32_t)syscall(SYS_gettid);
    s->tracing = header->max_blocks ? SXS_TRACE_ON : SXS_TRACE_OFF;
    record = sxs_calls_cells(&s->arena, sizeof(*s->record) / SXS_CALLS_CELL);
    root = record ? sxs_calls_cells(&s->arena, 1) : 0;
    if (!root)
        return -1;
    s->record = sxs_calls_cell(record);
    s->record->tid = s->arena.owner;
    s->record->root = root;
    s->record->started_tick = sxs_tick();
    prctl(PR_GET_NAME, s->record->name);
    s->frames[0] = (struct sxs_calls_frame){.sp = UINTPTR_MAX, .node = sxs_calls_cell(root)};
    s->record->next = atomic_load(&header->threads);
    while (!atomic_compare_exchange_weak(&header->threads, &s->record->next, record))
        ;
    return 0;
}

/* glibc has static room for 32 keys of a thread, and allocates room for further keys when the
 * thread first sets one of them. */
#define KEYS_IN_PLACE 32u

/* Setting the key here makes glibc allocate now. */
void sxs_calls_state_expect(void)
{
    if (!pthread_getspecific(at_end) && !atomic_load_explicit(&forgotten, memory_order_relaxed))
        pthread_setspecific(at_end, &announced);
}

/* A thread that starts while its runtime shuts down, or later, is not announced: setting the key would allocate. */
static int may_set_key(void)
{
    return at_end < KEYS_IN_PLACE || pthread_getspecific(at_end) != NULL;
}

struct sxs_calls_state *sxs_calls_state_get(void)
{
    struct sxs_calls_state *s = sxs_calls_state;
    if (s || atomic_load_explicit(&forgotten, memory_order_relaxed) || !may_set_key())
        return s;
    s = take_pages(sizeof(*s));
    if (!s)
        return NULL;
    s->cells = sxs_calls_cell(0);
    if (sxs_calls_more_frames(s) || sxs_calls_more_slots(s) || enlist_state(s) ||
        pthread_setspecific(at_end, s)) {
        atomic_fetch_add(&header->threads_lost, 1);
        free_state(s);
        return NULL;
    }
    sxs_calls_state = s;
    return s;
}

int sxs_calls_state_init(struct sxs_calls_header *h)
{
    header = h;
    return -pthread_key_create(&at_end, on_thread_end);
}

int sxs_calls_have_shadow(void)
{
    return header && header->mode != SXS_CALLS_COUNT;
}

void sxs_calls_state_forget(void)
{
    atomic_store(&forgotten, 1);
    sxs_calls_state = NULL; /* the file belongs to the parent: the child must not count in it */
    sxs_calls_flat = NULL;
    sxs_calls_n_flat = 0;
}
