/* SPDX-License-Identifier: MIT */
/*
 * Instrumentation files. With libFuzzer: clang -fsanitize=fuzzer,address -DSXS_LIBFUZZER. Without:
 *
 *   fuzz_config [-n COUNT] [-s SEED] FILE...
 *
 * runs every FILE, then COUNT mutated copies of them: bytes, words of the format, pieces of one
 * file in another. Each is read, asked and compared; a crash, a sanitizer's word, a run of ten
 * seconds, an error without a place, or a file that is wrong and has rules all the same is a
 * failure.
 */
#include "instr/config/config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZE_MAX_ 65536

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void fail(const char *why)
{
    fprintf(stderr, "fuzz_config: %s\n", why);
    abort();
}

static void ask(const struct sxs_config *config)
{
    static const char *const parameters[] = {"System.String", "System.Int32"};
    static const char *const attributes[] = {"A.BAttribute"};
    const struct sxs_version version = {{1, 2, 3, 4}};
    struct sxs_config_method outer = {.type = "Shop.Orders", .method = "Place"};
    struct sxs_config_method m = {"8.0.1", "Shop",     &version, "Shop.Orders", "Place", parameters,
                                  2,       attributes, 1,        NULL};
    const struct sxs_rule   *rules[4];
    struct sxs_config_difference d;
    sxs_config_rules(config, &m, rules, 4);
    m.outer = &outer;
    sxs_config_rules(config, &m, rules, 4);
    if (sxs_config_difference(config, config, &d) != 0 || d.n_went || d.n_came || d.reordered ||
        d.n_stayed != config->n_rules)
        fail("a config differs from itself");
    sxs_config_difference_clear(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct sxs_config *config = sxs_config_parse("f.xml", (const char *)bytes, size);
    char               text[64];
    if (!config)
        return 0;
    for (uint32_t i = 0; i < config->n_problems; i++) {
        const struct sxs_problem *p = &config->problems[i];
        if (!p->line || !p->column || !*p->what || strchr(p->what, '\n'))
            fail("a problem without a place, or of several lines");
        sxs_config_put_problem(p, text, sizeof(text));
    }
    if (config->n_errors && config->n_rules)
        fail("a wrong file has rules");
    ask(config);
    sxs_config_free(config);
    return 0;
}

#ifndef SXS_LIBFUZZER
static uint64_t random_state = 1;

static size_t below(size_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return n ? (size_t)(random_state % n) : 0;
}

struct input {
    uint8_t *bytes;
    size_t   size;
};

static struct input read_input(const char *path)
{
    struct input in = {malloc(SIZE_MAX_), 0};
    FILE        *f = fopen(path, "rb");
    if (!f || !in.bytes) {
        perror(path);
        exit(1);
    }
    in.size = fread(in.bytes, 1, SIZE_MAX_, f);
    fclose(f);
    return in;
}

static void replace(struct input *in, size_t at, size_t cut, const void *with, size_t size)
{
    if (cut > in->size - at)
        cut = in->size - at;
    if (in->size - cut + size > SIZE_MAX_)
        return;
    memmove(in->bytes + at + size, in->bytes + at + cut, in->size - at - cut);
    memcpy(in->bytes + at, with, size);
    in->size += size - cut;
}

static void mutate(struct input *in, const struct input *other)
{
    static const char *const words[] = {
        "<rule>",
        "</rule>",
        "<match ",
        "/>",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "&#0;",
        "&#65;",
        "&amp;",
        "&x;",
        "<!DOCTYPE a [",
        "<!ENTITY x \"y\">",
        "\"",
        "'",
        "=",
        " ",
        "\n",
        "*",
        "?",
        "`1",
        "[",
        "]",
        "<inject at=\"entry\">",
        "nop",
        "br L",
        "L:",
        "ldstr \"",
        ".try",
        ".locals init (int32 a)",
        "parameters=\"",
        "arguments=\"",
        "priority=\"",
        "2147483648",
        "-1",
        "xmlns=\"\"",
        "<a:b/>",
        "xmlns:a=\"b\"",
        "\xef\xbb\xbf",
        "\xc3\xa4",
        "<?xml version=\"1.0\" encoding=\"latin1\"?>",
        "<?a ?>",
        "offset=\"IL_0001\"",
        "instruction=\"",
        "65536",
        "xsi:nil=\"true\"",
        "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"",
        "xsi:schemaLocation=\"a file:///x\"",
    };
    size_t at = below(in->size + 1), from = below(other->size);
    switch (below(6)) {
    case 0:
        if (at < in->size)
            in->bytes[at] ^= (uint8_t)(1u << below(8));
        break;
    case 1: replace(in, at, below(40), "", 0); break;
    case 2:
        replace(in, at, below(60), other->bytes + from, below(other->size - from + 1) % 200);
        break;
    case 3: in->size = in->size > 40 && !below(4) ? at : in->size; break;
    default: {
        const char *word = words[below(sizeof(words) / sizeof(words[0]))];
        replace(in, at, below(2) * strlen(word), word, strlen(word));
    }
    }
}

int main(int argc, char **argv)
{
    unsigned long count = 0;
    int           option, n;
    struct input *inputs, in = {NULL, 0};
    while ((option = getopt(argc, argv, "n:s:")) != -1) {
        if (option == 'n')
            count = strtoul(optarg, NULL, 10);
        else
            random_state = strtoull(optarg, NULL, 10) * 2 + 1;
    }
    n = argc - optind;
    if (n < 1)
        return 1;
    inputs = calloc((size_t)n, sizeof(*inputs));
    in.bytes = malloc(SIZE_MAX_);
    if (!inputs || !in.bytes)
        abort();
    for (int i = 0; i < n; i++) {
        inputs[i] = read_input(argv[optind + i]);
        alarm(10);
        LLVMFuzzerTestOneInput(inputs[i].bytes, inputs[i].size);
    }
    for (unsigned long i = 0; i < count; i++) {
        const struct input *from = &inputs[below((size_t)n)];
        in.size = from->size;
        if (in.size)
            memcpy(in.bytes, from->bytes, in.size);
        for (size_t k = 1 + below(4); k; k--)
            mutate(&in, &inputs[below((size_t)n)]);
        alarm(10);
        LLVMFuzzerTestOneInput(in.bytes, in.size);
    }
    for (int i = 0; i < n; i++)
        free(inputs[i].bytes);
    free(inputs);
    free(in.bytes);
    printf("ok - %d instrumentation files and %lu damaged ones\n", n, count);
    return 0;
}
#endif
