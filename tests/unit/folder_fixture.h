/* SPDX-License-Identifier: MIT */
/** folder_fixture.h - a temporary folder with one file, for tests that read a session's file back. */
#ifndef SXS_TESTS_FOLDER_FIXTURE_H
#define SXS_TESTS_FOLDER_FIXTURE_H

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/sxsprof-test.XXXXXX";
static int  folder_fd;

/** Makes the folder. Returns 0, or -1. */
static inline int open_folder(void)
{
    folder_fd = mkdtemp(folder) ? open(folder, O_RDONLY | O_DIRECTORY) : -1;
    return folder_fd < 0 ? -1 : 0;
}

/** Removes @file, if there is one, and the folder. Returns 0, or -1 when something else is left in it. */
static inline int remove_folder_with(const char *file)
{
    unlinkat(folder_fd, file, 0);
    close(folder_fd);
    return rmdir(folder);
}

#endif
