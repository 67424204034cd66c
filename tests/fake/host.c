/* SPDX-License-Identifier: MIT */
/* host.c - the exported hosting functions, as declared in coreclrhost.h. */
#include "tests/fake/fake.h"

#include <sys/mman.h>

#define EXPORT __attribute__((visibility("default")))
#define FILE_NOT_FOUND HRESULT_WIN32_ERROR_FILE_NOT_FOUND

typedef void error_writer(const char *message);

EXPORT HRESULT coreclr_initialize(const char *exe_path, const char *domain_name, int n_properties,
                                  const char **keys, const char **values, void **host,
                                  unsigned *domain);
EXPORT HRESULT coreclr_execute_assembly(void *host, unsigned domain, int argc, const char **argv,
                                        const char *path, unsigned *exit_code);
EXPORT HRESULT coreclr_create_delegate(void *host, unsigned domain, const char *assembly,
                                       const char *type, const char *method, void **delegate);
EXPORT HRESULT coreclr_shutdown(void *host, unsigned domain);
EXPORT HRESULT coreclr_shutdown_2(void *host, unsigned domain, int *exit_code);
EXPORT HRESULT coreclr_set_error_writer(error_writer *writer);

static error_writer *write_error;
static unsigned last_exit_code;
static int host_token;

static void complain(const char *message)
{
    if (write_error)
        write_error(message);
}

static void *table(void)
{
    void *at = mmap(NULL, FAKE_MAX_ITEMS * sizeof(void *), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        perror("fakeclr: no address space");
        abort();
    }
    return at;
}

__attribute__((destructor)) static void tables_drop(void)
{
    if (fake.classes)
        munmap((void *)(uintptr_t)fake.classes, FAKE_MAX_ITEMS * sizeof(void *));
    if (fake.functions)
        munmap((void *)(uintptr_t)fake.functions, FAKE_MAX_ITEMS * sizeof(void *));
}

/* Reads FAKECLR_FAIL="SetEventMask=0x80004005@1,GetRuntimeInformation". It does the same as
 * fail_call() of the control table, for hosts that do not use that table. Without a value the
 * result is E_FAIL; without a count every call fails. */
static void failures_from_environment(void)
{
    const char *value = getenv("FAKECLR_FAIL");
    char *copy = value ? strdup(value) : NULL, *rest = NULL;
    for (char *item = copy ? strtok_r(copy, ",", &rest) : NULL; item;
         item = strtok_r(NULL, ",", &rest)) {
        char *nth = strchr(item, '@'), *hr = strchr(item, '=');
        if (nth)
            *nth++ = 0;
        if (hr)
            *hr++ = 0;
        uint32_t code = hr ? (uint32_t)strtoul(hr, NULL, 0) : (uint32_t)E_FAIL;
        unsigned count = nth ? (unsigned)strtoul(nth, NULL, 0) : 0;
        if (fakeclr_control()->fail_call(item, (HRESULT)code, count) != S_OK)
            fprintf(stderr, "fakeclr: FAKECLR_FAIL names no Info method: '%s'\n", item);
    }
    free(copy);
}

/* As in a CLR, signal handlers are installed before the profiler is loaded; the first domain and
 * thread are created after it. */
HRESULT coreclr_initialize(const char *exe_path, const char *domain_name, int n_properties,
                           const char **keys, const char **values, void **host, unsigned *domain)
{
    (void)exe_path;
    (void)domain_name;
    (void)n_properties;
    (void)keys;
    (void)values;
    int no = 0;
    if (!host || !domain)
        return E_INVALIDARG;
    if (!atomic_compare_exchange_strong(&fake.initialized, &no, 1)) {
        complain("fakeclr: a runtime can't be initialized twice");
        return E_FAIL;
    }
    fake_version_init();
    fake.classes = table();
    fake.functions = table();
    fake_code_init();
    fake_info_init();
    failures_from_environment();
    fake.domain = fake_alloc(sizeof(*fake.domain), FAKE_APPDOMAIN);
    fake_publish(&fake.domain->id);
    if (fake.signals)
        fake_signals_install();
    fake_profiler_startup();
    uint64_t id = (uint64_t)(uintptr_t)fake.domain;
    FAKE_RAISE(AppDomainCreationStarted, id);
    FAKE_RAISE(AppDomainCreationFinished, id, S_OK);
    fake_thread_attach();
    fake_module_load(fake.framework ? "/fake/mscorlib.dll" : "/fake/System.Private.CoreLib.dll");
    *host = &host_token;
    *domain = 1;
    return S_OK;
}

static bool usable(const void *host)
{
    return host == &host_token && atomic_load(&fake.initialized) && !atomic_load(&fake.shut_down);
}

/* @path is a scenario: a file name, or '!' and the text itself. */
HRESULT coreclr_execute_assembly(void *host, unsigned domain, int argc, const char **argv,
                                 const char *path, unsigned *exit_code)
{
    (void)domain;
    (void)argc;
    (void)argv;
    if (exit_code)
        *exit_code = (unsigned)-1;
    if (!usable(host) || !path)
        return E_INVALIDARG;
    unsigned code = 0;
    HRESULT hr;
    fake_thread_attach();
    if (*path == '!') {
        hr = fake_scenario_run(path + 1, &code);
    } else {
        FILE *file = fopen(path, "re");
        static const size_t max = 64 * 1024;
        char *text = file ? calloc(1, max + 1) : NULL;
        if (!text) {
            if (file)
                fclose(file);
            complain("fakeclr: no such scenario");
            return FILE_NOT_FOUND;
        }
        size_t len = fread(text, 1, max, file);
        text[len] = 0;
        fclose(file);
        hr = fake_scenario_run(text, &code);
        free(text);
    }
    if (FAILED(hr))
        complain("fakeclr: scenario not understood");
    last_exit_code = code;
    if (exit_code)
        *exit_code = code;
    return hr;
}

/* The delegate is compiled code: uint64_t delegate(uint64_t fn(void *), void *) calls fn(arg). */
HRESULT coreclr_create_delegate(void *host, unsigned domain, const char *assembly,
                                const char *type, const char *method, void **delegate)
{
    (void)domain;
    if (!usable(host) || !assembly || !type || !method || !delegate)
        return E_INVALIDARG;
    char path[160];
    snprintf(path, sizeof(path), "/fake/%.120s.dll", assembly);
    struct fake_module *module = NULL;
    unsigned n = atomic_load(&fake.n_modules);
    for (unsigned i = 0; i < n && i < 1024 && !module; i++) {
        struct fake_module *at = atomic_load(&fake.modules[i]);
        if (at && strcmp(at->path, path) == 0)
            module = at;
    }
    if (!module)
        module = fake_module_load(path);
    struct fake_class *owner = module ? fake_class_new(module, type, NULL, 0, NULL) : NULL;
    struct fake_function *function =
        owner ? fake_method_new(module, owner, method, NULL, 0, 0, NULL) : NULL;
    HRESULT hr = function ? fake_jit(function) : E_OUTOFMEMORY;
    *delegate = SUCCEEDED(hr) ? fake_code_of(function) : NULL;
    return hr;
}

HRESULT coreclr_shutdown_2(void *host, unsigned domain, int *exit_code)
{
    (void)domain;
    if (!usable(host))
        return E_INVALIDARG;
    if (exit_code)
        *exit_code = (int)last_exit_code;
    for (unsigned i = 0; i < atomic_load(&fake.n_threads) && i < FAKE_MAX_THREADS; i++) {
        struct fake_thread *thread = atomic_load(&fake.threads[i]);
        if (thread && !thread->body && thread->joinable)
            fake_thread_stop(thread);
    }
    atomic_store(&fake.shut_down, 1);
    if (atomic_load(&fake.phase) == FAKE_RUN) {
        FAKE_RAISE(Shutdown);
        fake_profiler_terminate(FAKECLR_SHUT_DOWN);
    }
    fake_calls_end();
    fake_known_write();
    return S_OK;
}

HRESULT coreclr_shutdown(void *host, unsigned domain)
{
    return coreclr_shutdown_2(host, domain, NULL);
}

HRESULT coreclr_set_error_writer(error_writer *writer)
{
    write_error = writer;
    return S_OK;
}
