/* SPDX-License-Identifier: MIT */
/** tests/unit/folder_fixture.h - a temporary folder with one file, for tests that write a file of a
 *  session and read it. */
#ifndef SXS_TESTS_FOLDER_FIXTURE_H
#define SXS_TESTS_FOLDER_FIXTURE_H

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/sxsprof-test.XXXXXX";
static int  folder_fd;

/** Creates and opens the folder. Returns 0, or -1 on failure. */
static inline int open_folder(void)
{
    memset(folder + sizeof(folder) - sizeof("XXXXXX"), 'X', 6);
    folder_fd = mkdtemp(folder) ? open(folder, O_RDONLY | O_DIRECTORY) : -1;
    return folder_fd < 0 ? -1 : 0;
}

/** Removes @file, if it exists, and the folder. Returns 0, or -1 if the folder has other files. */
static inline int remove_folder_with(const char *file)
{
    unlinkat(folder_fd, file, 0);
    close(folder_fd);
    return rmdir(folder);
}

#endif
