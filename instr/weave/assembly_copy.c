/* SPDX-License-Identifier: MIT */
#include "instr/weave/assembly_copy.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/proc.h"
#include "base/session_state.h"

static pthread_mutex_t           lock = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(lock);
static struct sxs_assembly_copy *copies; /* all copies, used or not; guarded by lock */
SXS_SESSION_KEEPS(lock);
SXS_SESSION_KEEPS(copies); /* they age: end_session() of the tool */

static void free_copy(struct sxs_assembly_copy *copy)
{
    sxs_metadata_file_free(&copy->file);
    free(copy->path);
    free(copy);
}

static const struct sxs_assembly_copy *find(const char *path)
{
    struct sxs_assembly_copy *c;
    pthread_mutex_lock(&lock);
    for (c = copies; c && strcmp(c->path, path) != 0; c = c->next)
        ;
    if (c)
        c->refs++;
    pthread_mutex_unlock(&lock);
    return c;
}

static int read_metadata(void *copy)
{
    struct sxs_assembly_copy *c = copy;
    return sxs_metadata_file_read(&c->file, c->path, SXS_COPY_METADATA);
}

static int read_copy(const char *path, struct sxs_assembly_copy **out)
{
    struct sxs_assembly_copy *c = calloc(1, sizeof(*c));
    int                       err = ENOMEM;
    if (c)
        c->path = strdup(path);
    if (c && c->path)
        err = sxs_proc_call(read_metadata, c);
    if (err && c)
        free_copy(c);
    *out = err ? NULL : c;
    return err;
}

/* A new copy is put in front, so that find() no longer returns older copies of the same path. */
int sxs_assembly_copy_get(const char *path, const struct sxs_assembly_copy **copy)
{
    const struct sxs_assembly_copy *had = find(path);
    struct sxs_assembly_copy       *c;
    int                             err;
    if (had && sxs_metadata_file_is(&had->file, path)) {
        *copy = had;
        return 0;
    }
    sxs_assembly_copy_put(had);
    err = read_copy(path, &c);
    if (err)
        return err;
    c->refs = 1;
    pthread_mutex_lock(&lock);
    c->next = copies;
    copies = c;
    pthread_mutex_unlock(&lock);
    *copy = c;
    return 0;
}

void sxs_assembly_copy_put(const struct sxs_assembly_copy *copy)
{
    struct sxs_assembly_copy *c = (struct sxs_assembly_copy *)(uintptr_t)copy;
    if (!c)
        return;
    pthread_mutex_lock(&lock);
    c->refs--;
    c->idle = 0;
    pthread_mutex_unlock(&lock);
}

void sxs_assembly_copies_age(void)
{
    struct sxs_assembly_copy **at, *old = NULL, *c;
    pthread_mutex_lock(&lock);
    for (at = &copies; (c = *at) != NULL;) {
        if (!c->refs && c->idle) {
            *at = c->next;
            c->next = old;
            old = c;
        } else {
            c->idle = 1;
            at = &c->next;
        }
    }
    pthread_mutex_unlock(&lock);
    for (; old; old = c) {
        c = old->next;
        free_copy(old);
    }
}

void sxs_assembly_copies_forget(void)
{
    copies = NULL;
}
