/* SPDX-License-Identifier: MIT */
/* test_tool_sessions.c - the tools that share the file "events" end before their runtime and start
 * again: each session has the same records from the same events, and nothing is left behind. */
#include "tests/unit/fake_host.h"

#include <dirent.h>
#include <limits.h>
#include <sys/socket.h>

#include "base/session_state.h"
#include "manager/runtime_internal.h"
#include "session/format/chunks.h"
#include "session/format/events.h"
#include "session/write/session_write.h"
#include "tools/events/events.h"
#include "tools/exceptions/exceptions.h"
#include "tools/gc/gc.h"

#define SESSIONS   3
#define EXCEPTIONS 5

/* ---- a tool that keeps its runtime ------------------------------------------------------------ */

static struct sxs_runtime *rt;

static HRESULT start_keeper(struct sxs_sub *sub, const char *options)
{
    (void)options;
    rt = sub->rt;
    return S_OK;
}

static const struct sxs_tool        keeper = {.name = "keeper", .always = 1, .start = start_keeper};
static const struct sxs_tool *const keepers[] = {&keeper};

/* ---- the file --------------------------------------------------------------------------------- */

static unsigned n_of[SXS_EVENT_RECORD_LAST + 1]; /* records of each type in the last file */

static void count_chunk(const unsigned char *chunk)
{
    uint32_t used;
    memcpy(&used, chunk + offsetof(struct sxs_chunk_header, used), sizeof(used));
    for (uint32_t off = sizeof(struct sxs_chunk_header); off < used && off < SXS_CHUNK_SIZE;) {
        struct sxs_record r;
        memcpy((void *)&r, chunk + off, sizeof(r));
        CHECK_EQ(r.mark, SXS_RECORD_MARK);
        if (r.type && r.type <= SXS_EVENT_RECORD_LAST)
            n_of[r.type]++;
        off += r.size;
    }
}

/* Reads and removes the file, which must be complete. */
static void read_file(void)
{
    static unsigned char     chunk[SXS_CHUNK_SIZE];
    struct sxs_events_header header;
    char                     path[PATH_MAX + 16];
    FILE                    *f;
    snprintf(path, sizeof(path), "%s/%s", sxs_session_folder(NULL)->path, SXS_EVENTS_FILE);
    f = fopen(path, "r");
    CHECK(f != NULL);
    CHECK_EQ(fread(&header, sizeof(header), 1, f), 1);
    CHECK(header.ended_ns >= header.started_ns);
    memset(n_of, 0, sizeof(n_of));
    CHECK_EQ(fseek(f, SXS_HEADER_SIZE, SEEK_SET), 0);
    for (uint32_t i = 0; i < header.n_chunks; i++) {
        CHECK_EQ(fread(chunk, sizeof(chunk), 1, f), 1);
        count_chunk(chunk);
    }
    CHECK_EQ(fread(chunk, 1, 1, f), 0); /* nothing is after the last chunk */
    fclose(f);
    CHECK_EQ(unlink(path), 0);
}

static int is_mapped(const char *name)
{
    char  line[PATH_MAX + 128];
    int   found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    while (fgets(line, sizeof(line), maps))
        found |= strstr(line, name) != NULL;
    fclose(maps);
    return found;
}

static unsigned count_entries(const char *path)
{
    unsigned n = 0;
    DIR     *dir = opendir(path);
    CHECK(dir != NULL);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

/* A thread that has been joined may be listed for a moment. */
static unsigned count_threads(unsigned most)
{
    unsigned n = count_entries("/proc/self/task");
    for (int i = 0; i < 1000 && n > most; i++) {
        usleep(1000);
        n = count_entries("/proc/self/task");
    }
    return n;
}

/* ---- events ----------------------------------------------------------------------------------- */

enum { THROW, SPAN, COLLECT, N_TOOLS };
static const struct sxs_tool *const tools[N_TOOLS] = {&sxs_exceptions_tool, &sxs_events_tool,
                                                      &sxs_gc_tool};
static struct sxs_sub subs[N_TOOLS];

static void throw_some(void)
{
    const struct sxs_sub *s = &subs[THROW];
    for (int i = 0; i < EXCEPTIONS; i++) {
        s->on->ExceptionThrown(&subs[THROW], (sxs_object){rt, 0x1000});
        s->on->ExceptionSearchFunctionEnter(&subs[THROW], (sxs_function){rt, 0x77});
        s->on->ExceptionSearchCatcherFound(&subs[THROW], (sxs_function){rt, 0x77});
        s->on->ExceptionUnwindFunctionEnter(&subs[THROW], (sxs_function){rt, 0x77});
        s->on->ExceptionCatcherEnter(&subs[THROW], (sxs_function){rt, 0x77},
                                     (sxs_object){rt, 0x1000});
        s->on->ExceptionCatcherLeave(&subs[THROW]);
    }
    /* Is in flight when the session ends. */
    s->on->ExceptionThrown(&subs[THROW], (sxs_object){rt, 0x2000});
}

static void do_the_rest(void)
{
    BOOL collected[5] = {1, 1, 0, 0, 0};
    subs[SPAN].on->ThreadCreated(&subs[SPAN], (sxs_thread){rt, 0x55});
    subs[SPAN].on->RuntimeSuspendStarted(&subs[SPAN], COR_PRF_SUSPEND_FOR_GC);
    subs[SPAN].on->RuntimeResumeFinished(&subs[SPAN]);
    subs[SPAN].on->JITCompilationStarted(&subs[SPAN], (sxs_function){rt, 0x99}, 1); /* is open */
    subs[COLLECT].on->GarbageCollectionStarted(&subs[COLLECT], 5, collected, COR_PRF_GC_INDUCED);
    subs[COLLECT].on->GarbageCollectionFinished(&subs[COLLECT]);
}

static void *run_events(void *unused)
{
    (void)unused;
    throw_some();
    do_the_rest();
    return NULL;
}

/* A thread of the program that lives longer than the sessions, and ends with an exception of the last
 * session in flight. */
static int steps[2];

static void *long_thread(void *unused)
{
    char step;
    (void)unused;
    while (read(steps[0], &step, 1) == 1 && step == 'g') {
        throw_some();
        CHECK_EQ(write(steps[0], "d", 1), 1);
    }
    return NULL;
}

static void run_session(void)
{
    pthread_t short_one;
    char      done;
    for (unsigned i = 0; i < N_TOOLS; i++) {
        subs[i] = (struct sxs_sub){.tool = tools[i], .on = tools[i]->on, .rt = rt};
        CHECK_EQ(tools[i]->restarts, 1);
        CHECK_EQ(tools[i]->start(&subs[i], ""), S_OK);
    }
    CHECK(is_mapped("/" SXS_EVENTS_FILE));
    CHECK_EQ(pthread_create(&short_one, NULL, run_events, NULL), 0);
    CHECK_EQ(pthread_join(short_one, NULL), 0);
    CHECK_EQ(write(steps[1], "g", 1), 1);
    CHECK_EQ(read(steps[1], &done, 1), 1);
    for (unsigned i = N_TOOLS; i-- > 0;)
        if (tools[i]->stop)
            tools[i]->stop(&subs[i], SXS_STOP_SESSION);
    for (unsigned i = N_TOOLS; i-- > 0;)
        if (tools[i]->release)
            tools[i]->release(&subs[i]);
    for (unsigned i = N_TOOLS; i-- > 0;)
        tools[i]->end_session();
    sxs_session_state_reset();
}

/* The runtime of before .NET 5 has no EventPipe: collections come by callbacks. */
static void sessions_body(void)
{
    const char      *path = temporary();
    struct fake_host h;
    pthread_t        other;
    unsigned         first[SXS_EVENT_RECORD_LAST + 1], threads;
    setenv("SXSPROF_OUT", path, 1);
    CHECK_EQ(sxs_session_state_save(), 0);
    profile_without_signals(keepers, ARRAY_LEN(keepers));
    h = fake_load("3.1");
    CHECK_EQ(fake_initialize(&h), S_OK);
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, steps), 0);
    CHECK_EQ(pthread_create(&other, NULL, long_thread, NULL), 0);
    run_session();
    read_file();
    memcpy(first, n_of, sizeof(first));
    threads = count_threads(0);
    CHECK(n_of[SXS_EVENT_EXCEPTION] > EXCEPTIONS && n_of[SXS_EVENT_THROW_SITE] >= 1);
    CHECK(n_of[SXS_EVENT_SPAN] >= 2 && n_of[SXS_EVENT_COLLECTION] == 1);
    for (int i = 1; i < SESSIONS; i++) {
        run_session();
        CHECK(!is_mapped("/" SXS_EVENTS_FILE));
        CHECK(count_threads(threads) <= threads);
        read_file();
        for (unsigned type = 0; type < ARRAY_LEN(first); type++)
            CHECK_EQ(n_of[type], first[type]);
    }
    CHECK_EQ(write(steps[1], "e", 1), 1); /* its exceptions are in no file any more */
    CHECK_EQ(pthread_join(other, NULL), 0);
    remove_tree(path); /* the runtime is not ended: it would complain of IDs that it does not know */
}

static void each_session_has_the_records_of_its_own_events(void **state)
{
    (void)state;
    PASSES(sessions_body);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(each_session_has_the_records_of_its_own_events),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
