/* SPDX-License-Identifier: MIT */
/**
 * fake_host.h - helpers of the tests on simulated runtimes: child processes, checks, runtimes, a
 * profiler.
 *
 * The library decides most things once per process, so a test that needs another decision runs in a
 * forked child. A CHECK that fails prints its place and ends the process; it works on any thread.
 * Functions are inline, because some files do not use all of them.
 */
#ifndef FAKE_HOST_H
#define FAKE_HOST_H

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "callback/class_factory.h"
#include "tests/fake/fakeclr.h"
#include "include/sxsprof.h"
#include "base/log.h"
#include "manager/manager.h"

/* ---- checks and children --------------------------------------------------------------------- */

static int check_fd = STDERR_FILENO; /* standard error, also while it is captured */

static inline void check_failed(const char *file, int line, const char *what, long long a,
                                long long b)
{
    dprintf(check_fd, "%s:%d: %s: %lld (0x%llx), expected %lld (0x%llx)\n", file, line, what, a,
            (unsigned long long)a, b, (unsigned long long)b);
    _exit(99);
}

#define CHECK(cond) ((cond) ? (void)0 : check_failed(__FILE__, __LINE__, #cond, 0, 1))
#define CHECK_EQ(a, b)                                                        \
    do {                                                                      \
        long long check_a = (long long)(a), check_b = (long long)(b);         \
        if (check_a != check_b)                                               \
            check_failed(__FILE__, __LINE__, #a " == " #b, check_a, check_b); \
    } while (0)

/** Runs @body in a forked child, which calls exit(0) when @body returns. Returns its wait
 * status. */
static inline int child_status(void (*body)(void))
{
    int status = -1;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        static const int cmockas[] = {SIGSEGV, SIGFPE, SIGILL, SIGBUS, SIGSYS};
        for (unsigned i = 0; i < ARRAY_LEN(cmockas); i++) /* cmocka has handlers for these */
            signal(cmockas[i], SIG_DFL);
        alarm(600); /* for a body that hangs: a busy machine needs many times an idle one's time */
        body();
        exit(0);
    }
    while (waitpid(pid, &status, 0) < 0)
        continue;
    return status;
}

#define PASSES(body) assert_int_equal(child_status(body), 0)
#define ENDS_BY(body, sig)                    \
    do {                                      \
        int how = child_status(body);         \
        assert_true(WIFSIGNALED(how));        \
        assert_int_equal(WTERMSIG(how), sig); \
    } while (0)

/** Redirects standard error and standard output to memory until captured(). Both are redirected,
 *  because the library writes to a redirected standard error only when both are redirected to the
 *  same file. Calls do not nest. */
static int         capture_fd = -1, capture_stdout = -1;
static inline void capture(void)
{
    fflush(NULL);
    check_fd = dup(STDERR_FILENO);
    capture_stdout = dup(STDOUT_FILENO);
    capture_fd = memfd_create("stderr", MFD_CLOEXEC);
    CHECK(check_fd >= 0 && capture_stdout >= 0 && capture_fd >= 0);
    CHECK(dup2(capture_fd, STDERR_FILENO) >= 0 && dup2(capture_fd, STDOUT_FILENO) >= 0);
}

/** Ends the redirection. Returns the text written since capture(), at most 8 KiB; static buffer. */
static inline const char *captured(void)
{
    static char text[8192];
    fflush(NULL);
    ssize_t n = pread(capture_fd, text, sizeof(text) - 1, 0);
    dup2(check_fd, STDERR_FILENO);
    dup2(capture_stdout, STDOUT_FILENO);
    close(check_fd);
    close(capture_stdout);
    close(capture_fd);
    check_fd = STDERR_FILENO;
    text[n < 0 ? 0 : n] = '\0';
    return text;
}

static inline int lines_of(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* ---- files ----------------------------------------------------------------------------------- */

/** Returns the path of the file @name in the build folder; static buffer. */
static inline const char *built(const char *name)
{
    static char path[1024];
    char        self[512] = "";
    CHECK(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
    for (int up = 0; up < 2; up++) /* build/tests/test_x */
        *strrchr(self, '/') = '\0';
    snprintf(path, sizeof(path), "%s/%s", self, name);
    return path;
}

/** Makes a private folder below TMPDIR; remove it with remove_tree(). Static buffer. */
static inline const char *temporary(void)
{
    static char path[256];
    const char *tmp = getenv("TMPDIR");
    snprintf(path, sizeof(path), "%s/sxs_test_XXXXXX", tmp && *tmp ? tmp : "/tmp");
    CHECK(mkdtemp(path));
    return path;
}

static inline void remove_tree(const char *path)
{
    char command[600];
    snprintf(command, sizeof(command), "rm -rf '%s'", path);
    CHECK_EQ(system(command), 0);
}

/* ---- runtimes -------------------------------------------------------------------------------- */

struct fake_host {
    const struct fakeclr_control *c;
    HRESULT (*initialize)
    (const char *, const char *, int, const char **, const char **, void **, unsigned *);
    HRESULT (*execute)(void *, unsigned, int, const char **, const char *, unsigned *);
    HRESULT (*shutdown)(void *, unsigned, int *);
    void    *library, *host;
    unsigned domain;
    char     path[1024];
};

static inline void *fake_symbol(void *library, const char *name)
{
    void *at = dlsym(library, name);
    if (!at)
        dprintf(check_fd, "%s\n", dlerror());
    CHECK(at);
    return at;
}

static inline struct fake_host fake_load_path(const char *path)
{
    struct fake_host h = {.library = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    const struct fakeclr_control *(*control)(void);
    if (!h.library)
        dprintf(check_fd, "%s\n", dlerror());
    CHECK(h.library);
    *(void **)&control = fake_symbol(h.library, "fakeclr_control");
    *(void **)&h.initialize = fake_symbol(h.library, "coreclr_initialize");
    *(void **)&h.execute = fake_symbol(h.library, "coreclr_execute_assembly");
    *(void **)&h.shutdown = fake_symbol(h.library, "coreclr_shutdown_2");
    snprintf(h.path, sizeof(h.path), "%s", path);
    h.c = control();
    return h;
}

/** Loads the runtime of this version. There is one per version and process. */
static inline struct fake_host fake_load(const char *version)
{
    char name[64];
    snprintf(name, sizeof(name), "fakeclr/%s/libcoreclr.so", version);
    return fake_load_path(built(name));
}

static inline HRESULT fake_initialize(struct fake_host *h)
{
    return h->initialize("test", "test", 0, NULL, NULL, &h->host, &h->domain);
}

static inline struct fake_host fake_start(const char *version)
{
    struct fake_host h = fake_load(version);
    CHECK_EQ(fake_initialize(&h), S_OK);
    return h;
}

static inline struct fakeclr_counts fake_counts(const struct fake_host *h)
{
    struct fakeclr_counts n;
    h->c->counts(&n);
    return n;
}

/** Shuts the runtime down and checks that no reference and no object is left. */
static inline void fake_end(struct fake_host *h)
{
    int                   code;
    struct fakeclr_counts n;
    CHECK_EQ(h->shutdown(h->host, h->domain, &code), S_OK);
    n = fake_counts(h);
    CHECK_EQ(n.info_refs, 0);
    CHECK_EQ(n.live_objects, 0);
    CHECK_EQ(n.foreign_ids, 0);
    CHECK_EQ(n.beyond_version, 0);
}

static inline unsigned fake_run(struct fake_host *h, const char *scenario)
{
    unsigned code = 0;
    CHECK_EQ(h->execute(h->host, h->domain, 0, NULL, scenario, &code), S_OK);
    return code;
}

static inline HRESULT fake_raise0(const struct fake_host *h, const char *name, uint64_t a,
                                  uint64_t b)
{
    uint64_t args[10] = {a, b};
    return h->c->raise(name, 0, 10, args);
}

/* ---- the profiler: this program, with tools of the test -------------------------------------- */

/** Sets the variables of .NET Framework and of .NET. @path: a profiler path, see fakeclr.h. */
static inline void profile_with(const char *path)
{
    static const char *const kinds[] = {"COR", "CORECLR"};
    for (int i = 0; i < 2; i++) {
        char name[64];
        snprintf(name, sizeof(name), "%s_ENABLE_PROFILING", kinds[i]);
        setenv(name, "1", 1);
        snprintf(name, sizeof(name), "%s_PROFILER", kinds[i]);
        setenv(name, SXSPROF_CLSID, 1);
        snprintf(name, sizeof(name), "%s_PROFILER_PATH", kinds[i]);
        setenv(name, path, 1);
        snprintf(name, sizeof(name), "%s_PROFILER_PATH_64", kinds[i]);
        unsetenv(name);
    }
}

static const struct sxs_tool *const *profiler_tools;
static size_t                        n_profiler_tools;

__attribute__((visibility("default"))) HRESULT fake_host_class_object(const GUID *clsid,
                                                                      const GUID *iid, void **out);
HRESULT fake_host_class_object(const GUID *clsid, const GUID *iid, void **out)
{
    IClassFactory *factory = sxs_class_factory();
    (void)clsid;
    sxs_manager_init(profiler_tools, n_profiler_tools);
    return factory->vtbl->QueryInterface(factory, iid, out);
}

/** Makes this program the profiler of all runtimes started from now on, with these tools. */
static inline void profile_here(const struct sxs_tool *const *tools, size_t n)
{
    profiler_tools = tools;
    n_profiler_tools = n;
    profile_with("@program:fake_host_class_object");
}

/** Like profile_here(), and simulated runtimes register no signal handlers. */
static inline void profile_without_signals(const struct sxs_tool *const *tools, size_t n)
{
    setenv("FAKECLR_SIGNALS", "off", 1);
    profile_here(tools, n);
}

/** Removes all variables that have an effect on the library or on simulated runtimes. */
static inline int plain_environment(void **state)
{
    static const char *const names[] = {"SXSPROF_PICK",
                                        "SXSPROF_UNPICKED",
                                        "SXSPROF_TOOLS",
                                        "SXSPROF_OUT",
                                        "SXSPROF_SIGNALS",
                                        "SXSPROF_LOG",
                                        "FAKECLR_STRICT",
                                        "FAKECLR_LOG",
                                        "FAKECLR_FAIL",
                                        "FAKECLR_SIGNALS",
                                        "COMPLUS_ProfAPI_ProfilerCompatibilitySetting"};
    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        unsetenv(names[i]);
    return 0;
}

#endif
