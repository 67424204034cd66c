/* SPDX-License-Identifier: MIT */
/** dump.h - the text of each method that plug-ins have changed, for the log. */
#ifndef SXS_CLRIE_DUMP_H
#define SXS_CLRIE_DUMP_H

#include "clrie/work.h"

/** clrie_dump_method - write the method as XML to the log, if the log has the level of dumps. Called
 *  before the runtime gets the new body. */
void clrie_dump_method(struct clrie_method *method, const struct clrie_work *work);

#endif
