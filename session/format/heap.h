/* SPDX-License-Identifier: MIT */
/**
 * heap.h - the format of a heap snapshot: the files "heap-1", "heap-2"... in a process's session
 * folder.
 *
 * A snapshot holds the objects of all runtimes of the process, one runtime after the other. The
 * file is a header of one page, then blocks. A block is a struct sxs_heap_block and a payload of
 * unsigned integers, called varints: 7 bits in each byte, least significant first, bit 7 set in all
 * bytes but the last, 10 bytes at most. In the lists below each name is one varint; "text" is a
 * varint with the number of bytes, then these bytes, UTF-8, without a terminating zero. A "delta"
 * is the difference of two addresses, divided by 8, as a signed number n that is stored as
 * (n << 1) ^ (n >> 63). Objects are aligned to 8 bytes.
 *
 * One thread writes the file through a shared map. It fills a block and then raises `used` of the
 * header, so everything below `used` is complete, whenever the process ends.
 * docs/internals/heap.md describes the same bytes for other readers. All integers are
 * little-endian.
 */
#ifndef SXS_SESSION_FORMAT_HEAP_H
#define SXS_SESSION_FORMAT_HEAP_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define SXS_HEAP_MAGIC       "SXSHEAP" /* 8 bytes with its zero */
#define SXS_HEAP_VERSION     2u
#define SXS_HEAP_OLDEST      1u /* version that readers know: without FIELDS, VARIANTS and PLACES */
#define SXS_HEAP_FILE        "heap-" /* the snapshot's number follows: 1, 2, 3... */
#define SXS_HEAP_HEADER_SIZE 4096u
/** A request for values: a text file in the process's folder, which the next snapshot reads and
 *  removes. Its first line is SXS_HEAP_ASK_FIRST; each further one is "object RUNTIME ADDRESS" or
 *  "static RUNTIME TYPE.FIELD" (RUNTIME: a number; 0: all; ADDRESS: hexadecimal). */
#define SXS_HEAP_ASK_FILE  "heap-ask"
#define SXS_HEAP_ASK_FIRST "sxsprof heap-ask 1"
#define SXS_HEAP_ASK_MAX   16384u /* bytes */
#define SXS_HEAP_ASK_LINES 16u
#define SXS_HEAP_ASK_TEXT  512u /* bytes of TYPE.FIELD, with a zero */

#define SXS_HEAP_BLOCK_MAGIC 0x4b424853u     /* "SHBK" */
#define SXS_HEAP_BLOCK_MAX   (1024u * 1024u) /* bytes of a block, at most */
#define SXS_HEAP_SLOTS_MAX   4096u           /* of FIELDS; a variant has 64 at most */
#define SXS_HEAP_PLACES_MAX  2048u           /* numbers in an item of PLACES */

/** What asked for the snapshot. */
enum sxs_heap_trigger {
    SXS_HEAP_ON_SIGNAL = 1,
    SXS_HEAP_ON_INTERVAL = 2,
    SXS_HEAP_AT_EXIT = 3,
    SXS_HEAP_NOW = 4,     /* the first runtime had started */
    SXS_HEAP_ON_CALL = 5, /* the program called a function of the library */
};

/** The first SXS_HEAP_HEADER_SIZE bytes. */
struct sxs_heap_header {
    char             magic[8]; /* SXS_HEAP_MAGIC; stored when the other members are set */
    uint32_t         version;
    uint32_t         pid;
    uint32_t         number;  /* of the snapshot in this process, from 1: heap-NUMBER */
    uint32_t         trigger; /* enum sxs_heap_trigger */
    uint64_t         started_realtime_ns;
    uint64_t         started_ns; /* CLOCK_MONOTONIC, as all times in blocks */
    _Atomic uint64_t ended_ns;   /* 0: being written, or incomplete for ever */
    _Atomic uint64_t used;       /* bytes that are complete, this page included */
    _Atomic uint32_t error; /* not 0: errno value of the reason why the snapshot is incomplete */
    uint32_t         zero;
    char             command[1024]; /* command line of the process, zero-terminated */
};

enum sxs_heap_block_kind {
    SXS_HEAP_RUNTIME = 1,
    SXS_HEAP_TYPES = 2,
    SXS_HEAP_OBJECTS = 3,
    SXS_HEAP_ROOTS = 4,
    SXS_HEAP_NAMES = 5,
    SXS_HEAP_DEPENDENT = 6,
    SXS_HEAP_BOUNDS = 7,
    SXS_HEAP_END = 8,
    SXS_HEAP_VALUES = 9,
    SXS_HEAP_FIELDS = 10,
    SXS_HEAP_VARIANTS = 11,
    SXS_HEAP_PLACES = 12,
    SXS_HEAP_N_KINDS
};

/**
 * A block. Its kinds and their payload; `count` says how often the payload's list is repeated:
 *
 * RUNTIME (once, first block of a runtime; count 1): how (enum sxs_heap_how), server (0:
 *   workstation collector, 1: server, 2: not known), started_ns, version text, path text (of
 * libcoreclr.so). TYPES: type (number in this runtime, from 1), flags (enum sxs_heap_type_flag),
 *   size (bytes of each object; 0 with SXS_HEAP_TYPE_VARIES), element (type number of an array's
 *   elements; 0: not known, or not an array), name text (with generic arguments), module text
 * (path; empty if none). OBJECTS: address (delta to the address of the object before in this
 *   block; of the first one: to 0), type * 2 + sized, size in bytes (only if `sized` is 1;
 *   otherwise the size is that of the type), references (number of them), then for each reference:
 *   its address (delta to the object's own address). Null references are left out. An object with
 *   very many references is written in several parts, one after the other, which have the same
 *   address and size, perhaps in several blocks: readers join them to one object.
 * ROOTS: kind (enum sxs_heap_root_kind), flags (enum sxs_heap_root_flag), object (delta to the
 *   object of the root before in this block; of the first one: to 0), id (of the runtime: a
 *   handle's address, a static field's address, else 0), name (number of a NAMES entry: the
 *   function of a STACK root, TYPE.FIELD of a STATIC root; 0: none).
 * NAMES: number (in this runtime, from 1), text.
 * DEPENDENT: primary (delta to the primary before, as in ROOTS), secondary (delta to the primary),
 *   id. The secondary is kept alive by the primary. A secondary with the primary's address: none.
 * BOUNDS: generation (0 to 2; 3: large, 4: pinned, 5: frozen), start (address), size (bytes). An
 *   object outside of all bounds is in generation 0.
 * END (once, last block of a runtime; count 1): objects, bytes, references, roots, dependent, types
 *   (numbers of each), lacking (bits of enum sxs_heap_lacking), pause_ns (how long the runtime was
 *   stopped for the snapshot), suspend_ns (part of it before its threads had stopped), status
 *   (HRESULT when the runtime refused; 0: complete).
 * VALUES (only if they were requested; see SXS_HEAP_ASK_FILE): what (enum sxs_heap_value_what), depth,
 *   address (of the object, static field, field or item), offset (bytes from the address of the line
 *   with depth 0 above), size (bytes; 0: not known), object (address of the object that a reference
 *   refers to; 0: none), name text, owner text, type text, value text. A line with depth 0 begins an
 *   answer: name is what was asked for. The lines after it are its fields or items; name and type are
 *   theirs, and owner is the base class that declares the field, or empty.
 *
 * FIELDS: type (number), base (bytes of an array without elements), step (bytes of an element; 0:
 *   not an array), lead (1: the first reference of each object is to the loader of its type, and is
 *   in no slot), slots (number of them in an object, or in an element), then a text for each slot:
 *   the field, "outer.inner" in a struct; empty: not known, or an array's element itself. Objects
 *   have their references in the order of the slots.
 * VARIANTS: number (as those of types, and different from them; OBJECTS may have it in place of the
 *   type's), type (number), mask (bit i: slot i of the type has a reference, else it is null).
 * PLACES: address (delta to the address before in this block, as in OBJECTS), numbers (a multiple
 *   of 2; 0: it is not known in which slots the references of the object are), then in turn: slots
 *   that are null, references after them. Further items with the same address go on with the
 *   object. After the last reference all slots are null.
 *   An object without PLACES has a reference in each slot of its type or variant. If the number of
 *   its references is another one, nothing is known about its slots.
 *
 * TYPES, NAMES, VALUES, FIELDS and VARIANTS can come after the blocks that refer to them, but always before END. A
 *   runtime
 * without END is incomplete.
 */
struct sxs_heap_block {
    uint32_t magic;   /* SXS_HEAP_BLOCK_MAGIC */
    uint32_t size;    /* bytes, this header included, a multiple of 8; zeros fill the end */
    uint16_t kind;    /* enum sxs_heap_block_kind; readers skip kinds that they do not know */
    uint16_t runtime; /* number of the runtime */
    uint32_t count;   /* items in the payload */
};

/** How the objects of a runtime were read. */
enum sxs_heap_how {
    SXS_HEAP_COLLECTED = 1, /* after a collection of all generations: no garbage is included */
    SXS_HEAP_WALKED = 2,    /* without a collection: garbage is included */
};

enum sxs_heap_type_flag {
    SXS_HEAP_TYPE_ARRAY = 1,
    SXS_HEAP_TYPE_STRING = 2,
    SXS_HEAP_TYPE_FINALIZABLE = 4,
    SXS_HEAP_TYPE_COLLECTIBLE = 8, /* can be unloaded */
    SXS_HEAP_TYPE_VARIES = 16,     /* the size of each object is its own */
    SXS_HEAP_TYPE_VALUE = 32,      /* a value type: the objects are boxed values */
    SXS_HEAP_TYPE_UNNAMED = 64,    /* the runtime did not tell the name */
};

enum sxs_heap_root_kind {
    SXS_HEAP_ROOT_OTHER = 0,
    SXS_HEAP_ROOT_STACK = 1,
    SXS_HEAP_ROOT_FINALIZER = 2, /* waits for its finalizer */
    SXS_HEAP_ROOT_HANDLE = 3,    /* of which kind: flags */
    SXS_HEAP_ROOT_STATIC = 4,
    SXS_HEAP_ROOT_THREAD_STATIC = 5,
};

enum sxs_heap_root_flag {
    SXS_HEAP_ROOT_PINNED = 1,
    SXS_HEAP_ROOT_WEAK = 2,     /* keeps nothing alive */
    SXS_HEAP_ROOT_INTERIOR = 4, /* points into the object */
    SXS_HEAP_ROOT_REFCOUNTED = 8,
};

/** What a line of VALUES is. */
enum sxs_heap_value_what {
    SXS_HEAP_VALUE_PART = 0,   /* a field or an item; depth is not 0 */
    SXS_HEAP_VALUE_OBJECT = 1,
    SXS_HEAP_VALUE_STATIC = 2,
    SXS_HEAP_VALUE_THREAD_STATIC = 3, /* offset: the thread's ID of the kernel */
    SXS_HEAP_VALUE_RVA_STATIC = 4,    /* lies in the module's file */
    SXS_HEAP_VALUE_NONE = 5,          /* there is no value: the value text says why */
    SXS_HEAP_VALUE_UNKNOWN = 6, /* as NONE: no such object, type or field */
};

/** What a snapshot of a runtime lacks. */
enum sxs_heap_lacking {
    SXS_HEAP_NO_ROOTS = 1,      /* STACK, HANDLE, FINALIZER and OTHER roots, and DEPENDENT */
    SXS_HEAP_NO_STATICS = 2,    /* names of static fields */
    SXS_HEAP_NO_FROZEN = 4,     /* objects outside of the collected heap; of older sessions */
    SXS_HEAP_NO_REFERENCES = 8, /* of objects to one another */
    SXS_HEAP_SOME_TYPES = 16,   /* names of some types */
    SXS_HEAP_NO_BOUNDS = 32,    /* generations */
    SXS_HEAP_SOME_OBJECTS = 64, /* objects: memory or disk ran out, or the runtime ended */
};

_Static_assert(sizeof(struct sxs_heap_header) <= SXS_HEAP_HEADER_SIZE, "the header is one page");
_Static_assert(offsetof(struct sxs_heap_header, command) == 64, "part of the format");
_Static_assert(sizeof(struct sxs_heap_block) == 16, "part of the format");

#endif
