/* SPDX-License-Identifier: MIT */
/*
 * il_work.c - the scenario command `work SHAPE N [THREADS]`: modules whose methods have IL are
 * loaded, called and unloaded. Calls that run IL from the profiler are counted, so that a test can
 * compare the number with the profiler's own count. Shapes:
 *
 *   module N       one more module with N methods Fake.Work.Methods.M0...
 *   collectible N  the same in a collectible assembly
 *   call N T       T threads call every method N times
 *   new, original  calls all methods until each, or none, runs IL from the profiler
 *   churn N T      T threads load a collectible module, call its methods and unload it, N times each
 *   said           prints one line: calls, those of them that ran new IL, and uses of ModuleIDs
 *                  after their unload
 */
#include "tests/fake/fake.h"

#include <time.h>

#define MAX_METHODS 4096
static struct fake_function *methods[MAX_METHODS];
static unsigned n_methods; /* methods of modules that are not unloaded */
static _Atomic int wrong;

static struct fake_module *load(struct fake_function **out, unsigned n, bool collectible)
{
    struct fake_module *module = fake_module_new("/fake/Work.dll");
    struct fake_class *type =
        module ? fake_class_new(module, "Fake.Work.Methods", NULL, 0, NULL) : NULL;
    if (module)
        module->collectible = collectible;
    for (unsigned i = 0; type && i < n; i++) {
        char name[16];
        snprintf(name, sizeof(name), "M%u", i);
        out[i] = fake_il_method_new(module, type, name);
        if (!out[i])
            return NULL;
    }
    if (type)
        fake_module_announce(module);
    return type ? module : NULL;
}

static void call_one(struct fake_function *function, uint64_t argument)
{
    uint64_t result = ~argument;
    if (!fake_il_call(function, argument, &result) || result != argument)
        atomic_store(&wrong, 1);
}

static void *caller(void *arg)
{
    for (unsigned long i = 0; i < (uintptr_t)arg; i++)
        for (unsigned k = 0; k < n_methods; k++)
            call_one(methods[k], i);
    return NULL;
}

static void *churner(void *arg)
{
    for (unsigned long i = 0; i < (uintptr_t)arg; i++) {
        struct fake_function *own[4];
        struct fake_module *module = load(own, 4, true);
        for (unsigned k = 0; module && k < 40; k++)
            call_one(own[k % 4], k);
        if (module)
            fake_module_unload(module);
    }
    return NULL;
}

static HRESULT on_threads(void *(*body)(void *), unsigned long n, unsigned long threads)
{
    struct fake_thread *all[64];
    unsigned long made = 0;
    for (; made < threads && made < 64; made++) {
        all[made] = fake_thread_start(body, (void *)(uintptr_t)n);
        if (!all[made])
            break;
    }
    for (unsigned long i = 0; i < made; i++)
        fake_thread_stop(all[i]);
    return atomic_load(&wrong) ? E_FAIL : S_OK;
}

static bool all_are(bool new)
{
    for (unsigned k = 0; k < n_methods; k++)
        if ((atomic_load(&methods[k]->now) || atomic_load(&methods[k]->first)) != new)
            return false;
    return true;
}

static HRESULT until(bool new)
{
    time_t end = time(NULL) + 30;
    while (!all_are(new) && time(NULL) < end) {
        caller((void *)(uintptr_t)1);
        fake_nap(1000);
    }
    return all_are(new) && !atomic_load(&wrong) ? S_OK : E_FAIL;
}

static HRESULT one_more(unsigned n, bool collectible)
{
    if (n_methods + n > MAX_METHODS)
        return E_OUTOFMEMORY;
    struct fake_module *module = load(methods + n_methods, n, collectible);
    n_methods += n;
    return module ? S_OK : E_OUTOFMEMORY;
}

HRESULT fake_il_work(const char *shape, unsigned long n, unsigned long threads)
{
    if (strcmp(shape, "module") == 0)
        return one_more((unsigned)n, false);
    if (strcmp(shape, "collectible") == 0)
        return one_more((unsigned)n, true);
    if (strcmp(shape, "call") == 0)
        return on_threads(caller, n, threads);
    if (strcmp(shape, "churn") == 0)
        return on_threads(churner, n, threads);
    if (strcmp(shape, "new") == 0)
        return until(true);
    if (strcmp(shape, "original") == 0)
        return until(false);
    if (strcmp(shape, "said") != 0)
        return E_INVALIDARG;
    printf("fakeclr %s il calls %llu new %llu unloaded %llu\n", FAKECLR_VERSION,
           (unsigned long long)atomic_load(&fake.il_calls),
           (unsigned long long)atomic_load(&fake.il_calls_new),
           (unsigned long long)atomic_load(&fake.unloaded_ids));
    fflush(stdout);
    return S_OK;
}
