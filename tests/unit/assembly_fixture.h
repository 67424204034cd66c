/* SPDX-License-Identifier: MIT */
/** assembly_fixture.h - makes the smallest assembly file: one module row, one name, one MVID. */
#ifndef SXS_TESTS_ASSEMBLY_FIXTURE_H
#define SXS_TESTS_ASSEMBLY_FIXTURE_H

#include <stdint.h>
#include <string.h>

#define FIXTURE_ASSEMBLY_SIZE 0x6000u /* the metadata lies in the file's last page */
#define FIXTURE_MODULE_NAME   "fixture.dll"

static inline void fixture_put(uint8_t *file, size_t at, uint32_t value, unsigned size)
{
    memcpy(file + at, &value, size);
}

/** Fills @file, FIXTURE_ASSEMBLY_SIZE bytes. @mvid: the byte that the module's MVID repeats. */
static inline void fixture_assembly(uint8_t *file, uint8_t mvid)
{
    enum { PE = 0x80, OPTIONAL = PE + 24, SECTION = OPTIONAL + 0xe0, CLI = 0x200, ROOT = 0x5000 };
    enum { TABLES = ROOT + 0x100, STRINGS = ROOT + 0x180, GUIDS = ROOT + 0x1a0 };
    static const struct {
        const char *name;
        uint32_t    at, size;
    } streams[] = {{"#~", TABLES, 0x80}, {"#Strings", STRINGS, 0x20}, {"#GUID", GUIDS, 0x10}};
    size_t at = ROOT + 28;
    memset(file, 0, FIXTURE_ASSEMBLY_SIZE);
    fixture_put(file, 0, 0x5a4d, 2); /* MZ */
    fixture_put(file, 0x3c, PE, 4);
    fixture_put(file, PE, 0x4550, 4);
    fixture_put(file, PE + 6, 1, 2);
    fixture_put(file, PE + 20, 0xe0, 2);
    fixture_put(file, OPTIONAL, 0x10b, 2);
    fixture_put(file, OPTIONAL + 92, 16, 4); /* number of data directories */
    fixture_put(file, OPTIONAL + 96 + 14 * 8, CLI, 4); /* addresses equal file offsets */
    fixture_put(file, SECTION + 12, CLI, 4);
    fixture_put(file, SECTION + 16, FIXTURE_ASSEMBLY_SIZE - CLI, 4);
    fixture_put(file, SECTION + 20, CLI, 4);
    fixture_put(file, CLI + 8, ROOT, 4);
    fixture_put(file, CLI + 12, FIXTURE_ASSEMBLY_SIZE - ROOT, 4);
    fixture_put(file, ROOT, 0x424a5342, 4); /* BSJB */
    fixture_put(file, ROOT + 12, 8, 4);     /* length of the version string, which is empty */
    fixture_put(file, ROOT + 26, 3, 2);
    for (unsigned i = 0; i < 3; i++) {
        fixture_put(file, at, streams[i].at - ROOT, 4);
        fixture_put(file, at + 4, streams[i].size, 4);
        memcpy(file + at + 8, streams[i].name, strlen(streams[i].name));
        at += 8 + ((strlen(streams[i].name) + 4) & ~(size_t)3);
    }
    fixture_put(file, TABLES + 8, 1, 4);  /* the module table is the only table */
    fixture_put(file, TABLES + 24, 1, 4); /* it has one row: */
    fixture_put(file, TABLES + 28 + 2, 1, 2);
    fixture_put(file, TABLES + 28 + 4, 1, 2);
    memcpy(file + STRINGS + 1, FIXTURE_MODULE_NAME, sizeof(FIXTURE_MODULE_NAME));
    memset(file + GUIDS, mvid, 16);
}

#endif
