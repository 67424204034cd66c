/* SPDX-License-Identifier: MIT */
/**
 * folder_open.h - opens the folder that a session is recorded into: the one rule of the library and
 * the command about where that may be.
 *
 * The folder is new, or it is one's own and empty, or it has a session or segments in it and nothing
 * else. Without the last condition a wrong setting would put the files of a session into / or
 * into a home folder. How the path is followed: base/folder_path.h. Owner and mode: folder_safe.h.
 */
#ifndef SXS_SESSION_FORMAT_FOLDER_OPEN_H
#define SXS_SESSION_FORMAT_FOLDER_OPEN_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder_path.h"
#include "session/format/folder_safe.h"

/** What may be in a session folder. */
enum {
    SXS_NAMES_PROCESSES = 1,    /* folders of processes: 4242, 4242-2 */
    SXS_NAMES_SEGMENTS = 2,     /* segments, "kept", and a segment that is being deleted */
    SXS_NAMES_SEGMENT_FILES = 4 /* what describes a segment, in its folder */
};

/** sxs_name_is_process - tell whether @name has the form of the name of a process's folder: up to ten
 *  digits, or twice so with '-' between. Pure. */
static inline int sxs_name_is_process(const char *name)
{
    size_t n = strspn(name, "0123456789"), again;
    if (n == 0 || n > 10)
        return 0;
    if (!name[n])
        return 1;
    again = name[n] == '-' ? strspn(name + n + 1, "0123456789") : 0;
    return again > 0 && again <= 10 && !name[n + 1 + again];
}

/** sxs_name_segment_length - return the length of the segment's name (20261124T101500Z-41) that @name
 *  begins with; 0: none. The form alone is looked at, not whether there is such a date. Pure. */
static inline size_t sxs_name_segment_length(const char *name)
{
    static const char form[] = "00000000T000000Z-";
    size_t            digits;
    for (size_t i = 0; form[i]; i++)
        if (form[i] == '0' ? name[i] < '0' || name[i] > '9' : name[i] != form[i])
            return 0;
    digits = strspn(name + sizeof(form) - 1, "0123456789");
    return digits && digits <= 18 ? sizeof(form) - 1 + digits : 0;
}

static inline int sxs_name_is_of_segments(const char *name)
{
    size_t dot = name[0] == '.', n = sxs_name_segment_length(name + dot);
    return n ? strcmp(name + dot + n, dot ? ".gone" : "") == 0 : strcmp(name, "kept") == 0;
}

/** sxs_name_is_of_session - tell whether @name may be in a session folder. @names: a sum of
 *  SXS_NAMES_. Names that file systems put there by themselves may always be there. Pure. */
static inline int sxs_name_is_of_session(const char *name, unsigned names)
{
    if (strcmp(name, "lost+found") == 0 || strncmp(name, ".nfs", 4) == 0 ||
        strcmp(name, ".snapshot") == 0)
        return 1;
    return (names & SXS_NAMES_PROCESSES && sxs_name_is_process(name)) ||
           (names & SXS_NAMES_SEGMENTS && sxs_name_is_of_segments(name)) ||
           (names & SXS_NAMES_SEGMENT_FILES &&
            (strcmp(name, "segment.json") == 0 || strcmp(name, "trigger.json") == 0 ||
             strcmp(name, ".next") == 0));
}

/* Looks for a name in the folder @fd that is not of a session. Returns 0, or -errno with a reason. */
static inline int sxs_folder_check_names(int fd, unsigned names, char *why, size_t size)
{
    int                  own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
    DIR                 *dir = own >= 0 ? fdopendir(own) : NULL;
    const struct dirent *e;
    if (!dir) {
        err = errno;
        snprintf(why, size, "%s", strerror(err));
        if (own >= 0)
            close(own);
        return -err;
    }
    while (!err && (e = readdir(dir)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            !sxs_name_is_of_session(e->d_name, names)) {
            snprintf(why, size,
                     "it has '%.80s' in it, which is not of a session; expected an empty folder, "
                     "one of a session, or a name that is free",
                     e->d_name);
            err = ENOTEMPTY;
        }
    closedir(dir);
    return -err;
}

/**
 * sxs_session_folder_open - open the folder @path, to record a session into it.
 * @how, @real, @made, @why, @size: as for sxs_folder_path_open(). @names: what may be in it, a sum
 * of SXS_NAMES_.
 * Returns a descriptor, or -errno with a reason in @why: also -EACCES: another user could replace
 * the files in it, and -ENOTEMPTY: something else is in it. Any thread; not signal-safe.
 */
static inline int sxs_session_folder_open(const char *path, unsigned how, unsigned names,
                                          char real[PATH_MAX], int *made, char *why, size_t size)
{
    struct stat st;
    int         is_new, err = 0, fd = sxs_folder_path_open(path, how, real, &is_new, why, size);
    if (made)
        *made = is_new;
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) != 0)
        snprintf(why, size, "%s", strerror(err = errno));
    else if (sxs_folder_refused(&st, why, size))
        err = EACCES;
    else if (!is_new)
        err = -sxs_folder_check_names(fd, names, why, size);
    if (!err)
        return fd;
    close(fd);
    return -err;
}

#endif
