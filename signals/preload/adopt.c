/* SPDX-License-Identifier: MIT */
/*
 * adopt.c - changes the environment of a process that starts, so that profilers which it names run
 * as guests of this one.
 *
 * A script inside the command may set CORECLR_PROFILER after sxsprof did. The constructor below
 * runs in each program that the script starts, before a runtime copies the environment. It changes
 * entries of `environ` in place and allocates nothing, because the allocator of the program may not
 * be ready. No entry is added: SXSPROF_GUESTS and CORECLR_PROFILER are there, and
 * CORECLR_PROFILER_PATH takes the place of the variable that had the other profiler's path.
 */
#include "signals/preload/adopt.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/env.h"
#include "base/log.h"
#include "base/named_profilers.h"
#include "include/sxsprof.h"
#include "signals/router.h"

#define ITEM_MAX 8192u /* bytes of a variable that is changed; with more, nothing is adopted */

_Atomic int adopt_watches;

#define PREFIX "sxsprof: CORECLR_PROFILER names another profiler in this process, "

/* Why another profiler's runtimes are not profiled. */
static const char *left_out = PREFIX
    "set after sxsprof started: its runtimes are not profiled; sxsprof record --adopt runs both";

/* The changed entries of `environ`, "NAME=VALUE". */
static char guests_entry[4 * ITEM_MAX], path_entry[ITEM_MAX];
static char clsid_entry[] = "CORECLR_PROFILER=" SXSPROF_CLSID;

/* ---- entries of the environment ----------------------------------------------------------------- */

static int entry_is(const char *entry, const char *name)
{
    size_t len = strlen(name);
    return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

/* Replaces the entry of variable @name by @entry, or removes it when @entry is NULL. */
static void set_entry(const char *name, char *entry)
{
    char **to = environ;
    for (char **from = environ; *from; from++) {
        if (!entry_is(*from, name)) {
            *to++ = *from;
        } else if (entry) {
            *to++ = entry;
            entry = NULL;
        }
    }
    *to = NULL;
}

/* Returns 1 when SXSPROF_GUESTS has the item `adopt`. */
static int is_wanted(const char *guests)
{
    while (*guests) {
        size_t n = 0;
        while (guests[n] && guests[n] != ';')
            n += guests[n] == '\\' && guests[n + 1] ? 2 : 1;
        if (n == strlen("adopt") && strncmp(guests, "adopt", n) == 0)
            return 1;
        guests += n;
        guests += *guests == ';';
    }
    return 0;
}

/* ---- guests_entry ------------------------------------------------------------------------------- */

/* Returns 1 when the list has the declaration @item already, with any options. */
static int is_listed(const char *list, const char *item)
{
    size_t len = strlen(item);
    for (const char *at = list; at; at = strchr(at, ';'), at += at != NULL)
        if (strncasecmp(at, item, SXS_CLSID_LENGTH) == 0 &&
            strncmp(at + SXS_CLSID_LENGTH, item + SXS_CLSID_LENGTH, len - SXS_CLSID_LENGTH) == 0 &&
            (!at[len] || at[len] == ',' || at[len] == ';'))
            return 1;
    return 0;
}

/* Appends the declaration of a profiler. Returns 0, or -1 when there is no room. */
static int append_guest(const struct sxs_named_profiler *p)
{
    static char item[2 * ITEM_MAX];
    char       *to = item, *list = strchr(guests_entry, '=') + 1;
    size_t      used = strlen(guests_entry);
    if (p->path_len >= ITEM_MAX - 2 * SXS_CLSID_LENGTH)
        return -1;
    memcpy(to, p->clsid, SXS_CLSID_LENGTH);
    to += SXS_CLSID_LENGTH;
    *to++ = '=';
    for (size_t i = 0; i < p->path_len; i++) {
        if (strchr(",;\\", p->path[i]))
            *to++ = '\\';
        *to++ = p->path[i];
    }
    *to = '\0';
    if (strncasecmp(item, SXSPROF_CLSID, SXS_CLSID_LENGTH) == 0 || is_listed(list, item))
        return 0;
    if (used + strlen(item) + 2 > sizeof(guests_entry))
        return -1;
    snprintf(guests_entry + used, sizeof(guests_entry) - used, ";%s", item);
    return 0;
}

/* ---- the change ----------------------------------------------------------------------------------- */

/* Makes "CORECLR_PROFILER_PATH=" with the profiler library beside this one. Returns 0, or -1. */
static int make_path_entry(void)
{
    Dl_info     self;
    const char *slash;
    int         n;
    if (!dladdr((void *)(uintptr_t)make_path_entry, &self) || !self.dli_fname ||
        self.dli_fname[0] != '/')
        return -1;
    slash = strrchr(self.dli_fname, '/');
    n = snprintf(path_entry, sizeof(path_entry), "CORECLR_PROFILER_PATH=%.*s/libsxsprof.so",
                 (int)(slash - self.dli_fname), self.dli_fname);
    return n > 0 && (size_t)n < sizeof(path_entry) && access(strchr(path_entry, '=') + 1, R_OK) == 0
               ? 0
               : -1;
}

/* Reads the first bytes of a file. Returns its size, or -1. */
static off_t read_beginning(const char *path, char *bytes, size_t size)
{
    struct stat st = {.st_size = -1};
    int         fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) != 0 || read(fd, bytes, size) != (ssize_t)size)
        st.st_size = -1;
    close(fd);
    return st.st_size;
}

/* Tells whether @path is the library @own or a copy of it, as a product has that uses this library as
 * libInstrumentationEngine.so. The beginning of a library has its build ID. */
static int is_copy(const char *path, const char *own)
{
    static char a[4096], b[4096];
    off_t       size;
    if (strcmp(path, own) == 0)
        return 1;
    size = read_beginning(path, a, sizeof(a));
    return size >= 0 && size == read_beginning(own, b, sizeof(b)) && memcmp(a, b, sizeof(a)) == 0;
}

/* Puts this profiler in the place of the main one. */
static void replace_main(void)
{
    const char *first = NULL;
    for (const char *const *path = sxs_profiler_paths; *path; path++) {
        if (!sxs_env_named(*path))
            continue;
        if (first)
            set_entry(*path, NULL);
        else
            first = *path;
    }
    if (first) /* sxs_main_profiler() has found one */
        set_entry(first, path_entry);
    set_entry("CORECLR_PROFILER", clsid_entry);
}

/* Tells whether a runtime would load this profiler from the environment as it is now. */
static int is_ours(void)
{
    const char *clsid = sxs_env_named("CORECLR_PROFILER");
    return clsid && strcasecmp(clsid, SXSPROF_CLSID) == 0;
}

/* Returns 0, or -1 when the variables are longer than this library can change. */
static int adopt(const char *guests)
{
    struct sxs_named_profiler p;
    const char               *more = sxs_notification_profilers();
    int                       main_one = sxs_main_profiler(SXSPROF_CLSID, &p);
    size_t                    before;
    if (!main_one && (!more || !is_ours()))
        return 0;
    if (strlen(guests) >= ITEM_MAX)
        return -1;
    snprintf(guests_entry, sizeof(guests_entry), "SXSPROF_GUESTS=%s", guests);
    before = strlen(guests_entry);
    if (main_one && make_path_entry() != 0)
        return -1;
    /* A script that sets the class alone has left this profiler's path. */
    if (main_one && !is_copy(p.path, strchr(path_entry, '=') + 1) && append_guest(&p) != 0)
        return -1;
    while (more && sxs_next_profiler(&more, &p))
        if (append_guest(&p) != 0)
            return -1;
    if (strlen(guests_entry) > before)
        set_entry("SXSPROF_GUESTS", guests_entry);
    if (main_one)
        replace_main();
    if (sxs_notification_profilers())
        for (const char *const *name = sxs_notification_lists; *name; name++)
            set_entry(*name, NULL);
    return 0;
}

__attribute__((constructor)) static void start(void)
{
    const char *guests = sxs_env_get(SXS_ENV_GUESTS);
    if (guests && is_wanted(guests) && adopt(guests) != 0)
        left_out =
            PREFIX "which --adopt cannot run as well: the variables that name profilers are longer "
                   "than 8,000 bytes, or libsxsprof.so is not beside the preloaded library; its "
                   "runtimes are not profiled";
    atomic_store(&adopt_watches, sxs_env_get(SXS_ENV_OUT) != NULL);
}

/* ---- without adopt ------------------------------------------------------------------------------- */

/* Leaves the reason why this process is not recorded in the session, for its reports: standard error may be read by
 * nobody, as that of test hosts. The process has a folder there with nothing but the file "log". Only
 * system calls: the allocator may not be ready. */
static void leave_note(void)
{
    struct stat st;
    char        name[16];
    const char *out = sxs_env_get(SXS_ENV_OUT);
    int         dir = out && !sxs_env_get(SXS_ENV_KEEP)
                          ? open(out, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                          : -1;
    snprintf(name, sizeof(name), "%d", (int)getpid());
    if (dir >= 0 && fstat(dir, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & 0022) &&
        mkdirat(dir, name, 0700) == 0) {
        int folder = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int fd =
            folder >= 0 ? openat(folder, "log", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
        if (fd >= 0) {
            const char  *text = left_out + strlen("sxsprof: ");
            struct iovec line[] = {{(void *)(uintptr_t)text, strlen(text)}, {"\n", 1}};
            ssize_t      done = writev(fd, line, 2);
            (void)done;
            close(fd);
        }
        if (folder >= 0)
            close(folder);
    }
    if (dir >= 0)
        close(dir);
}

void adopt_runtime_seen(uintptr_t caller)
{
    struct loaded_module m;
    if (!module_find(caller, &m) || !module_is_runtime(&m) || !atomic_exchange(&adopt_watches, 0) ||
        !sxs_main_profiler_is_other(SXSPROF_CLSID))
        return;
    sxs_log_raw(left_out);
    leave_note();
}
