/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/file_search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WINDOW = 256 << 10, KEPT = 128 }; /* KEPT: the end of a window is searched with the next */

/* Finds one of @texts; returns what follows it, or NULL. */
static const char *find_any(const char *bytes, size_t len, const char *const *texts)
{
    for (; *texts; texts++) {
        const char *at = memmem(bytes, len, *texts, strlen(*texts));
        if (at)
            return at + strlen(*texts);
    }
    return NULL;
}

/* Reads what follows the text that was found at @at. */
static void read_after(int fd, off_t at, char *after, size_t size, size_t *n_after)
{
    ssize_t n = after ? pread(fd, after, size, at) : 0;
    if (n_after)
        *n_after = n > 0 ? (size_t)n : 0;
}

/* Searches the bytes from @begin to @end. Returns 0, ENOENT or another errno value. */
static int search_part(int fd, char *window, off_t begin, off_t end, const char *const *texts,
                       off_t *found)
{
    size_t kept = 0;
    for (off_t at = begin; at < end;) {
        size_t  want = end - at < WINDOW ? (size_t)(end - at) : WINDOW;
        ssize_t n = pread(fd, window + kept, want, at);
        if (n <= 0)
            return n < 0 ? errno : ENOENT;
        size_t      len = kept + (size_t)n;
        const char *behind = find_any(window, len, texts);
        if (behind) {
            *found = at - (off_t)kept + (behind - window);
            return 0;
        }
        kept = len < KEPT ? len : KEPT;
        memmove(window, window + len - kept, kept);
        at += n;
    }
    return ENOENT;
}

int sxs_file_search(int fd, const char *const *texts, uint64_t most, char *after, size_t size,
                    size_t *n_after)
{
    struct stat st;
    off_t       hole = 0, data, found = 0;
    char       *window = malloc(WINDOW + KEPT);
    int         err = !window ? ENOMEM : fstat(fd, &st) != 0 ? errno : ENOENT;
    if (n_after)
        *n_after = 0;
    while (err == ENOENT && (data = lseek(fd, hole, SEEK_DATA)) >= 0 && data < st.st_size) {
        hole = lseek(fd, data, SEEK_HOLE);
        if (hole <= data)
            break;
        off_t end = (uint64_t)(hole - data) > most ? data + (off_t)most : hole;
        err = search_part(fd, window, data, end, texts, &found);
        most -= (uint64_t)(end - data);
        if (err == ENOENT && !most)
            err = EFBIG;
    }
    if (!err)
        read_after(fd, found, after, size, n_after);
    free(window);
    return err;
}
