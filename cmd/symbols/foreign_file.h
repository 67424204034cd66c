/* SPDX-License-Identifier: MIT */
/**
 * foreign_file.h - open a file whose path comes from an untrusted source: the path of a module or an
 * assembly in a session, or of a PDB or debug file that such a file names.
 *
 * Such a path can name a device, a pipe, a file of the kernel, or a file that the owner of the
 * session cannot read himself. What it names is looked at without an effect on it (O_PATH); only a
 * regular file of an ordinary file system is opened. Links are followed: the path is a name on this
 * machine, and libraries are reached through links.
 *
 * When root reads the session of another user, the file is looked up and opened with the rights of
 * that user, so that the kernel decides what he can read.
 */
#ifndef SXS_CMD_SYMBOLS_FOREIGN_FILE_H
#define SXS_CMD_SYMBOLS_FOREIGN_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define SXS_OWNER_GROUPS 64u

/** With whose rights files are opened. Zeroed: with those of this process. */
struct sxs_file_owner {
    uid_t    uid; /* 0: those of this process */
    gid_t    gid;
    uint32_t n_groups;
    gid_t    groups[SXS_OWNER_GROUPS];
};

/**
 * sxs_session_owner - set @owner to the user who has written a session: when this process is root, the first
 * other user who owns the file "samples" in the folder @process_fd, that folder, or @session_fd.
 * Both are borrowed. The user's groups are asked from the system's list of users; a user who is not
 * in it has none. One thread at a time.
 */
void sxs_session_owner(int session_fd, int process_fd, struct sxs_file_owner *owner);

/**
 * sxs_foreign_open - open the regular file @path for reading.
 * Returns a descriptor, which the caller owns, or -1; @why then receives the reason, static text
 * that follows the path in a message. @st: NULL, or receives what the file is.
 * A file system that does not answer blocks the call, as it blocks reading the file; everything
 * else returns at once. Changes the rights of the calling thread for a moment; one thread at a time.
 */
int sxs_foreign_open(const char *path, const struct sxs_file_owner *owner, struct stat *st,
                     const char **why);

/**
 * sxs_foreign_is_ours - return true when only root or the user of this process can have written the
 * open file @fd, as far as its owner and its mode tell. Not for file systems that a process serves,
 * which name any owner: false.
 */
bool sxs_foreign_is_ours(int fd);

#endif
