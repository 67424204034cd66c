/* SPDX-License-Identifier: MIT */
/* fuzz_message.c - bytes as messages of the control socket: what is one is written, and read back as the same. See
 * fuzz.h. */
#define FUZZ_MAX (1u << 15)
#include "tests/fuzz/fuzz.h"

#include "control/message/message.h"

static void write_again(const struct sxs_message *m)
{
    static struct sxs_message_writer w;
    struct sxs_message               again;
    char                             why[128];
    sxs_message_begin(&w, m->text);
    for (size_t i = 0; i < m->n; i++)
        sxs_message_add(&w, m->names[i], m->values[i]);
    sxs_message_end(&w);
    MUST(!w.full);
    MUST(sxs_message_size(w.bytes, w.size) == w.size);
    MUST(sxs_message_parse(w.bytes, w.size, &again, why, sizeof(why)) == 0);
    MUST(again.n == m->n && strcmp(again.text, m->text) == 0);
    for (size_t i = 0; i < m->n; i++) {
        MUST(strcmp(again.names[i], m->names[i]) == 0);
        MUST(strcmp(again.values[i], m->values[i]) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct sxs_message m;
    char               why[128] = "", *copy;
    size_t             whole = sxs_message_size((const char *)bytes, size);
    MUST(whole == (size_t)-1 || whole <= size);
    MUST(size < SXS_CONTROL_MAX || whole);
    if (!whole || whole == (size_t)-1)
        return 0;
    MUST((copy = malloc(whole)) != NULL);
    memcpy(copy, bytes, whole);
    if (sxs_message_parse(copy, whole, &m, why, sizeof(why)) == 0) {
        fuzz_whole++;
        write_again(&m);
    } else {
        MUST(why[0]);
    }
    free(copy);
    return 0;
}

#ifndef SXS_LIBFUZZER
static size_t fuzz_make(uint8_t *out)
{
    static const char *const lines[] = {
        "tools=sample",           "out=/tmp/x\\ny", "id=",   "x=\\\\",
        "runtime=1 8.0 live /x",  "hold=1",         "Big=1", "no value",
        "duration_ms=99999999999"};
    static const char *const firsts[] = {"sxsprof 1 start", "ok", "error", "sxsprof 99 ", ""};
    size_t                   n = fuzz_put(out, firsts[roll(5)]);
    out[n++] = '\n';
    for (uint64_t lines_left = roll(roll(10) ? 6 : 200); lines_left-- > 0;) {
        n += fuzz_put(out + n, roll(3) ? "runtime=2" : lines[roll(9)]);
        for (uint64_t more = roll(40) ? 0 : roll(9000); more-- > 0 && n < FUZZ_MAX - 256;)
            out[n++] = (uint8_t)(roll(20) ? 'a' : roll(256));
        out[n++] = '\n';
        if (n > FUZZ_MAX - 512)
            break;
    }
    out[n++] = '\n';
    return roll(2) ? n : fuzz_mutate(out, n);
}

int main(int argc, char **argv)
{
    return fuzz_main(argc, argv, "messages");
}
#endif
