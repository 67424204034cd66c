/* SPDX-License-Identifier: MIT */
/* fuzz_assemble.c - bytes as ilasm's text: what is assembled and checked is written, printed, assembled again,
 * and the same. See fuzz.h. */
#include "tests/fuzz/fuzz.h"

#include "instr/il/assemble.h"
#include "instr/il/text.h"
#include "tests/instr/graph.h"

static struct sxs_il_body *body, *again;

/* Tokens are made of what is asked for, so that the same gets the same. */
static uint32_t hash(uint32_t seed, const void *bytes, size_t size)
{
    const uint8_t *b = bytes;
    uint32_t       h = 2166136261u ^ seed;
    for (size_t i = 0; i < size; i++)
        h = (h ^ b[i]) * 16777619u;
    return h & 0xffff;
}

static int type(void *context, const char *assembly, const char *name, uint32_t *token)
{
    (void)context;
    *token = 0x01000000 | hash(assembly ? hash(1, assembly, strlen(assembly)) : 0, name, strlen(name));
    return strcmp(name, "None") == 0;
}

static int type_spec(void *context, const uint8_t *sig, size_t size, uint32_t *token)
{
    (void)context;
    *token = 0x1b000000 | hash(2, sig, size);
    return 0;
}

static int member(void *context, uint32_t owner, const char *name, const uint8_t *sig, size_t size,
                  uint32_t *token)
{
    (void)context;
    *token = 0x0a000000 | hash(owner ^ hash(3, name, strlen(name)), sig, size);
    return 0;
}

static int method_spec(void *context, uint32_t method, const uint8_t *sig, size_t size,
                       uint32_t *token)
{
    (void)context;
    *token = 0x2b000000 | hash(method, sig, size);
    return 0;
}

static int signature(void *context, const uint8_t *sig, size_t size, uint32_t *token)
{
    (void)context;
    *token = 0x11000000 | hash(4, sig, size);
    return 0;
}

static int string(void *context, const uint16_t *units, size_t n, uint32_t *token)
{
    (void)context;
    *token = 0x70000000 | hash(5, units, 2 * n);
    return 0;
}

static int effect(void *context, enum sxs_il_opcode opcode, uint32_t token, struct sxs_il_effect *e)
{
    (void)context;
    *e = (struct sxs_il_effect){(uint16_t)(token & 1), (uint16_t)(opcode == SXS_IL_NEWOBJ || token & 2)};
    return 0;
}

/* @copied: not what was assembled goes into the body, but a copy of it. */
static int assemble(struct sxs_il_body *b, const char *text, int copied, struct sxs_il_error *e)
{
    static const struct sxs_il_tokens tokens = {type, type_spec, member, method_spec, signature, string,
                                                NULL, NULL};
    const struct sxs_il_source        source = {text, 2, &tokens};
    struct sxs_il_fragment            f, copy;
    int                               err;
    sxs_il_clear(b);
    err = sxs_il_assemble(b, &source, &f, e);
    if (err)
        return err;
    MUST(sxs_il_copy_fragment(b, &f, &copy) == 0);
    MUST(sxs_il_insert_fragment(b, NULL, copied ? &copy : &f) == 0);
    MUST(!f.first || f.first->listed != copied);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const struct sxs_il_method method = {.n_args = 3, .n_locals = 4, .effect = effect};
    static char                       out[1u << 20];
    struct sxs_text                   t = sxs_text_counted(out, sizeof(out));
    struct sxs_il_error               e = {0};
    char                             *text = malloc(size + 1);
    const uint8_t                    *written;
    size_t                            n;
    if (!body) {
        body = sxs_il_new();
        again = sxs_il_new();
    }
    MUST(text);
    memcpy(text, bytes, size);
    text[size] = '\0';
    if (assemble(body, text, 1, &e) != 0) {
        MUST(e.status && !strncmp(e.text, "line ", 5) && e.offset <= size);
        free(text);
        return 0;
    }
    MUST(assemble(again, text, 0, &e) == 0);
    MUST(same_graph(body, again));
    if (sxs_il_check(body, &method, &e) == 0) {
        fuzz_whole++;
        MUST(sxs_il_write(body, &written, &n, &e) == 0);
        sxs_il_put_body(&t, body, "", NULL);
        if (t.len < sizeof(out)) {
            MUST(assemble(again, out, 1, &e) == 0);
            MUST(sxs_il_check(again, &method, &e) == 0);
            MUST(same_graph(body, again));
        }
    }
    free(text);
    return 0;
}

#ifndef SXS_LIBFUZZER
static const char *const lines[] = {
    "nop\n", "ldarg.0\npop\n", "ldc.i4.s -5\npop\n", "ldc.i8 0x7fffffffffffffff\npop\n",
    "ldc.r8 1.5e-3\npop\n", "ldc.r4 (00 00 C0 7F)\npop\n", "ldstr \"a\\tb\\\"\"\npop\n",
    "ldstr bytearray (41 00 00 D8)\npop\n", "A: B:\n", "br A\n", "br.s END\n", "ldarg.0\nbrtrue END\n",
    "ldarg.0\nswitch (END, END,END)\n", ".maxstack 8\n", ".locals init (int32 n, string[] s)\n",
    "ldloc n\npop\n", "call void [System.Console]System.Console::WriteLine(string)\n",
    "callvirt instance !!0 class A.B`2<int32,class 'x y'>::M<string, !0[]>(!!0, int32[0...,2...5])\n",
    "calli unmanaged cdecl int32(method void *(int32*), ..., int32&)\n", "volatile. ldsfld int32 A/B::f\n",
    "ldtoken method void A::B()\npop\n", "ldtoken field int32 x\npop\n", "ldtoken method int32 *(int32)\npop\n",
    "newobj instance void int32[,]::.ctor(int32, int32)\npop\n", "box !0\n", "T: leave END\nU:\n",
    "pop\nleave END\nV:\n", ".try T to U catch [m]E handler U to V\n", ".try T to U finally handler U to V\n",
    "endfinally\n", "constrained. valuetype T\n", "// a comment\n", "ret\n", "endfilter\n", "unaligned. 4\n",
    "ldsfld int32 modopt(a.b) modreq([x]c/d) A::b\npop\n", "sizeof native uint\npop\n", "ldtoken typedref\npop\n",
};

static size_t fuzz_make(uint8_t *out)
{
    char  *end = (char *)out; /* FUZZ_MAX is far more than 13 lines take */
    size_t n;
    *end = '\0';
    for (uint64_t k = roll(12); k-- > 0;)
        end = stpcpy(end, lines[roll(sizeof(lines) / sizeof(lines[0]))]);
    if (roll(4))
        end = stpcpy(end, "END: ret\n");
    n = (size_t)(end - (char *)out);
    return roll(3) ? n : fuzz_mutate(out, n);
}

int main(int argc, char **argv)
{
    int err = fuzz_main(argc, argv, "texts");
    sxs_il_free(body);
    sxs_il_free(again);
    return err;
}
#endif
