/* SPDX-License-Identifier: MIT */
#include "record/session_write.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "manager/base/fork.h"
#include "manager/base/log.h"

static struct sxs_census          in_memory; /* when there is no file */
static struct sxs_census_runtime  unlisted;
static struct sxs_census         *census;
static int                        process_folder = -1; /* open for the life of the process */
static pthread_mutex_t            open_lock = PTHREAD_MUTEX_INITIALIZER; /* guards census */
SXS_FORK_RESETS(open_lock);

static void describe_process(struct sxs_census *c)
{
    struct timespec now;
    int             fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t         len = fd < 0 ? 0 : read(fd, c->command, sizeof(c->command) - 1);
    if (fd >= 0)
        close(fd);
    while (len > 0 && c->command[len - 1] == '\0')
        len--;
    for (ssize_t i = 0; i < len; i++)
        if ((unsigned char)c->command[i] < ' ')
            c->command[i] = ' ';
    clock_gettime(CLOCK_REALTIME, &now);
    c->started_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    c->version = SXS_CENSUS_VERSION;
    c->size = sizeof(*c);
    c->row_size = sizeof(c->runtimes[0]);
    c->pid = (uint32_t)getpid();
    memcpy(c->magic, SXS_CENSUS_MAGIC, sizeof(c->magic)); /* last: it makes the file one */
}

/* A folder of this process's own in @dir: its pid, or pid-2, pid-3... when that pid came before. */
static int open_process_folder(int dir, char *name, size_t size)
{
    for (int n = 1; n < 1000; n++) {
        if (n == 1)
            snprintf(name, size, "%d", (int)getpid());
        else
            snprintf(name, size, "%d-%d", (int)getpid(), n);
        if (mkdirat(dir, name, 0700) == 0)
            return openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

/* A file that may not grow so large is an error to us, not the end of the host: whoever crosses
 * RLIMIT_FSIZE is sent SIGXFSZ. */
static int reserve(int fd, off_t size)
{
    static const struct timespec no_time;
    sigset_t xfsz, saved, pending;
    sigemptyset(&xfsz);
    sigaddset(&xfsz, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &xfsz, &saved);
    sigpending(&pending);
    int err = posix_fallocate(fd, 0, size);
    if (!sigismember(&pending, SIGXFSZ))
        sigtimedwait(&xfsz, NULL, &no_time);
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
    return err;
}

/* The blocks are reserved before the map is made: a full disk must not turn into a SIGBUS later. */
static struct sxs_census *map_file(const char *dir_path)
{
    struct sxs_census *map = MAP_FAILED;
    int                dir = -1, folder = -1, fd = -1, err;
    char               name[32];
    if (mkdir(dir_path, 0700) != 0 && errno != EEXIST)
        goto done;
    dir = open(dir_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0)
        goto done;
    folder = open_process_folder(dir, name, sizeof(name));
    if (folder < 0)
        goto done;
    fd = openat(folder, SXS_CENSUS_FILE, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        goto done;
    err = reserve(fd, sizeof(struct sxs_census));
    if (err) {
        unlinkat(folder, SXS_CENSUS_FILE, 0);
        unlinkat(dir, name, AT_REMOVEDIR);
        errno = err;
        goto done;
    }
    map = mmap(NULL, sizeof(struct sxs_census), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
done:
    err = errno;
    if (fd >= 0)
        close(fd);
    if (folder >= 0 && map != MAP_FAILED)
        process_folder = folder; /* for whoever else has something to leave there */
    else if (folder >= 0)
        close(folder);
    if (dir >= 0)
        close(dir);
    errno = err;
    return map == MAP_FAILED ? NULL : map;
}

/* The file goes on being the parent's. Its rows are known by address, so other memory takes their
 * place; should there be none, the child's few events are counted in the parent's file. */
static void child_forked(void)
{
    if (!census || census == &in_memory)
        return;
    if (mmap(census, sizeof(*census), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        sxs_log_raw("sxsprof: no memory for a forked child: it is counted with its parent");
}

struct sxs_census *sxs_session_open(const char *dir)
{
    static struct sxs_fork_part part = {.child = child_forked};
    pthread_mutex_lock(&open_lock);
    if (!census) {
        struct sxs_census *c = dir && *dir ? map_file(dir) : NULL;
        if (dir && *dir && !c)
            sxs_error("SXSPROF_OUT=%s: %s; nothing is recorded, the program runs on", dir,
                      strerror(errno));
        if (!c)
            c = &in_memory;
        describe_process(c);
        census = c;
        sxs_fork_register(&part);
    }
    pthread_mutex_unlock(&open_lock);
    return census;
}

int sxs_session_folder(const char *tool)
{
    if (process_folder < 0)
        sxs_error("tool %s needs a session folder: set SXSPROF_OUT, or use sxsprof run -o", tool);
    return process_folder;
}

struct sxs_census_runtime *sxs_session_row(unsigned number)
{
    struct sxs_census *c = sxs_session_open(NULL);
    uint32_t           seen = atomic_load(&c->n_runtimes);
    if (number == 0 || number > SXS_MAX_RUNTIMES) {
        atomic_fetch_add(&c->n_unlisted, 1);
        return &unlisted;
    }
    while (seen < number && !atomic_compare_exchange_weak(&c->n_runtimes, &seen, number))
        continue;
    c->runtimes[number - 1].number = number;
    return &c->runtimes[number - 1];
}
