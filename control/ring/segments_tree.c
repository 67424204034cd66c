/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/tree.h"
#include "control/ring/segment_file.h"
#include "control/ring/segments_internal.h"

#define DEPTH 4

DIR *sxs_segments_opendir(int dir, const char *name)
{
    return sxs_tree_list(dir, name);
}

static int is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Tells whether @name in @dir is a folder of this user that has the file @file. */
static int has_file(int dir, const char *name, const char *file)
{
    struct stat st;
    int         fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), has;
    if (fd < 0)
        return 0;
    has = fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
          fstatat(fd, file, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
    close(fd);
    return has;
}

int sxs_segments_is_ours(int dir, const char *name)
{
    return has_file(dir, name, SXS_SEGMENT_FILE);
}

int sxs_segments_has_trigger(int dir, const char *name)
{
    return has_file(dir, name, SXS_TRIGGER_FILE);
}

static unsigned long long number_of(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

void sxs_segments_read_process(int dir, const char *name, struct sxs_segment_found *out)
{
    char    text[512];
    ssize_t n = -1;
    int     fd, segment = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    fd = segment < 0 ? -1 : openat(segment, SXS_SEGMENT_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        n = read(fd, text, sizeof(text) - 1);
    text[n > 0 ? n : 0] = '\0';
    out->pid = (int)number_of(text, "\"pid\":");
    out->process_started = number_of(text, "\"process_started\":");
    if (fd >= 0)
        close(fd);
    if (segment >= 0)
        close(segment);
}

int sxs_segments_delete_tree(int dir, const char *name)
{
    return sxs_tree_delete(dir, name, DEPTH);
}

static uint64_t level_bytes(int dir, const char *name, int depth)
{
    DIR                 *list = sxs_segments_opendir(dir, name);
    const struct dirent *e;
    struct stat          st;
    uint64_t             sum = 0;
    while (list && (e = readdir(list))) {
        if (is_dots(e->d_name) || fstatat(dirfd(list), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        sum += (uint64_t)st.st_blocks * 512;
        if (S_ISDIR(st.st_mode) && depth)
            sum += level_bytes(dirfd(list), e->d_name, depth - 1);
    }
    if (list)
        closedir(list);
    return sum;
}

uint64_t sxs_segments_tree_bytes(int dir, const char *name)
{
    return level_bytes(dir, name, DEPTH);
}
