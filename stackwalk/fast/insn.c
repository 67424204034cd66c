/* SPDX-License-Identifier: MIT */
#include "stackwalk/fast/insn.h"

#include <string.h>

/* Flags for the bytes that follow an opcode: M is a ModRM byte, I1 to I3 and IZ, IV, IA are
 * immediates (IZ: 4 bytes, 2 with prefix 66; IV: as IZ, but 8 with REX.W; IA: an 8-byte
 * address). BAD: not a valid opcode. */
enum { M = 0x10, I1 = 1, I2 = 2, IZ = 4, IV = 8, I3 = 3, IA = 9, BAD = 0x20, G3 = 0x40 };

#define ALU M, M, M, M, I1, IZ, BAD, BAD
/* The one-byte opcodes. Prefixes and escapes (0f, 26, 2e, 36, 3e, 40-4f, 62, 64-67, c4, c5, f0,
 * f2, f3) are handled before this table is used. G3: opcode group 3, where only two of eight
 * forms have the immediate. */
static const uint8_t one_byte[256] = {
    ALU,    ALU,    ALU, ALU,    ALU, ALU, ALU,         ALU, /* 00-3f */
    BAD,    BAD,    BAD, BAD,    BAD, BAD, BAD,         BAD,
    BAD,    BAD,    BAD, BAD,    BAD, BAD, BAD,         BAD, /* 40 */
    0,      0,      0,   0,      0,   0,   0,           0,
    0,      0,      0,   0,      0,   0,   0,           0, /* 50 */
    BAD,    BAD,    BAD, M,      BAD, BAD, BAD,         BAD,
    IZ,     M | IZ, I1,  M | I1, 0,   0,   0,           0, /* 60 */
    I1,     I1,     I1,  I1,     I1,  I1,  I1,          I1,
    I1,     I1,     I1,  I1,     I1,  I1,  I1,          I1, /* 70 */
    M | I1, M | IZ, BAD, M | I1, M,   M,   M,           M,
    M,      M,      M,   M,      M,   M,   M,           M, /* 80 */
    0,      0,      0,   0,      0,   0,   0,           0,
    0,      0,      BAD, 0,      0,   0,   0,           0, /* 90 */
    IA,     IA,     IA,  IA,     0,   0,   0,           0,
    I1,     IZ,     0,   0,      0,   0,   0,           0, /* a0 */
    I1,     I1,     I1,  I1,     I1,  I1,  I1,          I1,
    IV,     IV,     IV,  IV,     IV,  IV,  IV,          IV, /* b0 */
    M | I1, M | I1, I2,  0,      BAD, BAD, M | I1,      M | IZ,
    I3,     0,      I2,  0,      0,   I1,  BAD,         0, /* c0 */
    M,      M,      M,   M,      BAD, BAD, BAD,         0,
    M,      M,      M,   M,      M,   M,   M,           M, /* d0 */
    I1,     I1,     I1,  I1,     I1,  I1,  I1,          I1,
    IZ,     IZ,     BAD, I1,     0,   0,   0,           0, /* e0 */
    BAD,    0,      BAD, BAD,    0,   0,   M | G3 | I1, M | G3 | IZ,
    0,      0,      0,   0,      0,   0,   M,           M, /* f0 */
};

struct decoder {
    const uint8_t *p, *end;
    uint8_t        rex, has_66;
};

/* Whether a two-byte opcode (0f xx) has no ModRM byte; all others have one. */
SXS_SIGSAFE static int two_byte_plain(uint8_t op)
{
    return (op >= 0x05 && op <= 0x09) || op == 0x0b || op == 0x0e || (op >= 0x30 && op <= 0x37) ||
           op == 0x77 || (op >= 0x80 && op <= 0x8f) || op == 0xa0 || op == 0xa1 || op == 0xa2 ||
           op == 0xa8 || op == 0xa9 || op == 0xaa || (op >= 0xc8 && op <= 0xcf);
}

SXS_SIGSAFE static int two_byte_immediate(uint8_t op)
{
    return (op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac || op == 0xba || op == 0xc2 ||
           op == 0xc4 || op == 0xc5 || op == 0xc6;
}

/* Size of ModRM, SIB and displacement at @p, in bytes; 0 if incomplete. */
SXS_SIGSAFE static size_t modrm_size(const uint8_t *p, const uint8_t *end)
{
    size_t size = 1;
    if (p >= end)
        return 0;
    unsigned mod = *p >> 6, rm = *p & 7;
    if (mod == 3)
        return 1;
    if (rm == 4) {
        if (p + 1 >= end)
            return 0;
        if (mod == 0 && (p[1] & 7) == 5)
            size += 4;
        size++;
    } else if (mod == 0 && rm == 5) {
        size += 4;
    }
    return size + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

SXS_SIGSAFE static size_t immediate_size(const struct decoder *d, uint8_t form)
{
    switch (form & 0xf) {
    case IZ: return d->has_66 ? 2 : 4;
    case IV: return d->rex & 8 ? 8 : d->has_66 ? 2 : 4;
    case IA: return 8;
    default: return form & 0xf;
    }
}

/* Size of a VEX or EVEX instruction from its opcode at @p on; 0 if incomplete. @map: 1 to 3
 * stand for 0f, 0f38, 0f3a. */
SXS_SIGSAFE static size_t vector_size(const struct decoder *d, const uint8_t *p, unsigned map)
{
    size_t modrm;
    if (p >= d->end || map == 0 || map > 6)
        return 0;
    if (map == 1 && *p == 0x77)
        return 1;
    modrm = modrm_size(p + 1, d->end);
    if (!modrm)
        return 0;
    return 1 + modrm + (map == 3 || (map == 1 && two_byte_immediate(*p)));
}

static const uint8_t dwarf_number[16] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

SXS_SIGSAFE static int32_t signed_at(const uint8_t *p, size_t size)
{
    int32_t v = 0;
    if (size == 1)
        return (int8_t)*p;
    memcpy(&v, p, 4);
    return v;
}

/* Handles lea to rsp or rbp from rsp or rbp. @p points to the ModRM byte. */
SXS_SIGSAFE static void meaning_of_lea(struct sxs_insn *insn, const uint8_t *p)
{
    unsigned mod = *p >> 6, to = (*p >> 3) & 7, from = *p & 7;
    if ((mod != 1 && mod != 2) || (from == 4 && p[1] != 0x24))
        return;
    insn->value = signed_at(p + (from == 4 ? 2 : 1), mod == 1 ? 1 : 4);
    if (from == 4)
        insn->kind = to == 4 ? SXS_INSN_ADJUST : to == 5 ? SXS_INSN_SET_RBP : SXS_INSN_OTHER;
    else if (from == 5 && to == 4)
        insn->kind = SXS_INSN_SET_RSP;
}

/* Sets kind, reg and value of a complete one-byte instruction. @p points after the opcode. */
SXS_SIGSAFE static void set_meaning(struct sxs_insn *insn, uint8_t op, uint8_t rex,
                                    const uint8_t *p)
{
    int wide = (rex & 0x0f) == 8; /* 64-bit operands, and no registers r8 to r15 */
    if (op >= 0x50 && op <= 0x5f) {
        insn->kind = op < 0x58 ? SXS_INSN_PUSH : SXS_INSN_POP;
        insn->reg = dwarf_number[(op & 7) | (rex & 1 ? 8 : 0)];
        return;
    }
    switch (op) {
    case 0x68:
    case 0x6a:
        insn->kind = SXS_INSN_PUSH;
        insn->reg = SXS_DWARF_NO_REG;
        break;
    case 0x81:
    case 0x83:
        if (wide && (*p == 0xc4 || *p == 0xec)) {
            insn->kind = SXS_INSN_ADJUST;
            insn->value = signed_at(p + 1, op == 0x83 ? 1 : 4);
            if (*p == 0xec)
                insn->value = -insn->value;
        }
        break;
    case 0x89:
    case 0x8b:
        if (wide && *p == (op == 0x8b ? 0xec : 0xe5))
            insn->kind = SXS_INSN_SET_RBP; /* mov rbp, rsp */
        else if (wide && *p == (op == 0x8b ? 0xe5 : 0xec))
            insn->kind = SXS_INSN_SET_RSP; /* mov rsp, rbp */
        break;
    case 0x8d:
        if (wide)
            meaning_of_lea(insn, p);
        break;
    case 0xc2:
    case 0xc3: insn->kind = SXS_INSN_RET; break;
    case 0xc9: insn->kind = SXS_INSN_LEAVE; break;
    case 0xcc:
    case 0xf4: insn->kind = SXS_INSN_TRAP; break;
    case 0xe8: insn->kind = SXS_INSN_CALL; break;
    case 0xe9:
    case 0xeb:
        insn->kind = SXS_INSN_JUMP;
        insn->value = signed_at(p, op == 0xeb ? 1 : 4);
        break;
    case 0xff:
        switch ((*p >> 3) & 7) {
        case 2: insn->kind = SXS_INSN_CALL; break;
        case 4:
            insn->kind = SXS_INSN_JUMP_FAR;
            /* REX.W has no effect here; compilers set it to mark tail calls */
            insn->value = rex & 8;
            break;
        case 6:
            insn->kind = SXS_INSN_PUSH;
            insn->reg = SXS_DWARF_NO_REG;
            break;
        default: break;
        }
        break;
    default: break;
    }
}

SXS_SIGSAFE static size_t escape_size(const struct decoder *d, const uint8_t *p,
                                      struct sxs_insn *insn)
{
    size_t modrm;
    if (p >= d->end)
        return 0;
    if (*p == 0x38 || *p == 0x3a) {
        modrm = modrm_size(p + 2, d->end);
        return modrm ? 2 + modrm + (*p == 0x3a) : 0;
    }
    if (*p == 0x0b)
        insn->kind = SXS_INSN_TRAP;
    if (two_byte_plain(*p))
        return *p >= 0x80 && *p <= 0x8f ? 5 : 1;
    modrm = modrm_size(p + 1, d->end);
    return modrm ? 1 + modrm + two_byte_immediate(*p) : 0;
}

SXS_SIGSAFE static size_t plain_size(const struct decoder *d, const uint8_t *p,
                                     struct sxs_insn *insn)
{
    uint8_t op = *p, form = one_byte[op];
    size_t  size = 1, modrm;
    if (form & BAD)
        return 0;
    if (form & M) {
        modrm = modrm_size(p + 1, d->end);
        if (!modrm)
            return 0;
        size += modrm;
    }
    if (!(form & G3) || !((p[1] >> 3) & 6))
        size += immediate_size(d, form);
    if (size <= (size_t)(d->end - p))
        set_meaning(insn, op, d->rex, p + 1);
    return size;
}

SXS_SIGSAFE struct sxs_insn sxs_insn_read(const uint8_t *code, size_t size)
{
    struct decoder  d = {.p = code, .end = code + (size < 15 ? size : 15)};
    struct sxs_insn insn = {.kind = SXS_INSN_OTHER};
    size_t          rest = 0;
    for (; d.p < d.end; d.p++) {
        uint8_t b = *d.p;
        if (b == 0x66)
            d.has_66 = 1;
        else if (b != 0x67 && b != 0xf0 && b != 0xf2 && b != 0xf3 && b != 0x64 && b != 0x65 &&
                 b != 0x2e && b != 0x3e && b != 0x26 && b != 0x36)
            break;
    }
    if (d.p < d.end && (*d.p & 0xf0) == 0x40)
        d.rex = *d.p++;
    if (d.p >= d.end)
        return insn;
    size_t left = (size_t)(d.end - d.p);
    switch (*d.p) {
    case 0x0f: rest = escape_size(&d, d.p + 1, &insn), rest += rest ? 1 : 0; break;
    case 0xc5: rest = vector_size(&d, d.p + 2, 1), rest += rest ? 2 : 0; break;
    case 0xc4:
        if (left > 3)
            rest = vector_size(&d, d.p + 3, d.p[1] & 0x1f), rest += rest ? 3 : 0;
        break;
    case 0x62:
        if (left > 4)
            rest = vector_size(&d, d.p + 4, d.p[1] & 7), rest += rest ? 4 : 0;
        break;
    default: rest = plain_size(&d, d.p, &insn);
    }
    if (!rest || rest > left)
        return (struct sxs_insn){.kind = SXS_INSN_OTHER};
    insn.length = (uint8_t)((size_t)(d.p - code) + rest);
    return insn;
}

SXS_SIGSAFE int sxs_insn_call_before(const uint8_t *code, size_t size)
{
    for (size_t length = 2; length <= 8 && length <= size; length++) {
        struct sxs_insn insn = sxs_insn_read(code + size - length, length);
        if (insn.kind == SXS_INSN_CALL && insn.length == length)
            return 1;
    }
    return 0;
}
