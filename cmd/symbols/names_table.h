/* SPDX-License-Identifier: MIT */
/**
 * names_table.h - a table of names and lines: the file "names" of a packed session.
 *
 * A table is filled while names are looked up, written by sxs_names_encode(), and read again by
 * sxs_names_decode(). Encoded tables are untrusted. One thread at a time.
 */
#ifndef SXS_CMD_SYMBOLS_NAMES_TABLE_H
#define SXS_CMD_SYMBOLS_NAMES_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SXS_NAMES_FILE "names"
#define SXS_MAX_NAMES  (128u << 20) /* bytes of an encoded table */
#define SXS_NO_PLACE   UINT32_MAX

struct sxs_names;

/** One row. Texts are borrowed from the table until it changes. */
struct sxs_names_row {
    const char *symbol, *source; /* "" when not known */
    uint32_t    line, at_line;   /* as in struct sxs_native_name; 0 when not known */
};

/** sxs_names_new - return an owned, empty table; release it with sxs_names_free(). */
struct sxs_names *sxs_names_new(void);

/**
 * sxs_names_place - return the number of an ELF file or, with @managed, of an assembly; SXS_NO_PLACE
 * when the table has no such place. @build_id: @id_size bytes, none for an assembly.
 */
uint32_t sxs_names_place(const struct sxs_names *names, bool managed, const char *path,
                         const uint8_t *build_id, size_t id_size);

/** sxs_names_add_place - do the same; the place is added when it is missing. */
uint32_t sxs_names_add_place(struct sxs_names *names, bool managed, const char *path,
                             const uint8_t *build_id, size_t id_size);

/** sxs_names_add - add a row to a place. @key: as in names.proto. @row: texts are copied. */
void sxs_names_add(struct sxs_names *names, uint32_t place, uint64_t key,
                   const struct sxs_names_row *row);

/** sxs_names_set_problem - record why a place has no names; @problem is copied. */
void sxs_names_set_problem(struct sxs_names *names, uint32_t place, const char *problem);

/** sxs_names_problem - return why a place has no names; NULL for no reason. Borrowed. */
const char *sxs_names_problem(const struct sxs_names *names, uint32_t place);

/**
 * sxs_names_find - find the row of @key in @place (SXS_NO_PLACE: nothing is found) of a table from
 * sxs_names_decode(). Returns false when there is none.
 */
bool sxs_names_find(const struct sxs_names *names, uint32_t place, uint64_t key,
                    struct sxs_names_row *out);

/** sxs_names_count - return how many rows there are; exact after sxs_names_encode(). */
size_t sxs_names_count(const struct sxs_names *names);

/** sxs_names_encode - return the table as a message Names; owned. @size: receives its bytes. */
uint8_t *sxs_names_encode(struct sxs_names *names, size_t *size);

/**
 * sxs_names_decode - read a table. Returns an owned table, or NULL when @bytes are damaged; @why
 * then receives the reason, static text.
 */
struct sxs_names *sxs_names_decode(const uint8_t *bytes, size_t size, const char **why);

/**
 * sxs_names_read - read the file SXS_NAMES_FILE in the folder @dir_fd, which is borrowed.
 * Returns an owned table; or NULL with @why NULL when there is no such file, or with the reason.
 */
struct sxs_names *sxs_names_read(int dir_fd, const char **why);

void sxs_names_free(struct sxs_names *names);

#endif
