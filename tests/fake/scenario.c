/* SPDX-License-Identifier: MIT */
/* scenario.c - runs a scenario, which is the "assembly" passed to coreclr_execute_assembly. It has
 * commands separated by ';' or newlines; docs/internals/fakeclr.md lists them. */
#include "tests/fake/fake.h"

#include <ctype.h>
#include <signal.h>
#include <sys/resource.h>

#define MAX_THREADS 256

struct scenario {
    struct fake_module *module;
    struct fake_class *type;
    struct fake_function *function; /* compiled last */
    struct fake_thread *threads[MAX_THREADS];
    unsigned n_threads, n_methods;
    unsigned exit_code;
    bool over;
};

typedef HRESULT command(struct scenario *s, unsigned long n, char **words);

static void need_method(struct scenario *s)
{
    if (!s->module)
        s->module = fake_module_load("/fake/App.dll");
    if (!s->type)
        s->type = fake_class_new(s->module, "Fake.App.Program", NULL, 0, NULL);
    if (s->function)
        return;
    s->function = fake_method_new(s->module, s->type, "Main", NULL, 0, 0, NULL);
    fake_jit(s->function);
}

static HRESULT do_modules(struct scenario *s, unsigned long n, char **words)
{
    (void)words;
    for (unsigned long i = 0; i < n; i++) {
        char path[64];
        snprintf(path, sizeof(path), "/fake/Module%lu.dll", i + 1);
        struct fake_module *module = fake_module_load(path);
        if (!module)
            return E_OUTOFMEMORY;
        if (module != s->module) {
            s->module = module;
            s->type = NULL;
        }
    }
    return S_OK;
}

static HRESULT do_jit(struct scenario *s, unsigned long n, char **words)
{
    (void)words;
    if (!s->module)
        s->module = fake_module_load("/fake/App.dll");
    if (!s->type)
        s->type = fake_class_new(s->module, "Fake.App.Program", NULL, 0, NULL);
    for (unsigned long i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof(name), "Method%u", ++s->n_methods);
        s->function = fake_method_new(s->module, s->type, name, NULL, 0, 0, NULL);
        HRESULT hr = s->function ? fake_jit(s->function) : E_OUTOFMEMORY;
        if (FAILED(hr))
            return hr;
    }
    return S_OK;
}

static HRESULT do_threads(struct scenario *s, unsigned long n, char **words)
{
    (void)words;
    for (unsigned long i = 0; i < n && s->n_threads < MAX_THREADS; i++) {
        struct fake_thread *thread = fake_thread_start(NULL, NULL);
        if (!thread)
            return E_OUTOFMEMORY;
        s->threads[s->n_threads++] = thread;
    }
    return S_OK;
}

static HRESULT do_join(struct scenario *s, unsigned long n, char **words)
{
    (void)n;
    (void)words;
    for (unsigned i = 0; i < s->n_threads; i++)
        fake_thread_stop(s->threads[i]);
    s->n_threads = 0;
    return S_OK;
}

static HRESULT do_gc(struct scenario *s, unsigned long n, char **words)
{
    (void)s;
    (void)words;
    int hung = 0;
    for (unsigned long i = 0; i < n && !hung; i++)
        hung = fake_gc((unsigned)(i % 3));
    return hung ? E_FAIL : S_OK;
}

static HRESULT do_throw(struct scenario *s, unsigned long n, char **words)
{
    (void)words;
    need_method(s);
    for (unsigned long i = 0; i < n; i++)
        fake_throw(s->function, s->function);
    return S_OK;
}

static HRESULT do_elt(struct scenario *s, unsigned long n, char **words)
{
    (void)words;
    need_method(s);
    for (unsigned long i = 0; i < n; i++)
        fake_elt(s->function, false);
    return S_OK;
}

static HRESULT do_objects(struct scenario *s, unsigned long n, char **words)
{
    (void)words;
    need_method(s);
    for (unsigned long i = 0; i < n; i++)
        fake_object_new(s->type);
    return S_OK;
}

struct descent {
    struct scenario *s;
    unsigned long left;
};

/* Each step adds a real frame of compiled code. The youngest throws an exception, which gives the
 * profiler an opportunity to walk the stack. */
static uint64_t descend(void *arg)
{
    struct descent *d = arg;
    uint64_t (*code)(uint64_t (*)(void *), void *) = NULL;
    uint8_t *at = fake_code_of(d->s->function);
    if (d->left-- == 0) {
        fake_throw(d->s->function, d->s->function);
        return 0;
    }
    memcpy(&code, &at, sizeof(code));
    return code(descend, d) + 1;
}

static HRESULT do_frames(struct scenario *s, unsigned long n, char **words)
{
    (void)words;
    need_method(s);
    struct descent d = {.s = s, .left = n < FAKE_MAX_FRAMES ? n : FAKE_MAX_FRAMES};
    descend(&d);
    return S_OK;
}

/* `hops N [OUT]`: N calls through the bridge from app to app. The last one prints the stack to
 * OUT.mixed and OUT.managed. */
static HRESULT do_hops(struct scenario *s, unsigned long n, char **words)
{
    need_method(s);
    return fake_hops(s->module, s->type, n, words[1] ? words[2] : NULL);
}

/* `calls SHAPE N [THREADS]`: hooked calls, see calls.c. */
static HRESULT do_calls(struct scenario *s, unsigned long n, char **words)
{
    (void)s;
    (void)n;
    unsigned long times = words[1] && words[2] ? strtoul(words[2], NULL, 10) : 1;
    unsigned long threads = words[1] && words[2] && words[3] ? strtoul(words[3], NULL, 10) : 0;
    return words[1] ? fake_calls(words[1], times, threads) : E_INVALIDARG;
}

/* `work SHAPE N [THREADS]`: methods with IL, see il_work.c. */
static HRESULT do_work(struct scenario *s, unsigned long n, char **words)
{
    (void)s;
    (void)n;
    unsigned long times = words[1] && words[2] ? strtoul(words[2], NULL, 10) : 1;
    unsigned long threads = words[1] && words[2] && words[3] ? strtoul(words[3], NULL, 10) : 1;
    return words[1] ? fake_il_work(words[1], times, threads) : E_INVALIDARG;
}

/* `edit FROM TO`: replaces TO by a copy of FROM, atomically. */
static HRESULT do_edit(struct scenario *s, unsigned long n, char **words)
{
    char temporary[512], bytes[4096];
    (void)s;
    (void)n;
    if (!words[1] || !words[2])
        return E_INVALIDARG;
    snprintf(temporary, sizeof(temporary), "%s.%p", words[2], (void *)&fake);
    FILE *in = fopen(words[1], "re"), *out = in ? fopen(temporary, "we") : NULL;
    for (size_t got; out && (got = fread(bytes, 1, sizeof(bytes), in)) > 0;)
        fwrite(bytes, 1, got, out);
    if (in)
        fclose(in);
    return out && fclose(out) == 0 && rename(temporary, words[2]) == 0 ? S_OK : E_FAIL;
}

static HRESULT do_known(struct scenario *s, unsigned long n, char **words)
{
    (void)s;
    (void)n;
    if (words[1])
        fake_known_to(words[1]);
    return words[1] ? S_OK : E_INVALIDARG;
}

/* `files N`: from now on no file of the process can grow beyond N MiB. Simulates a full disk. */
static HRESULT do_files(struct scenario *s, unsigned long n, char **words)
{
    (void)s;
    (void)words;
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
        return E_FAIL;
    limit.rlim_cur = n << 20;
    return setrlimit(RLIMIT_FSIZE, &limit) == 0 ? S_OK : E_FAIL;
}

static HRESULT do_sleep(struct scenario *s, unsigned long n, char **words)
{
    (void)s;
    (void)words;
    for (unsigned long i = 0; i < n; i++)
        fake_nap(1000);
    return S_OK;
}

static void *faulting_thread(void *arg)
{
    fake_faults((unsigned)(uintptr_t)arg);
    return NULL;
}

static HRESULT do_faults(struct scenario *s, unsigned long n, char **words)
{
    (void)s;
    (void)words;
    fake_faults((unsigned)n);
    return S_OK;
}

/* `thread-faults FAULTS THREADS`: raises faults on several threads concurrently. */
static HRESULT do_thread_faults(struct scenario *s, unsigned long n, char **words)
{
    (void)s;
    struct fake_thread *threads[64];
    unsigned long wanted = words[2] ? strtoul(words[2], NULL, 10) : 2, made = 0;
    for (; made < wanted && made < 64; made++) {
        threads[made] = fake_thread_start(faulting_thread, (void *)(uintptr_t)n);
        if (!threads[made])
            break;
    }
    for (unsigned long i = 0; i < made; i++)
        fake_thread_stop(threads[i]);
    return S_OK;
}

/* `fail METHOD [HRESULT [NTH]]` */
static HRESULT do_fail(struct scenario *s, unsigned long n, char **words)
{
    (void)s;
    (void)n;
    uint32_t hr = words[2] ? (uint32_t)strtoul(words[2], NULL, 0) : (uint32_t)E_FAIL;
    unsigned nth = words[2] && words[3] ? (unsigned)strtoul(words[3], NULL, 0) : 0;
    return words[1] ? fakeclr_control()->fail_call(words[1], (HRESULT)hr, nth) : E_INVALIDARG;
}

static HRESULT do_rejit(struct scenario *s, unsigned long n, char **words)
{
    (void)words;
    need_method(s);
    for (unsigned long i = 0; i < n; i++)
        fake_rejit(s->module, 0x06000000u | s->function->row);
    return S_OK;
}

static HRESULT do_unload(struct scenario *s, unsigned long n, char **words)
{
    (void)n;
    (void)words;
    if (s->module)
        fake_module_unload(s->module);
    s->module = NULL;
    s->type = NULL;
    s->function = NULL;
    return S_OK;
}

static HRESULT do_detach(struct scenario *s, unsigned long n, char **words)
{
    (void)s;
    (void)n;
    (void)words;
    return fake_profiler_detach();
}

static HRESULT do_exit(struct scenario *s, unsigned long n, char **words)
{
    (void)words;
    s->exit_code = (unsigned)n;
    s->over = true;
    return S_OK;
}

/* A crash in native code, which this runtime does not handle. */
static HRESULT do_segv(struct scenario *s, unsigned long n, char **words)
{
    (void)s;
    (void)n;
    (void)words;
    __asm__ volatile("movl $0, 0" ::: "memory");
    return S_OK;
}

static HRESULT do_abort(struct scenario *s, unsigned long n, char **words)
{
    (void)s;
    (void)n;
    (void)words;
    abort();
}

static HRESULT do_counts(struct scenario *s, unsigned long n, char **words)
{
    (void)s;
    (void)n;
    (void)words;
    struct fakeclr_counts c;
    fake_counts(&c);
    printf("fakeclr %s callbacks %llu modules %llu methods %llu threads %llu gcs %llu hangs %llu "
           "faults %llu chained %llu after-previous %llu activations %llu foreign %llu ids %llu\n",
           FAKECLR_VERSION, (unsigned long long)c.callbacks, (unsigned long long)c.modules,
           (unsigned long long)c.methods, (unsigned long long)c.threads,
           (unsigned long long)c.gcs, (unsigned long long)c.gc_hangs, (unsigned long long)c.faults,
           (unsigned long long)c.faults_chained, (unsigned long long)c.after_previous,
           (unsigned long long)c.activations, (unsigned long long)c.foreign_activations,
           (unsigned long long)c.foreign_ids);
    fflush(stdout);
    return S_OK;
}

static const struct {
    const char *name;
    command *run;
} commands[] = {
    {"modules", do_modules},
    {"jit", do_jit},
    {"threads", do_threads},
    {"join", do_join},
    {"gc", do_gc},
    {"throw", do_throw},
    {"elt", do_elt},
    {"objects", do_objects},
    {"frames", do_frames},
    {"hops", do_hops},
    {"calls", do_calls},
    {"work", do_work},
    {"edit", do_edit},
    {"known", do_known},
    {"files", do_files},
    {"sleep-ms", do_sleep},
    {"signal-faults", do_faults},
    {"thread-faults", do_thread_faults},
    {"fail", do_fail},
    {"rejit", do_rejit},
    {"unload", do_unload},
    {"detach", do_detach},
    {"exit", do_exit},
    {"segv", do_segv},
    {"abort", do_abort},
    {"counts", do_counts},
};

static HRESULT run_line(struct scenario *s, char *line)
{
    char *words[5] = {NULL}, *rest = NULL;
    unsigned n = 0;
    for (char *word = strtok_r(line, " \t\r", &rest); word && n < 4;
         word = strtok_r(NULL, " \t\r", &rest))
        words[n++] = word;
    if (n == 0 || words[0][0] == '#')
        return S_OK;
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(words[0], commands[i].name) != 0)
            continue;
        bool number = words[1] && isdigit((unsigned char)words[1][0]);
        return commands[i].run(s, number ? strtoul(words[1], NULL, 10) : 1, words);
    }
    fprintf(stderr, "fakeclr: unknown scenario command '%s'\n", words[0]);
    return E_INVALIDARG;
}

HRESULT fake_scenario_run(const char *text, unsigned *exit_code)
{
    struct scenario s = {0};
    char *copy = strdup(text), *rest = NULL;
    HRESULT hr = copy ? S_OK : E_OUTOFMEMORY;
    for (char *line = copy ? strtok_r(copy, ";\n", &rest) : NULL; line && SUCCEEDED(hr) && !s.over;
         line = strtok_r(NULL, ";\n", &rest))
        hr = run_line(&s, line);
    do_join(&s, 0, NULL);
    free(copy);
    *exit_code = s.exit_code;
    return hr;
}
