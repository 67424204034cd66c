/* SPDX-License-Identifier: MIT */
/* test_thread_ends.c - a thread that has an in-flight exception ends after the runtime that threw it has been freed. */
#include <malloc.h>

#include "session/read/events_read.h"
#include "session/write/session_write.h"
#include "tests/unit/manager_fixture.h"
#include "tools/exceptions/exceptions.h"

#define FREED \
    0xa5 /* glibc fills freed memory with this value (mallopt); sanitizers report a read of freed memory */

static _Atomic int thrown, may_end, freed;

/* A tool whose subscription is released with the runtime. */
static HRESULT witness_start(struct sxs_sub *sub, const char *options)
{
    (void)sub, (void)options;
    return S_OK;
}

static void witness_release(struct sxs_sub *sub)
{
    (void)sub;
    atomic_store(&freed, 1);
}

static const struct sxs_events      nothing;
static const struct sxs_tool        witness = {.name = "witness",
                                               .always = 1,
                                               .on = &nothing,
                                               .start = witness_start,
                                               .release = witness_release};
static const struct sxs_tool *const tools[] = {&sxs_exceptions_tool, &witness};

static void *throw_and_outlive(void *unused)
{
    ModuleID module = eight.c->module_load("/app.dll");
    ClassID  type = eight.c->class_new(module, "App.Failure", 0, 0, NULL);
    fake_raise0(&eight, "ExceptionThrown", eight.c->object_new(type), 0);
    atomic_store(&thrown, 1);
    while (!atomic_load(&may_end))
        usleep(1000);
    return unused;
}

static struct sxs_events_data *read_back(void)
{
    struct sxs_events_data *e;
    char                    why[256] = "";
    const char             *path = sxs_session_folder("exceptions")->path;
    int                     fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(fd >= 0);
    CHECK_EQ(sxs_events_read(SXS_FILES_OF(fd), &e, why, sizeof(why)), 0);
    close(fd);
    return e;
}

static void outlived_body(void)
{
    struct sxs_events_data *e;
    pthread_t               thread;
    char                    dir[256];
    snprintf(dir, sizeof(dir), "%s", temporary());
    setenv("SXSPROF_OUT", dir, 1);
    setenv("SXSPROF_TOOLS", "exceptions", 1);
    mallopt(M_PERTURB, (unsigned char)~FREED); /* the complement is what memory is freed with */
    profile_without_signals(tools, ARRAY_LEN(tools));
    eight = fake_start("8.0");
    CHECK_EQ(pthread_create(&thread, NULL, throw_and_outlive, NULL), 0);
    while (!atomic_load(&thrown))
        usleep(1000);
    e = read_back();
    CHECK_EQ(e->n_exceptions, 1); /* under way */
    CHECK_EQ(e->n_throw_sites, 0);
    sxs_events_free(e);
    CHECK(!atomic_load(&freed));
    fake_end(&eight);
    CHECK(atomic_load(&freed));
    atomic_store(&may_end, 1);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    e = read_back();
    CHECK_EQ(e->n_throw_sites, 1);
    CHECK_EQ(e->throw_sites[0].n, 1);
    CHECK_EQ(strcmp(e->throw_sites[0].type, "App.Failure"), 0);
    CHECK_EQ(e->throw_sites[0].runtime, 1);
    CHECK_EQ(e->throw_sites[0].fate, SXS_FATE_NATIVE);
    sxs_events_free(e);
    remove_tree(dir);
}

static void an_exception_of_a_runtime_that_is_gone_is_counted(void **state)
{
    (void)state;
    PASSES(outlived_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_exception_of_a_runtime_that_is_gone_is_counted,
                               plain_environment),
    };
    return cmocka_run_group_tests_name("thread ends", tests, NULL, NULL);
}
