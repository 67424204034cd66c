/* SPDX-License-Identifier: MIT */
/* test_collections.c - garbage collections that begin and end on several threads at the same time are counted correctly. */
#include <malloc.h>

#include "manager/runtime_internal.h"
#include "session/read/events_read.h"
#include "session/write/session_write.h"
#include "tests/unit/fake_host.h"
#include "tools/events/events.h"
#include "tests/unit/sanitized.h"

#define ROUNDS 20
/* A thread ends its round after it has seen MEETINGS changes of the other thread's counter, or has done COLLECTIONS of its
 * own (with one processor, the threads seldom meet), or when the other thread has ended its round. */
#define MEETINGS    20000
#define COLLECTIONS 1000000

static struct sxs_runtime runtime = {.number = 1, .info_version = 9};
static struct sxs_sub     sub = {.rt = &runtime};
static _Atomic int        ready, over;
static _Atomic unsigned   done[2]; /* collections of each thread */

static void begin(void)
{
    BOOL generations[3] = {1, 0, 0};
    sxs_events_tool.on->GarbageCollectionStarted(&sub, 3, generations, COR_PRF_GC_OTHER);
}

static void end(void)
{
    sxs_events_tool.on->GarbageCollectionFinished(&sub);
}

static size_t n_recorded(void)
{
    struct sxs_events_data *e;
    char                    why[256] = "";
    size_t                  n;
    int fd = open(sxs_session_folder("events")->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(fd >= 0);
    CHECK_EQ(sxs_events_read(SXS_FILES_OF(fd), &e, why, sizeof(why)), 0);
    CHECK_EQ(e->head.lost, 0);
    n = e->n_spans;
    sxs_events_free(e);
    close(fd);
    return n;
}

/* Only the two outermost collections are recorded: further ones only count. So of two that have begun before the others
 * both ends are recorded if the count is right after the others; with any other count, fewer are. */
static void ends_are_recorded(size_t before)
{
    CHECK_EQ(n_recorded(), before);
    end();
    CHECK_EQ(n_recorded(), before + 1);
    end();
    CHECK_EQ(n_recorded(), before + 2);
    end(); /* one too many: the count is 0 */
    CHECK_EQ(n_recorded(), before + 2);
}

static const char *start_tool(void)
{
    const char *dir = temporary();
    sxs_session_open(dir);
    sub.tool = &sxs_events_tool;
    CHECK_EQ(sxs_events_tool.start(&sub, ""), S_OK);
    return dir;
}

/* ---- on two threads --------------------------------------------------------------------------- */

static void *collect(void *counter)
{
    _Atomic unsigned *others = counter == &done[0] ? &done[1] : &done[0];
    unsigned          met = 0, last = 0;
    atomic_fetch_add(&ready, 1);
    while (atomic_load(&ready) < 2)
        continue;
    for (unsigned n = 1; n <= COLLECTIONS && met < MEETINGS && !atomic_load(&over); n++) {
        unsigned now;
        begin();
        end();
        atomic_store_explicit((_Atomic unsigned *)counter, n, memory_order_relaxed);
        now = atomic_load_explicit(others, memory_order_relaxed);
        met += now != last;
        last = now;
    }
    atomic_store(&over, 1);
    return NULL;
}

static void on_two_threads(void)
{
    pthread_t threads[2];
    atomic_store(&ready, 0);
    atomic_store(&over, 0);
    for (int i = 0; i < 2; i++) {
        atomic_store(&done[i], 0);
        CHECK_EQ(pthread_create(&threads[i], NULL, collect, &done[i]), 0);
    }
    for (int i = 0; i < 2; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
}

static void counted_body(void)
{
    const char *dir = start_tool();
    for (size_t round = 0; round < ROUNDS; round++) {
        begin();
        begin();
        on_two_threads();
        ends_are_recorded(2 * round);
    }
    sxs_events_tool.release(&sub);
    remove_tree(dir);
}

static void collections_on_two_threads_are_counted_in_and_out(void **state)
{
    (void)state;
    PASSES(counted_body);
}

/* ---- one collection begins in the middle of another one's end --------------------------------- */

static char        *page; /* of the tool's state: written to, it faults */
static size_t       page_size;
static volatile int meanwhile;

/* The end of a collection is about to write, after it has read: here another thread's collection begins. */
static void begin_meanwhile(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    if ((char *)info->si_addr < page || (char *)info->si_addr >= page + page_size)
        _exit(98);
    mprotect(page, page_size, PROT_READ | PROT_WRITE);
    meanwhile++;
    begin();
}

/* The state, in a page of its own. */
static void move_state(void)
{
    size_t size = malloc_usable_size(sub.state);
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    CHECK(size > 0 && size <= page_size);
    page = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED);
    memcpy(page, sub.state, size);
    free(sub.state);
    sub.state = page;
}

static void meanwhile_body(void)
{
    const char      *dir = start_tool();
    struct sigaction on_fault = {.sa_sigaction = begin_meanwhile, .sa_flags = SA_SIGINFO};
    move_state();
    CHECK_EQ(sigaction(SIGSEGV, &on_fault, NULL), 0);
    begin();
    begin();
    begin();
    CHECK_EQ(mprotect(page, page_size, PROT_READ), 0);
    end();
    CHECK_EQ(meanwhile, 1);
    end(); /* of the one that began meanwhile */
    ends_are_recorded(0);
    sub.state = NULL; /* release() would free it */
    sxs_events_tool.release(&sub);
    remove_tree(dir);
}

static void a_collection_that_begins_while_another_ends_is_counted(void **state)
{
    (void)state;
    skip_under_thread_sanitizer("it holds a lock of its own where the operation is interrupted");
    PASSES(meanwhile_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(collections_on_two_threads_are_counted_in_and_out,
                               plain_environment),
        cmocka_unit_test_setup(a_collection_that_begins_while_another_ends_is_counted,
                               plain_environment),
    };
    return cmocka_run_group_tests_name("collections", tests, NULL, NULL);
}
