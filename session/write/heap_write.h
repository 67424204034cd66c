/* SPDX-License-Identifier: MIT */
/**
 * heap_write.h - writes a heap snapshot (session/format/heap.h) block by block.
 *
 * The functions need bounded memory (struct sxs_heap_file) and take only one lock of the library, that
 * of base/descriptors.h, so they may be called while a runtime is stopped. One thread at a time
 * uses a file. When a block cannot be written, because the disk is full or for another reason, the
 * error is kept and all later blocks are dropped.
 */
#ifndef SXS_SESSION_WRITE_HEAP_WRITE_H
#define SXS_SESSION_WRITE_HEAP_WRITE_H

#include "session/format/heap.h"
#include "session/write/file_write.h"

/** A block that is being filled. */
struct sxs_heap_filling {
    unsigned char *bytes; /* the block's header first; owned by the file */
    size_t         size, max;
    uint32_t       count;
    uint64_t       last; /* address that the next delta is to */
};

/** One snapshot. Zeroed before sxs_heap_create(). */
struct sxs_heap_file {
    struct sxs_file         file;
    char                    name[24];
    struct sxs_heap_header *header; /* the first page, mapped */
    size_t                  max_bytes;
    uint64_t                used;
    uint16_t                runtime;
    int                     error; /* 0, or the errno value of the first failure */
    unsigned char          *memory;
    struct sxs_heap_filling blocks[SXS_HEAP_N_KINDS];
};

/** A type. Texts are borrowed for the call. */
struct sxs_heap_type_record {
    uint32_t    number, element, flags;
    uint64_t    size;
    const char *name, *module;
};

/** A line of VALUES. Texts are borrowed for the call. */
struct sxs_heap_value {
    uint32_t    what, depth; /* what: enum sxs_heap_value_what */
    uint64_t    address, offset, size, object;
    const char *name, *owner, *type, *value;
};

/** The slots of a type. Texts are borrowed for the call. */
struct sxs_heap_fields_record {
    uint32_t           type, base, step, lead, n;
    const char *const *names; /* n of them */
};

/** What END says of a runtime. */
struct sxs_heap_totals {
    uint64_t objects, bytes, references, roots, dependent, types;
    uint64_t pause_ns, suspend_ns;
    uint32_t lacking, status;
};

/**
 * sxs_heap_create - create snapshot @number in @folder, or the next number that is free.
 * @folder: borrowed until sxs_heap_close(). @f: must not move until then.
 * Returns 0, or -errno and then nothing is left behind. Not signal-safe. */
int sxs_heap_create(struct sxs_heap_file *f, const struct sxs_folder *folder, uint32_t number,
                    enum sxs_heap_trigger trigger, const char *command);

/** sxs_heap_begin - begin the blocks of a runtime. @server: as in RUNTIME. */
void sxs_heap_begin(struct sxs_heap_file *f, unsigned runtime, enum sxs_heap_how how,
                    unsigned server, const char *version, const char *path);
/** sxs_heap_object - write an object. @size: 0 if it is that of the type. @refs: addresses, without
 *  0. */
void sxs_heap_object(struct sxs_heap_file *f, uint64_t address, uint32_t type, uint64_t size,
                     const uint64_t *refs, size_t n);
void sxs_heap_root(struct sxs_heap_file *f, enum sxs_heap_root_kind kind, uint32_t flags,
                   uint64_t object, uint64_t id, uint32_t name);
/** sxs_heap_dependent - @secondary: 0 if there is none. */
void sxs_heap_dependent(struct sxs_heap_file *f, uint64_t primary, uint64_t secondary, uint64_t id);
void sxs_heap_type(struct sxs_heap_file *f, const struct sxs_heap_type_record *type);
void sxs_heap_name(struct sxs_heap_file *f, uint32_t number, const char *text);
void sxs_heap_bounds(struct sxs_heap_file *f, unsigned generation, uint64_t start, uint64_t size);
/** sxs_heap_value - write a line of VALUES. Texts are cut at 8 KiB. */
void sxs_heap_value(struct sxs_heap_file *f, const struct sxs_heap_value *value);
/** sxs_heap_fields - write the names of slots. Returns 0, or -1 when they are too long: then nothing
 *  is written. */
int  sxs_heap_fields(struct sxs_heap_file *f, const struct sxs_heap_fields_record *fields);
void sxs_heap_variant(struct sxs_heap_file *f, uint32_t number, uint32_t type, uint64_t mask);
/** sxs_heap_places - say in which slots the references of an object are. @runs: null slots and
 *  references in turn; @n: at most SXS_HEAP_PLACES_MAX; 0: this is not known. */
void sxs_heap_places(struct sxs_heap_file *f, uint64_t address, const uint32_t *runs, size_t n);
/** sxs_heap_end - write all blocks that are being filled, and END. */
void sxs_heap_end(struct sxs_heap_file *f, const struct sxs_heap_totals *totals);

/** sxs_heap_ended - note in the header that the snapshot has ended; it is complete unless an error
 *  was kept. More runtimes may follow. Returns 0 or the errno value of the error. */
int sxs_heap_ended(struct sxs_heap_file *f);

/** sxs_heap_close - free the memory of @f; the file stays. */
void sxs_heap_close(struct sxs_heap_file *f);

#endif
