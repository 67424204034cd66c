/* SPDX-License-Identifier: MIT */
#include "session/format/folder_open.h"

#include "base/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/format/folder_safe.h"
#include "session/format/session.h"

#define ALL_NAMES (SXS_NAMES_PROCESSES | SXS_NAMES_SEGMENTS | SXS_NAMES_SEGMENT_FILES)

/* ---- names ----------------------------------------------------------------------------------- */

int sxs_name_is_process(const char *name)
{
    size_t n = strspn(name, "0123456789"), again;
    if (n == 0 || n > 10)
        return 0;
    if (!name[n])
        return 1;
    again = name[n] == '-' ? strspn(name + n + 1, "0123456789") : 0;
    return again > 0 && again <= 10 && !name[n + 1 + again];
}

size_t sxs_name_segment_length(const char *name)
{
    static const char form[] = "00000000T000000Z-";
    size_t            digits;
    for (size_t i = 0; form[i]; i++)
        if (form[i] == '0' ? name[i] < '0' || name[i] > '9' : name[i] != form[i])
            return 0;
    digits = strspn(name + sizeof(form) - 1, "0123456789");
    return digits && digits <= 18 ? sizeof(form) - 1 + digits : 0;
}

static int is_of_segments(const char *name)
{
    size_t dot = name[0] == '.', n = sxs_name_segment_length(name + dot);
    return n ? strcmp(name + dot + n, dot ? ".gone" : "") == 0 : strcmp(name, "kept") == 0;
}

/* Whether @name may be in a session folder with these @names. Names that file systems put there by
 * themselves may always be there. */
static int is_of_session(const char *name, unsigned names)
{
    if (strcmp(name, "lost+found") == 0 || strncmp(name, ".nfs", 4) == 0 ||
        strcmp(name, ".snapshot") == 0)
        return 1;
    return (names & SXS_NAMES_PROCESSES && sxs_name_is_process(name)) ||
           (names & SXS_NAMES_SEGMENTS && is_of_segments(name)) ||
           (names & SXS_NAMES_SEGMENT_FILES &&
            (strcmp(name, "segment.json") == 0 || strcmp(name, "trigger.json") == 0 ||
             strcmp(name, ".next") == 0));
}

/* ---- what is in a folder --------------------------------------------------------------------- */

/* Whether @name in the folder @fd is a segment, or the folder of a process with a census: a year is
 * the name of many a folder. */
static int is_session(int fd, const char *name, unsigned names)
{
    char        census[64];
    size_t      n = sxs_name_segment_length(name);
    struct stat st;
    if (names & SXS_NAMES_SEGMENTS && n && !name[n])
        return fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
    if (!(names & SXS_NAMES_PROCESSES) || !sxs_name_is_process(name))
        return 0;
    snprintf(census, sizeof(census), "%.32s/%s", name, SXS_CENSUS_FILE);
    return fstatat(fd, census, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

/* Looks through @dir, whose descriptor is @fd. Writes to @other the first name that must not be
 * there, or "". */
static void find_other(DIR *dir, int fd, unsigned names, char *other, size_t size)
{
    const struct dirent *e;
    int                  has_session = 0;
    other[0] = '\0';
    while ((e = readdir(dir))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (is_of_session(e->d_name, names)) {
            has_session = has_session || is_session(fd, e->d_name, names);
            continue;
        }
        if (!other[0] || is_of_session(e->d_name, ALL_NAMES))
            snprintf(other, size, "%.80s", e->d_name);
        if (is_of_session(e->d_name, ALL_NAMES))
            return; /* a session of another kind */
    }
    if (has_session)
        other[0] = '\0';
}

/* Returns 0, or -errno with a reason. */
static int check_names(int fd, unsigned names, char *why, size_t size)
{
    char other[81];
    DIR *dir = sxs_tree_list(fd, ".");
    if (!dir) {
        int err = errno;
        snprintf(why, size, "%s", strerror(err));
        return -err;
    }
    find_other(dir, fd, names, other, sizeof(other));
    closedir(dir);
    if (!other[0])
        return 0;
    snprintf(why, size,
             "it has '%s' in it, which is not of a session; expected an empty folder, "
             "one of a session, or a name that is free",
             other);
    return -ENOTEMPTY;
}

int sxs_session_folder_open(const char *path, unsigned how, unsigned names, char real[PATH_MAX],
                            int *made, char *why, size_t size)
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
        err = -check_names(fd, names, why, size);
    if (!err)
        return fd;
    close(fd);
    return -err;
}
