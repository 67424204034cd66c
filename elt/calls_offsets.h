/* SPDX-License-Identifier: MIT */
/** calls_offsets.h - offsets and constants that the hooks of the tool calls use. tools/calls/fast.c
 *  asserts that they match the structures. This file has preprocessor directives only. */
#ifndef SXS_ELT_CALLS_OFFSETS_H
#define SXS_ELT_CALLS_OFFSETS_H

/* struct sxs_calls_state */
#define STATE_TOP       0
#define STATE_LIMIT     16
#define STATE_CELLS     24
#define STATE_FLAT      32
#define STATE_N_FLAT    40
#define STATE_SLOTS     48
#define STATE_N_SLOTS   56
#define STATE_RECORD    88
#define STATE_EVENT     112
#define STATE_EVENT_END 120

/* struct sxs_calls_thread */
#define RECORD_PENDING_OF 100
#define RECORD_PENDING    112

/* struct sxs_calls_slot, 16 bytes; its first 8 bytes are the key: parent and function */
#define SLOT_NODE 8

/* struct sxs_calls_frame */
#define FRAME_SP    0
#define FRAME_NODE  8
#define FRAME_FN    16
#define FRAME_START 24
#define FRAME_CALLEES 32
#define FRAME_SIZE    64

/* struct sxs_calls_node, in a cell of 2^CELL_BITS bytes */
#define CELL_BITS      6
#define NODE_FUNCTION  4
#define NODE_CALLS     8
#define NODE_TICKS     16
#define NODE_ENTERED   24
#define NODE_LATEST    40
#define NODE_HISTOGRAM 44
#define NODE_SELF      48
#define NODE_ACTIVE    60

/* struct sxs_calls_histogram */
#define HISTOGRAM_MIN     8
#define HISTOGRAM_MAX     16
#define HISTOGRAM_OCTAVES 24
#define LAST_OCTAVE       57

/* struct sxs_calls_event: the tick, then node and kind, which are written as one 8-byte number */
#define EVENT_TICK  0
#define EVENT_NODE  8
#define EVENT_SIZE  16
#define EVENT_ENTER 0 /* the number of the bit that is set in the enum sxs_calls_event_kind value */
#define EVENT_LEAVE 1

/* struct sxs_called */
#define CALLED_OFF    0
#define CALLED_NUMBER 4
#define CALLED_CELL   8
#define CALLED_IS_OFF  1 /* flags in off */
#define CALLED_SPECIAL 6

#define DUE_MASK   0x7fff             /* SXS_CALLS_BACKOFF_EVERY - 1 */
#define HASH_FACTOR 0x9e3779b97f4a7c15 /* multiplier of a slot's key, as in sxs_hash_id() */

#endif
