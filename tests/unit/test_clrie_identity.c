/* SPDX-License-Identifier: MIT */
/* The library as the CLR Instrumentation Engine: its class, its exports, and a copy under its name in a
 * folder of its own. Each case runs in a process of its own, since a library that was asked for a class
 * stays loaded. */
#include <sys/wait.h>

#include "manager/guid.h"
#include "tests/unit/fake_host.h"

#define ENGINE_NAME  "libInstrumentationEngine.so"
#define ENGINE_CLASS "{324F817A-7420-4E6D-B3C1-143FBED6D855}"

typedef HRESULT get_class_object(const GUID *clsid, const GUID *iid, void **out);

static char folder[64], copy[96], alone[96];

/* Runs @work in a child. Returns its result: 0 when all is well. */
static int in_child(int (*work)(void))
{
    int   status;
    pid_t child = fork();
    if (child == 0)
        _exit(work());
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status))
        fail_msg("signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

/* Lets the child fail, with a line on standard error. */
#define MUST(condition)                                                               \
    do {                                                                              \
        if (!(condition)) {                                                           \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
            return 1;                                                                 \
        }                                                                             \
    } while (0)

static get_class_object *get_of(void *library)
{
    get_class_object *get = NULL;
    *(void **)&get = dlsym(library, "DllGetClassObject");
    return get;
}

static HRESULT ask(void *library, const char *class, IClassFactory **factory)
{
    GUID clsid;
    *factory = NULL;
    if (!sxs_guid_parse(class, &clsid))
        return E_FAIL;
    return get_of(library)(&clsid, &IID_IClassFactory, (void **)factory);
}

static int classes_of(const char *path)
{
    void                   *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    IClassFactory          *factory;
    ICorProfilerCallback11 *callback = NULL;
    MUST(library);
    MUST(ask(library, "{324F817A-7420-4E6D-B3C1-143FBED6D856}", &factory) ==
         CLASS_E_CLASSNOTAVAILABLE);
    MUST(ask(library, ENGINE_CLASS, &factory) == S_OK && factory);
    MUST(factory->vtbl->CreateInstance(factory, NULL, &IID_ICorProfilerCallback2,
                                       (void **)&callback) == S_OK);
    MUST(callback);
    MUST(ask(library, SXSPROF_CLSID, &factory) == S_OK && factory);
    return 0;
}

static int both_classes(void)
{
    return classes_of(built("libsxsprof.so"));
}

static int both_classes_of_the_copy(void)
{
    return classes_of(copy);
}

static void the_library_answers_to_both_classes(void **state)
{
    (void)state;
    assert_int_equal(in_child(both_classes), 0);
    assert_int_equal(in_child(both_classes_of_the_copy), 0);
}

/* As a plug-in finds the engine. */
static void *found(void)
{
    return dlopen(ENGINE_NAME, RTLD_NOLOAD | RTLD_LAZY);
}

static int name_of_the_copy(void)
{
    IClassFactory *factory;
    void          *library = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
    MUST(library);
    MUST(ask(library, ENGINE_CLASS, &factory) == S_OK);
    MUST(found() == library);
    MUST(dlsym(found(), "GetInstrumentationEngineLogger"));
    return 0;
}

static int name_by_the_link(void)
{
    IClassFactory *factory;
    void          *library = dlopen(built("libsxsprof.so"), RTLD_NOW | RTLD_LOCAL);
    MUST(library);
    setenv("SXSPROF_METHODS", "/nowhere/config.xml", 1);
    MUST(ask(library, SXSPROF_CLSID, &factory) == S_OK);
    MUST(found() == library);
    return 0;
}

static int no_name_without_plug_ins(void)
{
    IClassFactory *factory;
    void          *library = dlopen(built("libsxsprof.so"), RTLD_NOW | RTLD_LOCAL);
    MUST(library);
    MUST(ask(library, SXSPROF_CLSID, &factory) == S_OK);
    MUST(!found());
    return 0;
}

static void plug_ins_find_the_library_by_the_engine_s_name(void **state)
{
    (void)state;
#ifdef SXS_SANITIZED
    skip(); /* the sanitizer calls dlopen() for the library, so the library's run path is not used */
#endif
    assert_int_equal(in_child(name_of_the_copy), 0);
    assert_int_equal(in_child(name_by_the_link), 0);
    assert_int_equal(in_child(no_name_without_plug_ins), 0);
}

static int exports(void)
{
    void *library = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
    HRESULT (*logger)(IProfilerManagerLogging **) = NULL;
    HRESULT (*free_string)(WCHAR *) = NULL;
    IProfilerManagerLogging *log = NULL, *second = NULL;
    LoggingFlags             flags = 9;
    char                     path[96], line[64] = "";
    FILE                    *f;
    MUST(library);
    *(void **)&logger = dlsym(library, "GetInstrumentationEngineLogger");
    *(void **)&free_string = dlsym(library, "InstrumentationEngineFreeString");
    MUST(logger && free_string);
    MUST(free_string(NULL) == S_FALSE);
    MUST(logger(NULL) == E_POINTER);
    /* Before any engine exists, which ends CLRIE's process. */
    snprintf(path, sizeof(path), "%s/log.txt", folder);
    setenv("MicrosoftInstrumentationEngine_LogLevel", "Dumps", 1);
    setenv("MicrosoftInstrumentationEngine_FileLogPath", path, 1);
    MUST(logger(&log) == S_OK && log);
    MUST(logger(&second) == S_OK && second);
    MUST(log->vtbl->GetLoggingFlags(log, &flags) == S_OK && flags == 4);
    MUST(log->vtbl->Release(log) == 0);
    static const WCHAR text[] = {'h', 'i', 0};
    MUST(second->vtbl->LogDumpMessage(second, text) == S_OK);
    f = fopen(path, "r");
    MUST(f && fgets(line, sizeof(line), f) && strcmp(line, "hi\n") == 0);
    MUST(second->vtbl->Release(second) == 0);
    return 0;
}

static void the_exports_work_before_any_engine_exists(void **state)
{
    (void)state;
    assert_int_equal(in_child(exports), 0);
}

/* Without the engine's library beside it. */
static int exports_alone(void)
{
    IProfilerManagerLogging *log = NULL;
    HRESULT (*logger)(IProfilerManagerLogging **) = NULL;
    IClassFactory *factory;
    char           lines[2048];
    int            ends[2], n, n_lines = 0;
    void          *library;
    MUST(pipe2(ends, O_NONBLOCK) == 0 && dup2(ends[1], STDERR_FILENO) >= 0);
    library = dlopen(alone, RTLD_NOW | RTLD_LOCAL);
    MUST(library);
    *(void **)&logger = dlsym(library, "GetInstrumentationEngineLogger");
    setenv("SXSPROF_METHODS", "/nowhere/config.xml", 1);
    MUST(logger(&log) == E_FAIL && !log);
    MUST(logger(&log) == E_FAIL && !log);
    MUST(ask(library, SXSPROF_CLSID, &factory) == S_OK && factory);
    n = (int)read(ends[0], lines, sizeof(lines) - 1);
    lines[n > 0 ? n : 0] = '\0';
    for (const char *at = lines; (at = strstr(at, "are left out: ")) != NULL; at++)
        n_lines++;
    return n_lines == 1 && strstr(lines, "/alone/libsxsprof-clrie.so: ") ? 0 : 2;
}

static void without_the_engine_s_library_the_plug_ins_are_left_out(void **state)
{
    (void)state;
    assert_int_equal(in_child(exports_alone), 0);
}

static int copy_library(void **state)
{
    char command[5000], made[] = "/tmp/sxsprof-test-XXXXXX";
    int  n;
    (void)state;
    if (!mkdtemp(made))
        return -1;
    snprintf(folder, sizeof(folder), "%s", made);
    snprintf(copy, sizeof(copy), "%s/" ENGINE_NAME, folder);
    snprintf(alone, sizeof(alone), "%s/alone/libsxsprof.so", folder);
    n = snprintf(command, sizeof(command), "cp '%s' '%s' && mkdir '%s/alone' && cp '%s' '%s' && ",
                 built("libsxsprof.so"), copy, folder, copy, alone);
    snprintf(command + n, sizeof(command) - (size_t)n, "cp '%s' '%s'", built("libsxsprof-clrie.so"),
             folder);
    return system(command);
}

static int remove_folder(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_library_answers_to_both_classes),
        cmocka_unit_test(plug_ins_find_the_library_by_the_engine_s_name),
        cmocka_unit_test(the_exports_work_before_any_engine_exists),
        cmocka_unit_test(without_the_engine_s_library_the_plug_ins_are_left_out),
    };
    return cmocka_run_group_tests(tests, copy_library, remove_folder);
}
