/* SPDX-License-Identifier: MIT */
#include "cmd/processes/staging.h"

#include "base/tree.h"
#include "cmd/output/segments.h"
#include "cmd/processes/apart.h"
#include "cmd/processes/inside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "session/read/session_read.h"

#define LIBRARY       "libsxsprof.so"
#define SESSION_DEPTH 8u /* of folders below it */

/* Libraries that are copied if they lie beside the library: it finds them in its own folder. */
static const char *const own_libraries[] = {LIBRARY, "libsxsprof-clrie.so", "libsxsxml.so",
                                            "libsxsunwind.so", "libsxsunwindremote.so"};
#define N_LIBRARIES (sizeof(own_libraries) / sizeof(own_libraries[0]))

/* What the child that makes the folder works with. */
struct plan {
    const char *parent; /* "/tmp" */
    const char *name;
    int         libraries[N_LIBRARIES]; /* descriptors; -1: not there */
    bool        copies;
};

static int copy_libraries(int dir, const struct plan *plan)
{
    int err = 0;
    for (size_t i = 0; i < N_LIBRARIES && !err; i++) {
        if (plan->libraries[i] < 0)
            continue;
        int to = openat(dir, own_libraries[i], O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                        0500);
        err = to < 0 ? errno : sxs_copy_file(plan->libraries[i], to);
        if (to >= 0 && close(to) != 0 && !err)
            err = errno;
    }
    return err;
}

/* Returns 0 when the file system of @dir can be used, or an errno value. */
static int check_mount(int dir, const struct plan *plan)
{
    struct statvfs fs;
    if (fstatvfs(dir, &fs) != 0)
        return errno;
    if (fs.f_flag & ST_RDONLY)
        return EROFS;
    return plan->copies && (fs.f_flag & ST_NOEXEC) ? ENOEXEC : 0;
}

/* ---- folders of commands that were killed ---------------------------------------------------- */

#define NAME_PREFIX "sxsprof-"
#define NAME_DIGITS 16
#define KEEP        "keep"
#define MAX_ENTRIES \
    65536u         /* names of a folder that are looked at: others can make any number there */
#define YOUNG_S 60 /* a folder that was made just now may not be locked yet */

static bool is_staging_name(const char *name)
{
    size_t prefix = strlen(NAME_PREFIX);
    return strncmp(name, NAME_PREFIX, prefix) == 0 && strlen(name) == prefix + NAME_DIGITS &&
           strspn(name + prefix, "0123456789abcdef") == NAME_DIGITS;
}

/* Whether nobody uses the folder @dir of this user: its command holds a lock as long as it lives. */
static bool is_left_behind(int dir)
{
    struct stat st;
    return fstat(dir, &st) == 0 && st.st_uid == geteuid() && time(NULL) - st.st_mtime > YOUNG_S &&
           faccessat(dir, KEEP, F_OK, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT &&
           flock(dir, LOCK_EX | LOCK_NB) == 0;
}

static void remove_left_behind(int parent)
{
    DIR           *d = sxs_tree_list(parent, ".");
    struct dirent *e;
    for (size_t n = 0; d && n < MAX_ENTRIES && (e = readdir(d)); n++) {
        int dir = is_staging_name(e->d_name)
                      ? openat(parent, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                      : -1;
        if (dir < 0)
            continue;
        if (is_left_behind(dir)) {
            sxs_tree_clear(dir, SESSION_DEPTH);
            unlinkat(parent, e->d_name, AT_REMOVEDIR);
        }
        close(dir);
    }
    if (d)
        closedir(d);
}

static int put_keep(int root, void *arg, int *fd)
{
    const int *dir = arg;
    (void)root;
    (void)fd;
    return openat(*dir, KEEP, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600) < 0 ? errno : 0;
}

void sxs_staging_keep(const struct sxs_process *p, struct sxs_staging *s)
{
    const struct sxs_inside_work work = {.run = put_keep,
                                         .arg = &s->dir,
                                         .keep = &s->dir,
                                         .n_keep = 1,
                                         .flags = SXS_INSIDE_ENDED | SXS_INSIDE_CLEAN};
    sxs_inside_run(p, &work, NULL);
    close(s->dir);
    s->dir = -1;
}

/* ---- the folder ------------------------------------------------------------------------------ */

static int make_folder(int root, void *arg, int *fd)
{
    const struct plan *plan = arg;
    /* No link: the path must name the same file when the runtime is asked again. */
    int parent = sxs_inside_open(root, plan->parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    int err = parent < 0 ? errno : check_mount(parent, plan);
    if (err)
        return err;
    umask(0077);
    remove_left_behind(parent);
    if (mkdirat(parent, plan->name, 0700) != 0)
        return errno;
    int dir = openat(parent, plan->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    err = dir < 0 ? errno : 0;
    if (!err) /* goes with the descriptor, which the command keeps */
        flock(dir, LOCK_SH | LOCK_NB);
    if (!err && mkdirat(dir, "session", 0700) != 0)
        err = errno;
    if (!err)
        err = copy_libraries(dir, plan);
    if (err) {
        if (dir >= 0)
            sxs_tree_clear(dir, SESSION_DEPTH);
        unlinkat(parent, plan->name, AT_REMOVEDIR);
        return err;
    }
    *fd = dir;
    return 0;
}

static void open_libraries(struct plan *plan, const char *library)
{
    char path[PATH_MAX];
    int  folder = library ? (int)(strrchr(library, '/') - library) : 0;
    for (size_t i = 0; i < N_LIBRARIES; i++) {
        snprintf(path, sizeof(path), "%.*s/%s", folder, library ? library : "", own_libraries[i]);
        plan->libraries[i] = library ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    }
}

static const char *reason(int err)
{
    return err == ENOEXEC ? "no code can be loaded from there (noexec)"
           : err == ELOOP ? "it is a link"
                          : strerror(err);
}

int sxs_staging_open(const struct sxs_process *p, const char *library, struct sxs_staging *out,
                     char *why, size_t size)
{
    static const char *const parents[] = {"/tmp", "/var/tmp", "/dev/shm"};
    struct plan              plan = {.copies = library != NULL};
    uint64_t                 number = 0;
    char                     name[32];
    int                      err = 0;
    size_t                   len = 0;
    memset(out, 0, sizeof(*out));
    out->dir = -1;
    ssize_t got = getrandom(&number, sizeof(number), 0);
    if (got != sizeof(number))
        return got < 0 ? errno : EIO;
    snprintf(name, sizeof(name), NAME_PREFIX "%016llx", (unsigned long long)number);
    plan.name = name;
    const struct sxs_inside_work work = {
        .run = make_folder, .arg = &plan, .keep = plan.libraries, .n_keep = N_LIBRARIES};
    open_libraries(&plan, library);
    for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]) && out->dir < 0; i++) {
        plan.parent = parents[i];
        err = sxs_inside_run(p, &work, &out->dir);
        if (!err)
            snprintf(out->folder, sizeof(out->folder), "%s/%s", parents[i], name);
        else if (len < size)
            len += (size_t)snprintf(why + len, size - len, "%s%s: %s", len ? "; " : "", parents[i],
                                    reason(err));
    }
    for (size_t i = 0; i < N_LIBRARIES; i++)
        if (plan.libraries[i] >= 0)
            close(plan.libraries[i]);
    if (out->dir < 0)
        return err ? err : EIO;
    snprintf(out->session, sizeof(out->session), "%s/session", out->folder);
    if (library)
        snprintf(out->library, sizeof(out->library), "%s/" LIBRARY, out->folder);
    return 0;
}

/* Makes a folder @name in @into, or @name-2, -3... when there is one already: processes of several
 * containers may have the same PID. Returns a descriptor, or -1 with errno. */
static int make_free(int into, const char *name)
{
    char numbered[NAME_MAX + 16];
    for (int i = 1; i < 10000; i++) {
        snprintf(numbered, sizeof(numbered), i == 1 ? "%s" : "%s-%d", name, i);
        if (mkdirat(into, numbered, 0700) == 0)
            return openat(into, numbered, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

/* What the child that copies works with. */
struct fetch {
    const struct sxs_staging *staging;
    struct sxs_copy_rules     rules;
    const char               *to;
    struct sxs_copy_result   *result;
};

enum { MAX_FETCHED = 65536 }; /* names in the session's folder */

/* Adds what one copy did to the result. */
static void add_result(struct sxs_copy_result *sum, const struct sxs_copy_result *one)
{
    if (!sum->n_skipped && one->n_skipped)
        memcpy(sum->skipped, one->skipped, sizeof(sum->skipped));
    sum->bytes += one->bytes;
    sum->n_files += one->n_files;
    sum->n_skipped += one->n_skipped;
}

static int fetch_process(int from, int into, const char *name, const struct fetch *f)
{
    struct sxs_copy_result one = {0};
    bool is_part = sxs_session_names_process(name) || sxs_segment_name(name, NULL, NULL) ||
                   strcmp(name, SXS_SEGMENT_KEPT) == 0;
    if (!is_part) {
        one.n_skipped = 1;
        snprintf(one.skipped, sizeof(one.skipped), "%s: no part of a session", name);
        add_result(f->result, &one);
        return 0;
    }
    int source = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int target = source >= 0 ? make_free(into, name) : -1;
    int err = target < 0 ? errno : sxs_copy_session(source, target, &f->rules, &one);
    add_result(f->result, &one);
    if (source >= 0)
        close(source);
    if (target >= 0)
        close(target);
    return err;
}

static int fetch_all(const struct fetch *f)
{
    int  from = openat(f->staging->dir, "session", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int  into = open(f->to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = from >= 0 && into >= 0 ? fdopendir(from) : NULL;
    int  err = d ? 0 : errno;
    unsigned n = 0;
    for (struct dirent *e; d && n <= MAX_FETCHED && (e = readdir(d)); n++) {
        int failed = e->d_name[0] != '.' ? fetch_process(from, into, e->d_name, f) : 0;
        if (failed && !err)
            err = failed;
    }
    if (n > MAX_FETCHED && !err)
        err = EFBIG;
    if (d)
        closedir(d);
    else if (from >= 0)
        close(from);
    if (into >= 0)
        close(into);
    return err;
}

static int fetch(void *arg, struct sxs_copy_result *result)
{
    struct fetch *f = arg;
    f->result = result;
    return fetch_all(f);
}

int sxs_staging_fetch(const struct sxs_staging *s, uid_t owner, const char *to,
                      struct sxs_copy_result *result)
{
    struct fetch f = {s, {.has_owner = true, .owner = owner}, to, NULL};
    int          keep[] = {s->dir};
    return sxs_copy_apart(fetch, &f, keep, 1, result);
}

/* The folder's own descriptor is inherited by the child. */
struct removal {
    int         dir;
    const char *folder;
};

static int remove_folder(int root, void *arg, int *fd)
{
    const struct removal *r = arg;
    char                  parent[64];
    const char           *name = strrchr(r->folder, '/');
    int                   err = -sxs_tree_clear(r->dir, SESSION_DEPTH);
    (void)fd;
    snprintf(parent, sizeof(parent), "%.*s", (int)(name - r->folder), r->folder);
    int at = sxs_inside_open(root, parent, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
    if (at < 0)
        return errno;
    return unlinkat(at, name + 1, AT_REMOVEDIR) == 0 ? 0 : err ? err : errno;
}

int sxs_staging_close(const struct sxs_process *p, struct sxs_staging *s)
{
    struct removal               r = {s->dir, s->folder};
    const struct sxs_inside_work work = {.run = remove_folder,
                                         .arg = &r,
                                         .keep = &s->dir,
                                         .n_keep = 1,
                                         .flags = SXS_INSIDE_ENDED | SXS_INSIDE_CLEAN};
    if (s->dir < 0)
        return 0;
    int err = sxs_inside_run(p, &work, NULL);
    close(s->dir);
    s->dir = -1;
    return err;
}
