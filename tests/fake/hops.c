/* SPDX-License-Identifier: MIT */
/* hops.c - calls from app to app through the bridge; the last call prints the stack. */
#include "tests/fake/fake.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include "harness/bridge/bridge.h"

enum { KINDS = 3 };

/* The methods of this library's app. One call chain runs at a time. */
static struct {
    uint8_t *code[KINDS]; /* machine code of Arrive, Pass, Leave: each makes a real frame */
    void (*hop)(int, int, long);
    const char *out; /* files OUT.mixed and OUT.managed; NULL: standard output, mixed only */
} app;

struct step {
    int depth, max;
    long arg;
    int at; /* index in app.code of the next method */
};

static void print_stack(const char *mode)
{
    int (*print)(int, const char *) = NULL;
    const char *path = getenv("CORECLR_PROFILER_PATH");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    char name[512];
    if (library)
        *(void **)&print = dlsym(library, "sxsprof_print_stack");
    if (!print)
        return;
    snprintf(name, sizeof(name), "%s.%s", app.out ? app.out : "", mode);
    int fd = app.out ? open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : STDOUT_FILENO;
    if (fd >= 0)
        print(fd, mode);
    if (app.out && fd >= 0)
        close(fd);
    dlclose(library);
}

static uint64_t descend(void *arg)
{
    struct step *step = arg;
    uint64_t (*code)(uint64_t (*)(void *), void *) = NULL;
    if (step->at < KINDS) {
        memcpy(&code, &app.code[step->at++], sizeof(code));
        return code(descend, step) + 1;
    }
    if (step->depth < step->max) {
        app.hop(step->depth, step->max, step->arg);
        return 1;
    }
    print_stack("mixed");
    if (((const char *)step->arg)[0])
        print_stack("managed");
    return 1;
}

static void entry(int depth, int max, long arg)
{
    struct step step = {depth, max, arg, 0};
    const char *out = (const char *)arg;
    app.out = out[0] ? out : NULL;
    fake_thread_attach();
    descend(&step);
}

HRESULT fake_hops(struct fake_module *module, struct fake_class *type, unsigned long n,
                  const char *out)
{
    static const char *const names[KINDS] = {"Arrive", "Pass", "Leave"};
    void *bridge = dlopen("libsxsbridge.so", RTLD_NOW | RTLD_NOLOAD);
    int (*join)(sxsbridge_entry) = NULL;
    int (*leave)(void) = NULL;
    if (!bridge) {
        fprintf(stderr, "fakeclr: hops: the bridge is not loaded (runsxs --bridge)\n");
        return E_FAIL;
    }
    *(void **)&join = dlsym(bridge, "sxsbridge_join");
    *(void **)&leave = dlsym(bridge, "sxsbridge_leave");
    *(void **)&app.hop = dlsym(bridge, "sxsbridge_hop");
    for (int i = 0; i < KINDS; i++) {
        struct fake_function *function = fake_method_new(module, type, names[i], NULL, 0, 0, NULL);
        if (!function || FAILED(fake_jit(function)))
            return E_OUTOFMEMORY;
        app.code[i] = fake_code_of(function);
    }
    int index = join(entry);
    if (index < 0)
        return E_FAIL;
    if (index == 0)
        entry(0, (int)n, (long)(out ? out : ""));
    return leave() == 0 ? S_OK : E_FAIL;
}
