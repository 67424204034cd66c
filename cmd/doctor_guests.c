/* SPDX-License-Identifier: MIT */
/* Examines the guests that SXSPROF_GUESTS declares, and what `adopt` would do here. Each library is
 * loaded in a process of its own, so that nothing of it stays. */
#include "base/env.h"
#include "base/named_profilers.h"
#include "cmd/doctor.h"
#include "cmd/guest_option.h"
#include "guests/config/list.h"
#include "manager/guid.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOAD_SECONDS 20u /* after which a library that does not return is given up */

static void put_problem(void *arg, const char *line)
{
    sxs_found_problem(arg, "SXSPROF_GUESTS: %s", line);
    sxs_found_advice("this guest is left out; correct it, or unset SXSPROF_GUESTS");
}

/* Loads the library and asks for its class. Runs in a process of its own; writes what is wrong to
 * @fd, nothing when all is well. */
static void try_library(const struct guest_declaration *d, int fd)
{
    HRESULT (*get)(const GUID *clsid, const GUID *iid, void **out);
    void   *library, *factory = NULL;
    GUID    class_factory; /* IClassFactory */
    HRESULT hr;
    int     null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < 3 && null >= 0; i++)
        dup2(null, i);
    alarm(LOAD_SECONDS);
    library = dlopen(d->path, RTLD_LAZY);
    if (!library) {
        dprintf(fd, "it cannot be loaded: %s", dlerror());
        return;
    }
    *(void **)&get = dlsym(library, "DllGetClassObject");
    if (!get) {
        dprintf(fd, "it exports no DllGetClassObject");
        return;
    }
    sxs_guid_parse("{00000001-0000-0000-C000-000000000046}", &class_factory);
    hr = get(&d->clsid, &class_factory, &factory);
    if (FAILED(hr) || !factory)
        dprintf(fd, "it has no class %s (0x%08x)", d->clsid_text, (unsigned)hr);
}

/* Returns 0 when the library can be loaded and has the class; else -1 after writing to @why. */
static int load_apart(const struct guest_declaration *d, char *why, size_t size)
{
    int     ends[2], status = 0;
    size_t  n = 0;
    ssize_t got;
    pid_t   child = pipe2(ends, O_CLOEXEC) == 0 ? fork() : -1;
    if (child < 0) {
        snprintf(why, size, "no process can be started to load it");
        return -1;
    }
    if (child == 0) {
        try_library(d, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    while (n < size - 1 && (got = TEMP_FAILURE_RETRY(read(ends[0], why + n, size - 1 - n))) > 0)
        n += (size_t)got;
    why[n] = '\0';
    close(ends[0]);
    TEMP_FAILURE_RETRY(waitpid(child, &status, 0));
    if (!n && WIFSIGNALED(status))
        snprintf(why, size, "it ended the process that loaded it (signal %d)", WTERMSIG(status));
    return why[0] ? -1 : 0;
}

static void examine_guest(struct sxs_findings *f, const struct guest_declaration *d)
{
    char why[PATH_MAX + 512];
    if (sxs_guest_check(d, why, sizeof(why)) != 0) {
        sxs_found_problem(f, "guest %s: %s", d->clsid_text, why);
        sxs_found_advice("correct its declaration; the other guests are used");
    } else if (load_apart(d, why, sizeof(why)) != 0) {
        sxs_found_problem(f, "guest %s: %s: %s", d->clsid_text, d->path, why);
        sxs_found_advice(
            "runtimes go on without it: install what it needs, or correct its path and "
            "its class");
    } else {
        sxs_found_ok("guest %s: %s can be loaded and has this class", d->clsid_text, d->path);
    }
}

/* `adopt` in a variable works only if the signal library is preloaded. */
static void examine_adopt(struct sxs_findings *f, const struct sxs_library *lib)
{
    const char *preload = sxs_env_named("LD_PRELOAD");
    if (preload && strstr(preload, SXS_PRELOAD_FILE)) {
        sxs_found_ok(
            "adopt: profilers that the environment of a process names run as guests there");
        return;
    }
    sxs_found_problem(f, "SXSPROF_GUESTS has adopt, but " SXS_PRELOAD_FILE " is not in LD_PRELOAD: "
                         "nothing is adopted");
    sxs_found_advice("set LD_PRELOAD=%s, or start the program with sxsprof and --adopt",
                     lib->preload);
}

void sxs_doctor_guests(struct sxs_findings *f, const struct sxs_library *lib)
{
    const char       *value = sxs_env_named("SXSPROF_GUESTS");
    struct guest_list list = {.n = 0};
    if (!value || !*value)
        return;
    sxs_found_title("Guests:");
    guest_list_read(&list, value, put_problem, f);
    for (unsigned i = 0; i < list.n; i++)
        examine_guest(f, &list.items[i]);
    if (list.adopt)
        examine_adopt(f, lib);
    guest_list_free(&list);
}
