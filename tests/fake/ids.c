/* SPDX-License-Identifier: MIT */
/* ids.c - one reserved address range for all objects that IDs point to. */
#include "tests/fake/fake.h"

#include <sys/mman.h>

#define ARENA_SIZE ((size_t)1 << 30) /* address space; memory is used when a page is touched */
#define ARENA_STEP 64
#define MAGIC 0xFA4EC142u

struct fake fake = {
    .thread_lock = PTHREAD_MUTEX_INITIALIZER,
    .gc_lock = PTHREAD_MUTEX_INITIALIZER,
    .unload_lock = PTHREAD_MUTEX_INITIALIZER,
    .code_lock = PTHREAD_MUTEX_INITIALIZER,
    .log_lock = PTHREAD_MUTEX_INITIALIZER,
    .code_fd = -1,
};
__thread struct fake_thread *fake_self;
__thread unsigned fake_in_callback;

/* Never unmapped: at the end of the process other threads may still ask for IDs, as real runtimes allow. */
static uint8_t *arena;
static _Atomic size_t arena_used;
static pthread_once_t arena_once = PTHREAD_ONCE_INIT;

static void arena_make(void)
{
    void *at = mmap(NULL, ARENA_SIZE, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        perror("fakeclr: no address space");
        abort();
    }
    arena = at;
}

void *fake_alloc(size_t size, enum fake_kind kind)
{
    pthread_once(&arena_once, arena_make);
    size = (size + ARENA_STEP - 1) & ~(size_t)(ARENA_STEP - 1);
    size_t at = atomic_fetch_add(&arena_used, size);
    if (at + size > ARENA_SIZE) {
        fputs("fakeclr: out of objects\n", stderr);
        abort();
    }
    struct fake_id *id = (struct fake_id *)(void *)(arena + at);
    if (kind)
        id->kind = kind;
    return id;
}

void fake_publish(struct fake_id *id)
{
    atomic_store_explicit(&id->magic, MAGIC, memory_order_release);
}

void *fake_find(uint64_t id, enum fake_kind kind)
{
    uint64_t base = (uint64_t)(uintptr_t)arena;
    if (base && id >= base && id < base + atomic_load(&arena_used) && id % ARENA_STEP == 0) {
        struct fake_id *own = (struct fake_id *)(uintptr_t)id;
        if (atomic_load_explicit(&own->magic, memory_order_acquire) == MAGIC && own->kind == kind)
            return own;
    }
    atomic_fetch_add(&fake.foreign_ids, 1);
    fake_log("ID 0x%llx is not one of this runtime", (unsigned long long)id);
    if (fake.strict)
        abort();
    return NULL;
}

struct fake_module *fake_find_module(uint64_t id)
{
    struct fake_module *module = fake_find(id, FAKE_MODULE);
    if (!module || !atomic_load(&module->unloaded))
        return module;
    atomic_fetch_add(&fake.unloaded_ids, 1);
    fake_log("module 0x%llx has been unloaded", (unsigned long long)id);
    if (fake.strict)
        abort();
    return NULL;
}
