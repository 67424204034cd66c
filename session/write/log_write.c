/* SPDX-License-Identifier: MIT */
#include "session/write/log_write.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/env.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/session_state.h"
#include "session/format/session.h"
#include "session/write/file_write.h"

enum { WAITING = 4096 }; /* bytes of lines that wait for a session */

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* guards map, used, waiting and n_waiting */
SXS_FORK_RESETS(lock);
static int             diverted;
static struct sxs_file file;
static unsigned char  *map;  /* of the file; NULL: none is open */
static size_t          used; /* bytes in it */
static char            waiting[WAITING];
static size_t          n_waiting;
SXS_SESSION_KEEPS(lock);
SXS_SESSION_KEEPS(diverted);
SXS_SESSION_KEEPS(file);
SXS_SESSION_KEEPS(map);
SXS_SESSION_KEEPS(used);
SXS_SESSION_KEEPS(waiting);
SXS_SESSION_KEEPS(n_waiting);

/* Takes a line of the log. What has no room is dropped: the first lines say what went wrong. */
static void take_line(const char *line, size_t len)
{
    pthread_mutex_lock(&lock);
    if (map && len <= SXS_LOG_BYTES - used) {
        memcpy(map + used, line, len);
        used += len;
    } else if (!map && len <= sizeof(waiting) - n_waiting) {
        memcpy(waiting + n_waiting, line, len);
        n_waiting += len;
    }
    pthread_mutex_unlock(&lock);
}

/* The file belongs to the parent. */
static void child_forked(void)
{
    map = NULL;
    n_waiting = 0;
}

void sxs_log_file_divert(void)
{
    static struct sxs_fork_part part = {.child = child_forked};
    pthread_mutex_lock(&lock);
    n_waiting = 0; /* of an attach whose session could not begin: its command has printed why */
    pthread_mutex_unlock(&lock);
    if (diverted || sxs_env_get(SXS_ENV_LOG))
        return;
    diverted = 1;
    sxs_fork_register(&part);
    sxs_log_divert(take_line);
}

void sxs_log_file_open(const struct sxs_folder *folder)
{
    unsigned char *next;
    if (!diverted || map ||
        sxs_file_create(&file, folder, SXS_LOG_FILE, SXS_LOG_BYTES, SXS_LOG_BYTES, &next) != 0)
        return;
    pthread_mutex_lock(&lock);
    memcpy(next, waiting, n_waiting);
    used = n_waiting;
    n_waiting = 0;
    map = next;
    pthread_mutex_unlock(&lock);
}

void sxs_log_file_close(void)
{
    unsigned char *last;
    size_t         size;
    pthread_mutex_lock(&lock);
    last = map;
    size = used;
    map = NULL;
    used = 0;
    pthread_mutex_unlock(&lock);
    if (last && size) {
        munmap(last, SXS_LOG_BYTES);
        sxs_file_shorten(&file, size);
        sxs_file_close(&file);
    } else if (last) {
        sxs_file_undo(&file, last, SXS_LOG_BYTES);
    }
}
