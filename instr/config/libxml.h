/* SPDX-License-Identifier: MIT */
/**
 * instr/config/libxml.h - load libxml2 when the first instrumentation file is read.
 *
 * A host without instrumentation files then does not load libxml2 and the libraries it depends on.
 * Include this header instead of libxml2's headers, and call libxml2's functions by their own
 * names.
 */
#ifndef SXS_INSTR_CONFIG_LIBXML_H
#define SXS_INSTR_CONFIG_LIBXML_H

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <libxml/xmlschemas.h>
#include <libxml/xmlschemastypes.h>

#define CONFIG_LIBXML_FUNCTIONS(X)                                                                \
    X(xmlCtxtReadMemory) X(xmlDocGetRootElement) X(xmlFreeDoc) X(xmlFreeParserCtxt) X(xmlHasProp) \
    X(xmlNewParserCtxt) X(xmlNodeGetContent) X(xmlNodeListGetString) X(xmlRemoveProp)             \
    X(xmlSchemaCleanupTypes) X(xmlSchemaGetBuiltInType) X(xmlSchemaInitTypes)                     \
    X(xmlSchemaFree) X(xmlSchemaFreeParserCtxt) X(xmlSchemaFreeValidCtxt)                         \
    X(xmlSchemaNewMemParserCtxt) X(xmlSchemaNewValidCtxt) X(xmlSchemaParse)                       \
    X(xmlSchemaSetParserStructuredErrors) X(xmlSchemaSetValidStructuredErrors)                    \
    X(xmlSchemaValidateDoc) X(xmlStopParser) X(xmlStrdup)

#define CONFIG_LIBXML_MEMBER(name) __typeof__(&name) name##_;
struct config_libxml {
    CONFIG_LIBXML_FUNCTIONS(CONFIG_LIBXML_MEMBER)
    xmlFreeFunc *free_;
};
#undef CONFIG_LIBXML_MEMBER

/** The functions of libxml2. They may be called once config_libxml_open() has returned NULL. */
extern struct config_libxml config_libxml;

/** config_libxml_open - load libxml2, once in a process. Returns NULL, or a static text that says
 *  why it cannot be used. Any thread may call it. */
const char *config_libxml_open(void);

#ifndef CONFIG_LIBXML_OWN
#define xmlCtxtReadMemory                  config_libxml.xmlCtxtReadMemory_
#define xmlDocGetRootElement               config_libxml.xmlDocGetRootElement_
#define xmlFreeDoc                         config_libxml.xmlFreeDoc_
#define xmlFreeParserCtxt                  config_libxml.xmlFreeParserCtxt_
#define xmlHasProp                         config_libxml.xmlHasProp_
#define xmlNewParserCtxt                   config_libxml.xmlNewParserCtxt_
#define xmlNodeGetContent                  config_libxml.xmlNodeGetContent_
#define xmlNodeListGetString               config_libxml.xmlNodeListGetString_
#define xmlRemoveProp                      config_libxml.xmlRemoveProp_
#define xmlSchemaCleanupTypes              config_libxml.xmlSchemaCleanupTypes_
#define xmlSchemaGetBuiltInType            config_libxml.xmlSchemaGetBuiltInType_
#define xmlSchemaInitTypes                 config_libxml.xmlSchemaInitTypes_
#define xmlSchemaFree                      config_libxml.xmlSchemaFree_
#define xmlSchemaFreeParserCtxt            config_libxml.xmlSchemaFreeParserCtxt_
#define xmlSchemaFreeValidCtxt             config_libxml.xmlSchemaFreeValidCtxt_
#define xmlSchemaNewMemParserCtxt          config_libxml.xmlSchemaNewMemParserCtxt_
#define xmlSchemaNewValidCtxt              config_libxml.xmlSchemaNewValidCtxt_
#define xmlSchemaParse                     config_libxml.xmlSchemaParse_
#define xmlSchemaSetParserStructuredErrors config_libxml.xmlSchemaSetParserStructuredErrors_
#define xmlSchemaSetValidStructuredErrors  config_libxml.xmlSchemaSetValidStructuredErrors_
#define xmlSchemaValidateDoc               config_libxml.xmlSchemaValidateDoc_
#define xmlStopParser                      config_libxml.xmlStopParser_
#define xmlStrdup                          config_libxml.xmlStrdup_
#undef xmlFree
#define xmlFree (*config_libxml.free_)
#endif

#endif
