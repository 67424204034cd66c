/* SPDX-License-Identifier: MIT */
/* instr/config/load.c - load instrumentation files and folders of them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "instr/config/libxml.h"
#include "base/session_state.h"
#include "instr/config/reader.h"
#include "base/c_locale.h"
#include "base/fork.h"
#include "base/read.h"

/* Held while a file is parsed and validated: libxml2 2.9 sets up its schema types on first use
 * without a lock. */
static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(reading);
SXS_SESSION_KEEPS(reading);

/* ---- one file -------------------------------------------------------------------------------- */

static void read_root(struct config_reader *r, xmlDocPtr doc)
{
    const xmlNode *root = xmlDocGetRootElement(doc);
    const char    *uri = root && root->ns ? (const char *)root->ns->href : "";
    const char    *name = root ? (const char *)root->name : "";
    if (!strcmp(uri, CONFIG_NAMESPACE) && !strcmp(name, "instrumentation")) {
        if (!config_validate(r, doc, &config_instrumentation))
            config_read_rules(r, root);
    } else if (sxs_same_text(name, "extension") &&
               (!*uri || !strcmp(uri, "urn:newrelic-extension"))) {
        config_read_extension(r, root);
    } else {
        config_wrong_at(r, root ? config_offset(r, root) : 0,
                        "<instrumentation xmlns=\"" CONFIG_NAMESPACE "\">, or New Relic's "
                        "<extension xmlns=\"urn:newrelic-extension\">",
                        *uri ? "<%s xmlns=\"%s\">" : "<%s>", name, uri);
    }
}

/* Adds a last problem that says how many were left out, and counts those. */
static void add_left_out(struct config_reader *r)
{
    uint32_t errors = r->n_errors > CONFIG_PROBLEMS_MAX ? r->n_errors - CONFIG_PROBLEMS_MAX : 0;
    uint32_t warnings =
        r->n_warnings > CONFIG_PROBLEMS_MAX ? r->n_warnings - CONFIG_PROBLEMS_MAX : 0;
    char               what[64];
    struct sxs_problem p = {.file = r->file->path, .warning = !errors, .what = what};
    if (!errors && !warnings)
        return;
    if (errors && warnings)
        snprintf(what, sizeof(what), "%u more errors, %u more warnings", errors, warnings);
    else
        snprintf(what, sizeof(what), errors ? "%u more errors" : "%u more warnings",
                 errors ? errors : warnings);
    config_whole_problem(r->whole, &p);
    r->whole->shown.n_errors += errors - !!errors; /* the added problem counts as one of them */
    r->whole->shown.n_warnings += warnings - !errors;
}

/* Reads all rules of the file. After an error the file has no rules. */
static void read_file(struct config_reader *r)
{
    xmlDocPtr doc;
    if (config_guard(r))
        return;
    pthread_mutex_lock(&reading);
    doc = config_parse_xml(r);
    if (doc) {
        if (r->read)
            r->read(r, doc, r->read_arg);
        else
            read_root(r, doc);
        xmlFreeDoc(doc);
    }
    pthread_mutex_unlock(&reading);
    add_left_out(r);
    if (r->n_errors)
        r->file->n_rules = 0;
    r->whole->failed |= r->file->arena.failed;
}

/* Returns the absolute path of the folder of @path, for the caller to free; NULL: not found. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char       *folder, *real;
    if (!slash)
        return realpath(".", NULL);
    folder = strndup(path, slash == path ? 1 : (size_t)(slash - path));
    real = folder ? realpath(folder, NULL) : NULL;
    free(folder);
    return real;
}

/* Another kind of files than instrumentation files. */
struct file_kind {
    config_read_document *read;
    void                 *arg;
};

/* Reads @bytes as the contents of the file @path. @kind: NULL: an instrumentation file. After an error, keeps the rules that @old has of
 * this file. */
static void read_bytes(struct config_whole *whole, const char *path, const char *bytes, size_t size,
                       const struct sxs_config *old, const struct file_kind *kind)
{
    struct config_reader r = {.whole = whole,
                              .file = config_file_new(path),
                              .read = kind ? kind->read : NULL,
                              .read_arg = kind ? kind->arg : NULL};
    struct config_file  *was = config_whole_find(old, path);
    char                *folder = folder_of(path);
    whole->shown.n_files++;
    if (!r.file) {
        whole->failed = 1;
        free(folder);
        return;
    }
    r.folder = folder ? folder : "";
    r.source.bytes = bytes;
    r.source.size = size;
    read_file(&r);
    free(folder);
    if (r.n_errors && was) {
        config_file_unref(r.file);
        atomic_fetch_add(&was->refs, 1);
        r.file = was;
    }
    config_whole_add(whole, r.file);
}

static void add_problem(struct config_whole *whole, const char *path, const char *what,
                        const char *expected)
{
    config_whole_problem(whole,
                         &(struct sxs_problem){.file = path, .what = what, .expected = expected});
}

/* Reports a file that cannot be read, and keeps the rules that @old has of this file. */
static void cannot_read(struct config_whole *whole, const char *path, const char *why,
                        const struct sxs_config *old)
{
    struct config_file *was = config_whole_find(old, path);
    add_problem(whole, path, why, "a file that can be read");
    whole->shown.n_files++;
    if (!was)
        return;
    atomic_fetch_add(&was->refs, 1);
    config_whole_add(whole, was);
}

static int call_here(int (*work)(void *arg), void *arg)
{
    return work(arg);
}

/* Runs each access to a file or folder; see sxs_config_open_files_by(). */
static int (*call)(int (*work)(void *arg), void *arg) = call_here;
SXS_SESSION_KEEPS(call);

void sxs_config_open_files_by(int (*by)(int (*work)(void *arg), void *arg))
{
    call = by;
}

/* The argument of get_bytes(). */
struct file_job {
    const char *path;
    char       *bytes; /* SXS_CONFIG_FILE_MAX + 1 bytes */
    ssize_t     size;
    int         not_regular;
};

/* Reads the file job->path. Called through `call`. Returns 0 or an errno value. */
static int get_bytes(void *arg)
{
    struct file_job *job = arg;
    struct stat      st;
    int              err, fd = open(job->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno;
    if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode))
        job->not_regular = 1;
    else
        /* one byte more than is allowed is too many; fails as fstat() has failed */
        job->size = sxs_read_up_to(fd, job->bytes, SXS_CONFIG_FILE_MAX + 1);
    err = job->size < 0 ? errno : 0;
    close(fd);
    return err;
}

static void load_file(struct config_whole *whole, const char *path, const struct sxs_config *old,
                      const struct file_kind *kind)
{
    struct file_job job = {.path = path, .bytes = malloc(SXS_CONFIG_FILE_MAX + 1)};
    int             err = job.bytes ? call(get_bytes, &job) : ENOMEM;
    whole->failed |= !job.bytes;
    if (!err && !job.not_regular)
        read_bytes(whole, path, job.bytes, (size_t)job.size, old, kind);
    else
        cannot_read(whole, path, job.not_regular ? "not a regular file" : strerror(err), old);
    free(job.bytes);
}

/* ---- folders --------------------------------------------------------------------------------- */

static int is_wanted(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name);
    return entry->d_name[0] != '.' && len > 4 && sxs_same_text(entry->d_name + len - 4, ".xml");
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

struct folder_job {
    const char     *path;
    struct dirent **entries; /* owned: free each entry, and the array */
    int             n;       /* number of entries; -1: the folder cannot be read */
};

/* Lists the folder job->path. Called through `call`. Returns 0 or an errno value. */
static int list_folder(void *arg)
{
    struct folder_job *job = arg;
    job->n = scandir(job->path, &job->entries, is_wanted, by_bytes);
    return job->n < 0 ? errno : 0;
}

static void load_folder(struct config_whole *whole, const char *path, const struct sxs_config *old)
{
    struct folder_job job = {.path = path};
    int               err = call(list_folder, &job), n = job.n;
    struct dirent   **entries = job.entries;
    size_t            len = strlen(path);
    if (err)
        add_problem(whole, path, strerror(err), "a folder that can be read");
    if (n > (int)SXS_CONFIG_FILES_MAX)
        add_problem(whole, path, "more than 1024 files", NULL);
    for (int i = 0; i < n; i++) {
        char *file = NULL;
        if (asprintf(&file, "%s%s%s", path, path[len - 1] == '/' ? "" : "/", entries[i]->d_name) <
            0)
            whole->failed = 1;
        else if (n <= (int)SXS_CONFIG_FILES_MAX)
            load_file(whole, file, old, NULL);
        free(file);
        free(entries[i]);
    }
    free(entries);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Can libxml2 be used? If not, reports why. */
static int can_read(struct config_whole *whole, const char *path)
{
    const char *lacks = config_libxml_open();
    if (lacks)
        add_problem(whole, path, lacks, "libxml2, which reads instrumentation files");
    return !lacks;
}

struct sxs_config *sxs_config_parse(const char *file, const char *bytes, size_t size)
{
    struct config_whole *whole = config_whole_new();
    if (whole && can_read(whole, file))
        read_bytes(whole, file, bytes, size, NULL, NULL);
    return config_whole_finish(whole);
}

struct sxs_config *sxs_config_load(const char *path, const struct sxs_config *old)
{
    struct config_whole *whole = config_whole_new();
    struct stat          st;
    if (!whole || !can_read(whole, path))
        return config_whole_finish(whole);
    if (!*path || stat(path, &st))
        add_problem(whole, path, *path ? strerror(errno) : "an empty path",
                    "an instrumentation file, or a folder of them");
    else if (S_ISDIR(st.st_mode))
        load_folder(whole, path, old);
    else
        load_file(whole, path, old, NULL);
    return config_whole_finish(whole);
}

struct sxs_config *config_load_as(const char *path, config_read_document *read, void *arg)
{
    struct config_whole   *whole = config_whole_new();
    const struct file_kind kind = {read, arg};
    if (whole && can_read(whole, path))
        load_file(whole, path, NULL, &kind);
    return config_whole_finish(whole);
}

struct sxs_config *config_load_bytes_as(const char *name, const char *bytes, size_t size,
                                        config_read_document *read, void *arg)
{
    struct config_whole   *whole = config_whole_new();
    const struct file_kind kind = {read, arg};
    if (whole && can_read(whole, name))
        read_bytes(whole, name, bytes, size, NULL, &kind);
    return config_whole_finish(whole);
}
