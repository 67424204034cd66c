/* SPDX-License-Identifier: MIT */
#include "session/write/guests_write.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/session_state.h"
#include "base/shared_words.h"
#include "session/write/file_write.h"
#include "session/write/session_write.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards opening */
SXS_FORK_RESETS(lock);
static struct sxs_guests   *guests; /* NULL: no file */
static int                  tried;
static struct sxs_guest_row spare; /* shared by all guests that no file has */
SXS_SESSION_KEEPS(lock);
SXS_SESSION_KEEPS(guests);
SXS_SESSION_KEEPS(tried);
SXS_SESSION_KEEPS(spare);

/* In a forked child, replaces the map of the parent's file by private memory at the same address:
 * instances hold pointers to its rows. */
static void child_forked(void)
{
    if (guests && mmap(guests, sizeof(*guests), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
        atomic_store(&guests->has_children, 1); /* in the parent's file */
        sxs_log_raw(
            "sxsprof: no memory for a forked child: its guests are counted with the parent");
    }
}

static struct sxs_guests *make_file(void)
{
    const struct sxs_folder *folder = sxs_session_folder(NULL);
    static struct sxs_file   file;
    SXS_SESSION_KEEPS(file);
    unsigned char           *map;
    struct sxs_guests       *g;
    int                      err;
    if (!folder)
        return NULL;
    err = sxs_file_create(&file, folder, SXS_GUESTS_FILE, sizeof(*g), sizeof(*g), &map);
    if (err) {
        sxs_error("guests are not recorded: %s", strerror(-err));
        return NULL;
    }
    sxs_file_close(&file);
    g = (struct sxs_guests *)(void *)map;
    g->version = SXS_GUESTS_VERSION;
    g->size = sizeof(*g);
    g->row_size = sizeof(g->rows[0]);
    memcpy(g->magic, SXS_GUESTS_MAGIC, sizeof(g->magic));
    return g;
}

struct sxs_guest_row *sxs_guests_row(void)
{
    struct sxs_guest_row *row = &spare;
    uint32_t              n;
    pthread_mutex_lock(&lock);
    if (!tried) {
        static struct sxs_fork_part part = {.child = child_forked};
        tried = 1;
        sxs_fork_register(&part);
        guests = make_file();
    }
    n = guests ? atomic_load(&guests->n_rows) : 0;
    if (guests && n < SXS_GUESTS_ROWS) {
        row = &guests->rows[n];
        atomic_store(&guests->n_rows, n + 1);
    } else if (guests) {
        atomic_fetch_add(&guests->n_unlisted, 1);
    }
    pthread_mutex_unlock(&lock);
    return row;
}

void sxs_guests_close(void)
{
    void *rest;
    pthread_mutex_lock(&lock);
    rest = guests ? mmap(NULL, sizeof(*guests), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                         -1, 0)
                  : MAP_FAILED;
    if (rest != MAP_FAILED) {
        sxs_copy_words(rest, guests, sizeof(*guests));
        mremap(rest, sizeof(*guests), sizeof(*guests), MREMAP_MAYMOVE | MREMAP_FIXED, guests);
    }
    tried = 1;
    pthread_mutex_unlock(&lock);
}
