/* SPDX-License-Identifier: MIT */
#include "symbols/describe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/session_state.h"
#include "symbols/compiled.h"
#include "symbols/early.h"
#include "symbols/images.h"

#define MAX_NAME  4000u
#define MAX_LINES 2048u /* IL offsets of one piece of code: 16 KiB */

struct described_function {
    struct sxs_runtime *rt;
    sxs_function        fn;
    sxs_module          module;
    /* `start`: beginning of the native code that contains lo; 0: not known */
    uintptr_t           ip, lo, hi, start;
    uint64_t            time_ns;
    uint32_t            rejit, token;
    enum sxs_code_tier  tier;
    char                name[MAX_NAME], file[1024];
    struct sxs_code_line lines[MAX_LINES];
    size_t              n_lines;
};

/* ---- the range of the code ------------------------------------------------------------------- */

static int pieces_hold(struct described_function *a, const COR_PRF_CODE_INFO *pieces, ULONG32 n,
                       ULONG32 cap)
{
    for (ULONG32 i = 0; i < n && i < cap; i++) {
        a->lo = (uintptr_t)pieces[i].startAddress;
        a->hi = a->lo + (uintptr_t)pieces[i].size;
        if (a->ip >= a->lo && a->ip < a->hi)
            return 1;
    }
    return 0;
}

/* Finds the part of the function's code, of this ReJIT version and any tier, that contains the
 * IP. */
static void find_piece(struct described_function *a)
{
    UINT_PTR          starts[64];
    COR_PRF_CODE_INFO pieces[16];
    ULONG32           n_starts = 0, n = 0;
    sxs_rejit         version = {a->rt, a->rejit};
    if (SUCCEEDED(sxs_info_GetNativeCodeStartAddresses(a->rt, a->fn, version, 64, &n_starts, starts)))
        for (ULONG32 i = 0; i < n_starts && i < 64; i++)
            if (SUCCEEDED(sxs_info_GetCodeInfo4(a->rt, starts[i], 16, &n, pieces)) &&
                pieces_hold(a, pieces, n, 16)) {
                a->start = starts[i];
                return;
            }
    if ((SUCCEEDED(sxs_info_GetCodeInfo3(a->rt, a->fn, version, 16, &n, pieces)) ||
         SUCCEEDED(sxs_info_GetCodeInfo2(a->rt, a->fn, 16, &n, pieces))) &&
        pieces_hold(a, pieces, n, 16)) {
        a->start = (uintptr_t)pieces[0].startAddress;
        return;
    }
    a->lo = a->ip;
    a->hi = a->ip + 1;
}

/* ---- the tier of the code -------------------------------------------------------------------- */

/* The tier of code that the index does not have. It was not compiled here, so it is precompiled.
 * Where not all compilations are known (before ICorProfilerInfo12, after an attach, early code
 * of unloaded modules), it counts as precompiled only if it is mapped from a file. */
static enum sxs_code_tier tier_by_place(const struct described_function *a)
{
    if (strncmp(a->name, "[stub] ", 7) == 0)
        return SXS_TIER_STUB;
    if (strncmp(a->name, "[dynamic] ", 10) == 0)
        return SXS_TIER_DYNAMIC;
    return sxs_compiled_all(a->rt) || sxs_images_hold(a->ip) ? SXS_TIER_R2R : SXS_TIER_UNKNOWN;
}

/* ---- the lines of the code ------------------------------------------------------------------- */

static int by_offset(const void *a, const void *b)
{
    const struct sxs_code_line *x = a, *y = b;
    return x->native_offset != y->native_offset ? (x->native_offset > y->native_offset) * 2 - 1
                                                : (x->il_offset > y->il_offset) -
                                                      (x->il_offset < y->il_offset);
}

/* Returns 1 and sets *@il if native code at a mapping's @offset belongs to a line of its own. A
 * prologue belongs to the function's first line. Code without a mapping belongs to the line
 * before it, and so does an epilogue, which mostly follows the last line. */
static int il_of(uint32_t offset, uint32_t *il)
{
    *il = offset == (uint32_t)PROLOG ? 0 : offset;
    return offset != (uint32_t)NO_MAPPING && offset != (uint32_t)EPILOG;
}

static void find_lines(struct described_function *a)
{
    /* under the same exclusion as sxs_describe() */
    static COR_DEBUG_IL_TO_NATIVE_MAP map[MAX_LINES];
    SXS_SESSION_RESETS(map);
    ULONG32                           n = 0;
    if (!a->start || !a->token ||
        FAILED(sxs_info_GetILToNativeMapping3(a->rt, a->start, MAX_LINES, &n, map)))
        return;
    for (ULONG32 i = 0; i < n && i < MAX_LINES; i++) {
        struct sxs_code_line *line = &a->lines[a->n_lines];
        uintptr_t             at = a->start + map[i].nativeStartOffset;
        if (!il_of(map[i].ilOffset, &line->il_offset) || at < a->lo || at >= a->hi)
            continue;
        line->native_offset = (uint32_t)(at - a->lo);
        a->n_lines++;
    }
    if (a->n_lines)
        qsort(a->lines, a->n_lines, sizeof(a->lines[0]), by_offset);
}

/* Precompiled code of a method is reported for the first time when the method is compiled again,
 * so it is older than its report. */
static int is_precompiled(const struct sxs_compiled *piece)
{
    return piece->early && sxs_images_hold(piece->lo);
}

/* ---- the record ------------------------------------------------------------------------------ */

static void write_record(struct sxs_samples_writer *w, const struct described_function *a)
{
    size_t name = strlen(a->name), file = strlen(a->file);
    size_t texts = offsetof(struct sxs_record_code, text) + name + file;
    size_t lines = (texts + 7) & ~(size_t)7, size = lines + a->n_lines * sizeof(a->lines[0]);
    struct sxs_record_code *r =
        sxs_samples_reserve(w, size > sizeof(*r) ? size : sizeof(*r));
    if (!r)
        return;
    r->time_ns = a->time_ns;
    r->lo = a->lo;
    r->hi = a->hi;
    r->function = a->fn.id;
    r->rejit = a->rejit;
    r->token = a->token;
    r->runtime = (uint16_t)sxs_runtime_number(a->rt);
    r->tier = (uint8_t)a->tier;
    r->name_size = (uint16_t)name;
    r->file_size = (uint16_t)file;
    r->n_lines = (uint32_t)a->n_lines;
    memcpy(r->text, a->name, name);
    memcpy(r->text + name, a->file, file);
    memcpy((char *)r + lines, a->lines, a->n_lines * sizeof(a->lines[0]));
    sxs_samples_commit(r, SXS_RECORD_CODE);
}

/* Takes over what the compilation's event reported. */
static void take_compiled(struct described_function *a, const struct sxs_compiled *piece)
{
    a->lo = a->start = piece->lo;
    a->hi = piece->hi;
    if (is_precompiled(piece)) {
        a->tier = SXS_TIER_R2R;
    } else {
        a->time_ns = piece->time_ns;
        a->tier = piece->early ? sxs_early_tier(piece->early, a->module, a->token)
                               : (enum sxs_code_tier)piece->tier;
    }
    if (strncmp(a->name, "[stub] ", 7) == 0)
        a->tier = SXS_TIER_STUB;
}

static void ask_function(struct described_function *a, struct sxs_namer *namer)
{
    const struct sxs_compiled *piece = sxs_compiled_find(a->rt, a->ip);
    sxs_class                  cls;
    sxs_function               fn;
    sxs_rejit                  rejit = {a->rt, 0};
    ULONG32                    n_args = 0;
    sxs_namer_function(namer, a->fn, a->name, sizeof(a->name));
    if (FAILED(sxs_info_GetFunctionInfo2(a->rt, a->fn, 0, &cls, &a->module, &a->token, 0, &n_args,
                                         NULL)))
        a->token = 0;
    else
        sxs_namer_file(a->module, a->file, sizeof(a->file));
    if (SUCCEEDED(sxs_info_GetFunctionFromIP2(a->rt, (LPCBYTE)a->ip, &fn, &rejit)))
        a->rejit = (uint32_t)rejit.id;
    if (piece && piece->function == a->fn.id) {
        take_compiled(a, piece);
    } else {
        find_piece(a);
        a->tier = tier_by_place(a);
    }
    find_lines(a);
}

void sxs_describe(struct sxs_samples_writer *w, struct sxs_namer *namer, struct sxs_runtime *rt,
                  uintptr_t ip, uint64_t time_ns, struct sxs_described *out)
{
    static struct described_function
        asked; /* static because it is large; callers exclude each other */
    SXS_SESSION_RESETS(asked);
    struct described_function *a = &asked;
    const struct sxs_compiled *piece = sxs_compiled_find(rt, ip);
    *a =
        (struct described_function){.rt = rt, .ip = ip, .lo = ip, .hi = ip + 1, .time_ns = time_ns};
    a->fn.rt = rt;
    a->tier = SXS_TIER_STUB;
    if (piece && piece->time_ns > time_ns && !is_precompiled(piece)) {
        /* The code is younger than the sample, so the sample met other code that was unloaded
         * since. */
        strcpy(a->name, "[unloaded]");
        a->tier = SXS_TIER_UNKNOWN;
        write_record(w, a);
        *out = (struct sxs_described){0};
        return;
    }
    if (sxs_namer_find(rt, ip, &a->fn))
        ask_function(a, namer);
    else
        strcpy(a->name, "[stub]");
    write_record(w, a);
    *out = (struct sxs_described){a->lo, a->hi, a->fn.id};
}
