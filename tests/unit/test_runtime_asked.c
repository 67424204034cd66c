/* SPDX-License-Identifier: MIT */
/*
 * test_runtime_asked.c - IL that asks in which runtime it runs, as on .NET Framework, instead of a marker per runtime:
 * RuntimeEnvironment.GetRuntimeInterfaceAsIntPtr(Guid.Empty, IID_ICLRRuntimeInfo), handed to native code. That code
 * has nothing but a version and a folder to find the runtime by.
 */
#include "tests/unit/manager_fixture.h"

#include "instr/il_assemble.h"
#include "instr/signature.h"
#include "rewrite/emit.h"

#define ENV "[mscorlib]System.Runtime.InteropServices.RuntimeEnvironment"

/* The same for every runtime: that is what it is for. */
static const char lines[] =
    "ldsfld valuetype [mscorlib]System.Guid [mscorlib]System.Guid::Empty\n"
    "ldstr \"{BD39D1D2-BA2F-486A-89B0-B4B0CB466891}\"\n"
    "newobj instance void [mscorlib]System.Guid::.ctor(string)\n"
    "call native int " ENV "::GetRuntimeInterfaceAsIntPtr(valuetype [mscorlib]System.Guid, "
    "valuetype [mscorlib]System.Guid)\n";

/* ---- what is called --------------------------------------------------------------------------- */

static struct sxs_runtime *expected; /* whose code runs */
static unsigned            n_calls, by_version, by_folder, unclear, wrong;

/* "v4.0.30319" is 4.0.30319, "8.0.0" is 8.0.0. */
static int is_version(const struct sxs_runtime *rt, const char *version)
{
    const char *own = sxs_runtime_version(rt);
    return strcmp(own + (own[0] == 'v'), version + (version[0] == 'v')) == 0;
}

static int is_folder(const struct sxs_runtime *rt, const char *folder)
{
    const char *path = sxs_runtime_path(rt), *slash = strrchr(path, '/');
    size_t      n = slash ? (size_t)(slash - path) + 1 : 0;
    return n && strncmp(path, folder, n) == 0 && !folder[n];
}

static void narrow(const WCHAR *wide, DWORD n, char *out, size_t size)
{
    size_t i = 0;
    for (; i < n && wide[i] && i + 1 < size; i++)
        out[i] = (char)wide[i];
    out[i] = '\0';
}

/* Those of the manager that @is holds for: how many, and one of them. */
static unsigned find(int (*is)(const struct sxs_runtime *, const char *), const char *text,
                     struct sxs_runtime **found)
{
    struct sxs_runtime *live[MAX_KEPT];
    size_t              n = sxs_runtimes_live(live, ARRAY_LEN(live));
    unsigned            fit = 0;
    for (size_t i = 0; i < n; i++) {
        if (is(live[i], text)) {
            *found = live[i];
            fit++;
        }
        sxs_runtime_unref(live[i]);
    }
    return fit;
}

/* By its real place in the table of functions, as native code that knows metahost.h has it. */
static void called_from(ICLRRuntimeInfo *info)
{
    WCHAR               wide[1024];
    DWORD               n = ARRAY_LEN(wide);
    char                text[1024];
    struct sxs_runtime *found = NULL;
    unsigned            fit;
    n_calls++;
    CHECK_EQ(info->vtbl->GetVersionString(info, wide, &n), S_OK);
    narrow(wide, n, text, sizeof(text));
    fit = find(is_version, text, &found);
    by_version += fit == 1;
    if (fit > 1) { /* the same of all of them */
        n = ARRAY_LEN(wide);
        CHECK_EQ(info->vtbl->GetRuntimeDirectory(info, wide, &n), S_OK);
        narrow(wide, n, text, sizeof(text));
        fit = find(is_folder, text, &found);
        by_folder += fit == 1;
        unclear += fit != 1;
    }
    wrong += fit == 1 && found != expected;
    info->vtbl->Release(info);
}

/* ---- the tool that writes it ------------------------------------------------------------------ */

static int weave(struct sxs_method *m)
{
    struct sxs_il_tokens   tokens = sxs_tokens_table(&m->tokens);
    struct sxs_il_source   source = {lines, m->il.n_locals, &tokens};
    struct sxs_il_fragment fragment;
    struct sxs_emit        e = {m, m->body->first};
    const uint8_t          element = SXS_ELEMENT_I;
    void (*function)(ICLRRuntimeInfo *) = called_from;
    return sxs_il_assemble(m->body, &source, &fragment, &m->error) ||
           sxs_il_insert_fragment(m->body, e.at, &fragment) ||
           sxs_emit_native(&e, (uintptr_t)function, SXS_ELEMENT_VOID, &element, 1);
}

static HRESULT set(struct sxs_method *m)
{
    sxs_module     module = m->tokens.module;
    const uint8_t *bytes;
    uint8_t       *copy;
    size_t         size;
    IMethodMalloc *memory;
    CHECK_EQ(sxs_method_write(m, &bytes, &size), 0);
    CHECK_EQ(sxs_method_close(m), S_OK);
    CHECK_EQ(sxs_info_GetILFunctionBodyAllocator(module.rt, module, &memory), S_OK);
    copy = memory->vtbl->Alloc(memory, (ULONG)size);
    CHECK(copy);
    memcpy(copy, bytes, size);
    return sxs_info_SetILFunctionBody(module.rt, module, m->token, copy);
}

static HRESULT compiling(struct sxs_sub *sub, sxs_function fn, BOOL safe)
{
    struct sxs_method *m = calloc(1, sizeof(*m));
    sxs_class          cls;
    sxs_module         module;
    mdToken            token;
    int                err;
    (void)safe;
    CHECK(m);
    CHECK_EQ(sxs_info_GetFunctionInfo(sub->rt, fn, &cls, &module, &token), S_OK);
    err = sxs_method_open(m, module, token) || weave(m);
    if (err)
        dprintf(check_fd, "%s %s\n", m->why, m->error.text);
    CHECK(!err);
    CHECK_EQ(set(m), S_OK);
    sxs_method_free(m);
    free(m);
    return S_OK;
}

static const struct sxs_events events = {.JITCompilationStarted = compiling};
static const struct sxs_tool   asker = {.name = "asker",
                                        .always = 1,
                                        .on = &events,
                                        .start = keeper_start,
                                        .stop = keeper_stop};
static const struct sxs_tool *const ask[] = {&asker};

static struct fake_host started(const char *path)
{
    struct fake_host h = fake_load_path(path);
    CHECK_EQ(fake_initialize(&h), S_OK);
    return h;
}

static const char *version_path(const char *version)
{
    char name[64];
    snprintf(name, sizeof(name), "fakeclr/%s/libcoreclr.so", version);
    return built(name);
}

static void begin(const char *answers)
{
    setenv("FAKECLR_RUNTIME_INFO", answers, 1);
    profile_without_signals(ask, ARRAY_LEN(ask));
}

static HRESULT call(struct fake_host *h, unsigned number, const char *scenario)
{
    unsigned code;
    expected = kept[number];
    return h->execute(h->host, h->domain, 0, NULL, scenario, &code);
}

/* ---- tests ------------------------------------------------------------------------------------ */

static void versions_body(void)
{
    begin("all");
    struct fake_host four = started(version_path("4.0"));
    eight = started(version_path("8.0"));
    nine = started(version_path("9.0"));
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(call(&nine, 3, "!work module 2; work call 5 1"), S_OK);
        CHECK_EQ(call(&four, 1, "!work module 1; work call 5 1"), S_OK);
        CHECK_EQ(call(&eight, 2, "!work module 1; work call 5 1"), S_OK);
    }
    CHECK_EQ(n_calls, 10 + 5 + 5 + 20 + 10 + 10);
    CHECK_EQ(by_version, n_calls);
    CHECK_EQ(wrong, 0);
    fake_end(&four);
    fake_end(&eight);
    fake_end(&nine);
}

static void the_version_tells_runtimes_of_different_versions(void **state)
{
    (void)state;
    PASSES(versions_body);
}

static const char *folder; /* of copies */

static const char *copy_to(const char *name)
{
    static char path[512];
    char        command[2048];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    snprintf(command, sizeof(command), "mkdir -p \"$(dirname %s)\" && cp %s %s", path,
             version_path("4.0"), path);
    CHECK_EQ(system(command), 0);
    return path;
}

static void same_version_body(void)
{
    begin("");
    struct fake_host one = started(copy_to("a/libcoreclr.so"));
    CHECK_EQ(call(&one, 1, "!work module 1; work call 5 1"), S_OK);
    CHECK_EQ(by_version, 5);
    struct fake_host two = started(copy_to("b/libcoreclr.so"));
    CHECK_EQ(call(&two, 2, "!work call 1; work module 1; work call 5 1"), S_OK);
    CHECK_EQ(call(&one, 1, "!work call 5 1"), S_OK); /* clear no longer, though nothing of it changed */
    CHECK_EQ(n_calls, 15);
    CHECK_EQ(by_version, 5);
    CHECK_EQ(by_folder, 10);
    CHECK_EQ(unclear + wrong, 0);
    fake_end(&one);
    fake_end(&two);
}

static void of_one_version_twice_the_folder_tells(void **state)
{
    (void)state;
    PASSES(same_version_body);
}

static void same_folder_body(void)
{
    begin("");
    struct fake_host one = started(copy_to("c/libcoreclr.so")),
                     two = started(copy_to("c/libcoreclr2.so"));
    CHECK_EQ(call(&one, 1, "!work module 1; work call 5 1"), S_OK);
    CHECK_EQ(call(&two, 2, "!work module 1; work call 5 1"), S_OK);
    CHECK_EQ(n_calls, 10);
    CHECK_EQ(unclear, 10); /* a marker would have told */
    fake_end(&one);
    fake_end(&two);
}

static void of_one_version_in_one_folder_nothing_tells(void **state)
{
    (void)state;
    PASSES(same_folder_body);
}

static int said(const struct fake_host *h, const char *text)
{
    const char *line;
    for (unsigned i = 0; (line = h->c->log_line(i)); i++)
        if (strstr(line, text))
            return 1;
    return 0;
}

static void others_body(void)
{
    begin("");
    struct fake_host two = started(version_path("2.0")), ten = started(version_path("10.0"));
    CHECK(FAILED(call(&two, 1, "!work module 1; work call 1 1")));
    CHECK(said(&two, "MissingMethodException"));
    CHECK(FAILED(call(&ten, 2, "!work module 1; work call 1 1")));
    CHECK(said(&ten, "PlatformNotSupportedException"));
    CHECK_EQ(n_calls, 0);
    fake_end(&two);
    fake_end(&ten);
}

static void other_runtimes_throw(void **state)
{
    (void)state;
    PASSES(others_body);
}

static int make_folder(void **state)
{
    (void)state;
    folder = strdup(temporary());
    return !folder;
}

static int remove_folder(void **state)
{
    (void)state;
    remove_tree(folder);
    free((void *)(uintptr_t)folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_version_tells_runtimes_of_different_versions, plain_environment),
        cmocka_unit_test_setup(of_one_version_twice_the_folder_tells, plain_environment),
        cmocka_unit_test_setup(of_one_version_in_one_folder_nothing_tells, plain_environment),
        cmocka_unit_test_setup(other_runtimes_throw, plain_environment),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
