/* SPDX-License-Identifier: MIT */
/* The library loads the engine's library, which offers what it says, and whose locks are initialized again in a
 * forked child. This program has the library's half alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <string.h>

#include "clrie/link/link.h"

static void the_library_is_loaded_once_and_offers_all(void **state)
{
    const struct clrie_offers *engine = clrie_link();
    void                      *factory = NULL;
    IProfilerManagerLogging   *log = NULL;
    (void)state;
    assert_non_null(engine);
    assert_ptr_equal(clrie_link(), engine);
    assert_true(engine->first_body && engine->hook && engine->use_hook && engine->string_free);
    assert_int_equal(engine->get_class_object(&IID_IUnknown, &IID_IClassFactory, &factory), S_OK);
    assert_non_null(factory);
    assert_int_equal(engine->log_instance(&log), S_OK);
    assert_int_equal(log->vtbl->Release(log), 0);
}

static void locks_are_free_in_a_forked_child(void **state)
{
    const struct clrie_offers *engine = clrie_link();
    int                        status, n_locked = 0;
    pid_t                      child;
    (void)state;
    assert_true(engine->locks_end - engine->locks >= 3);
    for (pthread_mutex_t *const *lock = engine->locks; lock < engine->locks_end; lock++)
        assert_int_equal(pthread_mutex_lock(*lock), 0);
    child = fork();
    if (child == 0) {
        for (pthread_mutex_t *const *lock = engine->locks; lock < engine->locks_end; lock++)
            n_locked += pthread_mutex_trylock(*lock) != 0;
        _exit(n_locked);
    }
    for (pthread_mutex_t *const *lock = engine->locks; lock < engine->locks_end; lock++)
        assert_int_equal(pthread_mutex_unlock(*lock), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_library_of_another_version_offers_nothing(void **state)
{
    Dl_info      file;
    void        *library;
    clrie_entry *entry;
    (void)state;
    assert_non_null(clrie_link());
    assert_true(dladdr(clrie_link(), &file));
    library = dlopen(file.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(library);
    *(void **)&entry = dlsym(library, CLRIE_ENTRY);
    assert_non_null(entry);
    assert_null(entry("0.0.0", NULL));
    dlclose(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_library_is_loaded_once_and_offers_all),
        cmocka_unit_test(locks_are_free_in_a_forked_child),
        cmocka_unit_test(a_library_of_another_version_offers_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
