/* SPDX-License-Identifier: MIT */
/** collections_read.h - reads the records of collections in the file "events", for events_read.c. */
#ifndef SXS_SESSION_READ_COLLECTIONS_READ_H
#define SXS_SESSION_READ_COLLECTIONS_READ_H

#include "session/read/events_read.h"

/** sxs_collection_read - copy a record of type SXS_EVENT_COLLECTION to @out. Returns false when the
 *  record is damaged. Pure. */
bool sxs_collection_read(const struct sxs_record *record, struct sxs_events_collection *out);

/** sxs_collection_order - compare two collections by runtime, then time, for qsort(). */
int sxs_collection_order(const void *a, const void *b);

#endif
