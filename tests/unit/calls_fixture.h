/* SPDX-License-Identifier: MIT */
/* calls_fixture.h - a file "calls" and functions for simulated calls, without any runtime. */
#ifndef CALLS_FIXTURE_H
#define CALLS_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "elt/calls_hooks.h"
#include "session/read/calls_read.h"
#include "tools/calls/exceptions.h"
#include "tools/calls/functions.h"
#include "tools/calls/thread_state.h"

#define N_FUNCTIONS 8

static struct sxs_calls_header *head;
static struct sxs_called        called[N_FUNCTIONS];
static char                     folder[] = "/tmp/test-calls-XXXXXX";
static int                      folder_fd = -1;
static struct sxs_folder        opened;

static void remove_folder(void)
{
    unlinkat(folder_fd, SXS_CALLS_FILE, 0);
    close(folder_fd);
    rmdir(folder);
}

/* Makes the file and N_FUNCTIONS functions, named "a", "b", ... A process can have one such
 * file. */
static int make_file(void **state)
{
    static struct sxs_calls_arena arena;
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    folder_fd = open(folder, O_RDONLY | O_DIRECTORY);
    if (sxs_folder_open(&opened, folder))
        return -1;
    head = sxs_calls_file_create(&opened, 64u << 20);
    if (!head || sxs_calls_state_init(head))
        return -1;
    head->mode = SXS_CALLS_TREE;
    head->started_ns = 1000;
    head->started_tick = 1000;
    atomic_store(&head->seen_ns, UINT64_C(1) << 62); /* one tick is one nanosecond */
    atomic_store(&head->seen_tick, UINT64_C(1) << 62);
    for (unsigned i = 0; i < N_FUNCTIONS; i++) {
        sxs_calls_ref              ref = sxs_calls_cells(&arena, 2);
        struct sxs_calls_function *r = sxs_calls_cell(ref);
        r->next = atomic_load(&head->functions);
        r->number = i;
        r->runtime = 1;
        r->function = 0x1000 + i;
        r->name_size = 1;
        r->text[0] = (char)('a' + i);
        atomic_store(&head->functions, ref);
        called[i] = (struct sxs_called){.number = i, .cell = ref, .runtime = 1,
                                        .id = 0x1000 + i, .record = r};
    }
    return 0;
}

static int drop_file(void **state)
{
    (void)state;
    remove_folder();
    return 0;
}

__attribute__((unused)) static struct sxs_calls *read_file(void)
{
    struct sxs_calls *c;
    char              why[200];
    assert_int_equal(sxs_calls_read(SXS_FILES_OF(folder_fd), &c, why, sizeof(why)), 0);
    assert_int_equal(c->n_problems, 0);
    return c;
}

/* Body of a test on its own thread, which has a new thread state. cmocka's assertions work on the
 * main thread only, so the body returns the text of a failed condition, or NULL. */
typedef const char *(*calls_test)(void);
static void *call_test(void *test)
{
    calls_test f;
    memcpy(&f, &test, sizeof(f));
    return (void *)(uintptr_t)f();
}

static void on_thread(calls_test test)
{
    pthread_t thread;
    void     *arg, *said;
    memcpy(&arg, &test, sizeof(arg));
    assert_int_equal(pthread_create(&thread, NULL, call_test, arg), 0);
    assert_int_equal(pthread_join(thread, &said), 0);
    if (said)
        fail_msg("not so: %s", (const char *)said);
}

#define STRING(x)  STRING2(x)
#define STRING2(x) #x
#define SO(condition)                                       \
    do {                                                    \
        if (!(condition))                                   \
            return __FILE__ ":" STRING(__LINE__) ": " #condition; \
    } while (0)

#endif
