/* SPDX-License-Identifier: MIT */
/**
 * heap_read.h - reads a heap snapshot, block by block (session/format/heap.h has the format).
 *
 * The file is untrusted: it may be cut, damaged, or still be written by a living process. Blocks
 * are copied into memory one at a time, so that a file that shrinks or changes meanwhile does no
 * harm: the bytes that were checked are the bytes that are used. Texts are not zero-terminated and
 * may contain any bytes.
 */
#ifndef SXS_SESSION_READ_HEAP_READ_H
#define SXS_SESSION_READ_HEAP_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "session/format/heap.h"
#include "session/read/file_read.h"

/** Numbers of types and names that are higher than this are taken for damage. */
#define SXS_HEAP_MAX_NUMBER (1u << 22)

/** The header, without atomics. */
struct sxs_heap_head {
    uint32_t pid, number, trigger; /* enum sxs_heap_trigger */
    int      error;                /* errno value of the reason why it is incomplete; 0: none */
    uint64_t started_realtime_ns, started_ns;
    uint64_t ended_ns;      /* 0: being written, or incomplete for ever */
    char     command[1024]; /* zero-terminated */
};

/** A text in a block: borrowed until the next block is loaded. */
struct sxs_heap_text {
    const char *at;
    size_t      size; /* bytes */
};

/** An open snapshot. One thread at a time; not signal-safe. */
struct sxs_heap_reader {
    struct sxs_heap_head head;
    int                  fd;
    uint64_t             end;   /* offset where the complete blocks end */
    uint64_t             next;  /* offset of the block to load next */
    char                *bytes; /* the payload of the block; owned */
    /* The block that was loaded last: */
    uint16_t       kind, runtime;
    uint32_t       left;       /* items that were not taken yet */
    const uint8_t *at, *stop;  /* the bytes of these items */
    uint64_t       previous;   /* the address that the next delta is relative to */
    uint64_t       object;     /* the address of the object that was taken last */
    uint64_t       references; /* references of it that were not taken yet */
    uint32_t       fields, places; /* of the last FIELDS or PLACES that were not taken yet */
    bool           bad;        /* the rest of the block is damaged */
    /* Damage that was found; reported by sxs_heap_reader_problem(). */
    uint64_t n_bad_blocks; /* blocks of which a part was skipped */
    uint64_t damaged_at;   /* offset from which on nothing was read; 0: none */
    bool     cut;          /* the file is shorter than its header says */
    char     line[256];    /* the line that sxs_heap_reader_problem() returned last */
};

/** sxs_heap_number_of - return N of "heap-N", the name of a snapshot's file; 0: any other name. */
uint32_t sxs_heap_number_of(const char *name);

/**
 * sxs_heap_reader_open - open the snapshot with the number @number.
 * @folder: the process's folder; borrowed for this call.
 * @why: receives one line about a failure, else "".
 * Returns 0, and sxs_heap_reader_close() must follow; ENOENT when there is no such file, EINVAL
 * when it has another format, or another errno value. Follows no symbolic link and does not wait
 * for a pipe.
 */
int sxs_heap_reader_open(struct sxs_heap_reader *r, const struct sxs_files *folder, uint32_t number,
                         char *why, size_t why_size);
void sxs_heap_reader_close(struct sxs_heap_reader *r);

/**
 * sxs_heap_reader_next - load the next block: sets r->kind, r->runtime and r->left.
 * Returns false at the end of the snapshot. The items of a block that the caller does not take are
 * skipped.
 */
bool sxs_heap_reader_next(struct sxs_heap_reader *r);

/** Start again with the first block, and forget the problems found so far. */
void sxs_heap_reader_rewind(struct sxs_heap_reader *r);

/** sxs_heap_reader_problem - return a line that describes a kind of damage that was found.
 *  @index: count it up from 0 until NULL is returned. Borrowed until the next call. */
const char *sxs_heap_reader_problem(struct sxs_heap_reader *r, size_t index);

struct sxs_heap_runtime_item {
    uint64_t             how, server, started_ns; /* how: enum sxs_heap_how */
    struct sxs_heap_text version, path;
};
struct sxs_heap_type_item {
    uint32_t             number, flags, element; /* flags: enum sxs_heap_type_flag */
    uint64_t             size;
    struct sxs_heap_text name, module;
};
struct sxs_heap_object_item {
    uint64_t address, size; /* size: 0 when it is that of the type */
    uint64_t references;    /* their number, for sxs_heap_take_reference() */
    uint32_t type;          /* number of the type */
    bool     sized;         /* the object has a size of its own */
};
struct sxs_heap_root_item {
    uint64_t object, id;
    uint32_t kind, flags, name;
};
struct sxs_heap_name_item {
    uint32_t             number;
    struct sxs_heap_text text;
};
struct sxs_heap_dependent_item {
    uint64_t primary, secondary, id;
};
struct sxs_heap_bounds_item {
    uint64_t start, size;
    uint32_t generation; /* 0 to 5 */
};
struct sxs_heap_value_item {
    uint32_t             what, depth; /* what: enum sxs_heap_value_what */
    uint64_t             address, offset, size, object;
    struct sxs_heap_text name, owner, type, value;
};
struct sxs_heap_fields_item {
    uint32_t type, base, step, lead, n; /* n: names, for sxs_heap_take_field() */
};
struct sxs_heap_variant_item {
    uint32_t number, type;
    uint64_t mask;
};
struct sxs_heap_places_item {
    uint64_t address;
    uint32_t n; /* numbers, for sxs_heap_take_place() */
};
struct sxs_heap_end_item {
    uint64_t objects, bytes, references, roots, dependent, types, lacking, pause_ns, suspend_ns,
        status;
};

/**
 * Take the next item of the block that was loaded last, which must be of the kind of the item.
 * Return false when the block has no more items, or when its rest is damaged.
 */
bool sxs_heap_take_runtime(struct sxs_heap_reader *r, struct sxs_heap_runtime_item *out);
bool sxs_heap_take_type(struct sxs_heap_reader *r, struct sxs_heap_type_item *out);
bool sxs_heap_take_object(struct sxs_heap_reader *r, struct sxs_heap_object_item *out);
bool sxs_heap_take_root(struct sxs_heap_reader *r, struct sxs_heap_root_item *out);
bool sxs_heap_take_name(struct sxs_heap_reader *r, struct sxs_heap_name_item *out);
bool sxs_heap_take_dependent(struct sxs_heap_reader *r, struct sxs_heap_dependent_item *out);
bool sxs_heap_take_bounds(struct sxs_heap_reader *r, struct sxs_heap_bounds_item *out);
bool sxs_heap_take_value(struct sxs_heap_reader *r, struct sxs_heap_value_item *out);
bool sxs_heap_take_fields(struct sxs_heap_reader *r, struct sxs_heap_fields_item *out);
bool sxs_heap_take_variant(struct sxs_heap_reader *r, struct sxs_heap_variant_item *out);
bool sxs_heap_take_places(struct sxs_heap_reader *r, struct sxs_heap_places_item *out);
bool sxs_heap_take_end(struct sxs_heap_reader *r, struct sxs_heap_end_item *out);

/** sxs_heap_take_reference - take the next reference of the object that was taken last. Returns
 *  false when it has no more. References that are not taken are skipped with the object. */
bool sxs_heap_take_reference(struct sxs_heap_reader *r, uint64_t *address);

/** sxs_heap_take_field, sxs_heap_take_place - take the next name of the FIELDS, or number of the
 *  PLACES, that were taken last. As sxs_heap_take_reference(). */
bool sxs_heap_take_field(struct sxs_heap_reader *r, struct sxs_heap_text *name);
bool sxs_heap_take_place(struct sxs_heap_reader *r, uint32_t *number);

#endif
