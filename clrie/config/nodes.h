/* SPDX-License-Identifier: MIT */
/** nodes.h - nodes of a document as CLRIE sees them: comments and texts count, blanks between elements
 *  do not. For the files of this folder. */
#ifndef SXS_CLRIE_CONFIG_NODES_H
#define SXS_CLRIE_CONFIG_NODES_H

#include "instr/config/libxml.h"
#include "instr/config/reader.h"

#define CLRIE_ROOT "InstrumentationEngineConfiguration"

/** clrie_node_child, clrie_node_next - the first node in @node, or the next one after @node, of any
 *  kind, without blank text. NULL: none. */
const xmlNode *clrie_node_child(const xmlNode *node);
const xmlNode *clrie_node_next(const xmlNode *node);

/** clrie_node_is - return 1 if @node is an element with this name, in any namespace. NULL: 0. */
int clrie_node_is(const xmlNode *node, const char *name);

/** clrie_node_unknown - report that @node is not what is @expected. */
void clrie_node_unknown(struct config_reader *r, const xmlNode *node, const char *expected);

/** clrie_node_text - the text of the first node in @node, not trimmed. Returns an owned string, "" if
 *  there is none, NULL without memory, and then whole->failed is set. */
char *clrie_node_text(struct config_reader *r, const xmlNode *node);

/** clrie_node_attribute - the value of an attribute, as clrie_node_text(). */
char *clrie_node_attribute(struct config_reader *r, const xmlNode *node, const char *name);

/** clrie_check_root - return the root element, or NULL after reporting that it is not CLRIE's. */
const xmlNode *clrie_check_root(struct config_reader *r, xmlDocPtr doc);

#endif
