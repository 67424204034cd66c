/* SPDX-License-Identifier: MIT */
/**
 * pack.h - packed sessions: a session folder, and the names and lines that its reports need, in one
 * file.
 *
 * The file is a tar archive compressed by zstd. Its entries, in this order:
 *   sxsprof-pack     the version of this format: "1\n"
 *   <pid>/<file>     the files of the session, in folders as session_read.h describes them
 *   names            the table of names (cmd/symbols/names.proto)
 *   end              the check sum of all other entries: 8 hexadecimal digits and a newline
 * The check sum is the CRC-32 of, for each entry: its name with the final zero, its size as 8 bytes
 * (little-endian), and its contents.
 */
#ifndef SXS_CMD_PACK_PACK_H
#define SXS_CMD_PACK_PACK_H

#include "session/read/session_read.h"

#include <stddef.h>
#include <stdint.h>

#define SXS_PACK_EXTENSION ".sxsprof"

/** What sxs_pack_write() has written. */
struct sxs_pack_sums {
    size_t   n_files; /* of the session */
    uint64_t bytes;   /* size of the packed file; 0 when it is no regular file */
};

/**
 * sxs_pack_write - pack the session folder @dir into the file @path.
 * @session: the processes in @dir. @path: "-" is standard output; an existing file is replaced only
 * when the new file is complete. @names, @names_size: the encoded table of names.
 * @sums: receives numbers. @why: receives one line about a failure; holds @size bytes.
 * Returns 0, or -1 after a failure.
 */
int sxs_pack_write(const char *dir, const struct sxs_session *session, const char *path,
                   const uint8_t *names, size_t names_size, struct sxs_pack_sums *sums, char *why,
                   size_t size);

/**
 * sxs_pack_open - when @path is a regular file, unpack it to a private folder below TMPDIR.
 * @dir: receives the session folder: the private folder, or @path itself when @path is no regular
 * file. Borrowed. The private folder is removed when the command ends, also by a signal.
 * @why: receives one line about a failure; holds @size bytes.
 * Returns 0, or -1 when the file is damaged or is no packed session; nothing is left behind then.
 * The file is untrusted: only entries with the names above and limited sizes are unpacked.
 */
int sxs_pack_open(const char *path, const char **dir, char *why, size_t size);

#endif
