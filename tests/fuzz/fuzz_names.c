/* SPDX-License-Identifier: MIT */
/* fuzz_names.c - bytes as names and texts that come from elsewhere: names of folders in a session, of segments, of
 * containers, versions, patterns, durations, and text to print. See fuzz.h. The first byte says which. */
#define FUZZ_MAX 8192u
#include "runtime_facts/version.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_text.h"

#include "base/text/duration.h"
#include "base/text/wildcard.h"
#include "cmd/output/segments.h"
#include "cmd/output/text.h"
#include "cmd/processes/container.h"
#include "cmd/processes/inspect.h"

static const char digits[] = "0123456789";

/* The text that is printed is clean, as long as it may be, and clean text is not changed. */
static void check_clean(const char *text)
{
    size_t size = 3 * strlen(text) + 1, room = 1 + roll(40);
    char  *out = malloc(size), *again = malloc(size), *cut = malloc(room);
    MUST(out && again && cut);
    sxs_text_clean(text, out, size);
    MUST(fuzz_is_clean(out));
    sxs_text_clean(out, again, size);
    MUST(strcmp(out, again) == 0);
    sxs_text_clean(text, cut, room);
    MUST(memchr(cut, 0, room) && strncmp(cut, out, strlen(cut)) == 0);
    MUST(strlen(cut) == strlen(out) || strlen(cut) + 5 > room);
    MUST(!fuzz_is_clean(text) || strcmp(text, out) == 0);
    size_t columns = roll(30);
    sxs_text_cut(out, columns);
    MUST(fuzz_is_clean(out) && sxs_text_width(out) <= columns);
    fuzz_whole++;
    free(out);
    free(again);
    free(cut);
}

static void check_process_name(const char *text)
{
    if (!sxs_session_names_process(text))
        return;
    fuzz_whole++;
    MUST(strlen(text) <= 21 && strspn(text, "0123456789-") == strlen(text) && text[0] != '-');
}

static void check_segment_name(const char *text)
{
    uint64_t began = 1, number = 0;
    if (!sxs_segment_name(text, &began, &number))
        return;
    fuzz_whole++;
    MUST(strlen(text) <= 35 && strspn(text, "0123456789TZ-") == strlen(text));
    MUST(strtoull(text + 17, NULL, 10) == number && began % 1000000000u == 0);
}

static void check_container(const char *text)
{
    char out[64];
    memset(out, 'x', sizeof(out));
    sxs_container_name(text, out, sizeof(out));
    MUST(memchr(out, 0, sizeof(out)) && !strchr(out, '\n'));
    fuzz_whole += out[0] != '\0';
}

static void check_version(const char *text)
{
    char out[32];
    sxs_version_in_path(text, out, sizeof(out));
    MUST(memchr(out, 0, sizeof(out)) && !strchr(out, '/'));
    MUST(!out[0] || (strstr(text, out) && strchr(digits, out[0])));
    sxs_version_of_build(text, strlen(text), out, sizeof(out));
    MUST(strspn(out, "0123456789.") == strlen(out));
    fuzz_whole += out[0] != '\0';
}

/* The search written as its definition. */
static int matches(const char *pattern, const char *text)
{
    uint32_t c;
    if (!*pattern)
        return !*text;
    if (*pattern == '*')
        return matches(pattern + 1, text) || (*text && matches(pattern, text + 1));
    if (*pattern == '?')
        return *text && matches(pattern + 1, text + fuzz_character(text, &c));
    return *pattern == *text && matches(pattern + 1, text + 1);
}

static void check_pattern(const char *both)
{
    char text[24], pattern[12];
    snprintf(pattern, sizeof(pattern), "%s", both);
    snprintf(text, sizeof(text), "%s", both + strlen(pattern));
    int found = sxs_wildcard_matches(pattern, text);
    fuzz_whole += (unsigned)found;
    MUST(sxs_wildcard_matches("*", text) && (*text != 0) == !sxs_wildcard_matches("", text));
    if (fuzz_is_clean(text) &&
        fuzz_is_clean(pattern)) /* '?' stands for a character: whole ones only */
        MUST(found == matches(pattern, text));
}

static void check_duration(const char *text)
{
    uint64_t ns = 77;
    size_t   len = roll(strlen(text) + 1);
    if (sxs_duration_read(text, len, roll(2) ? 1000000000u : 0, &ns) != 0) {
        MUST(ns == 77);
        return;
    }
    fuzz_whole++;
    MUST(ns <= UINT64_C(366) * 86400 * 1000000000 && ns % 1000000 == 0);
    MUST(len && strspn(text, digits) >= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static void (*const checks[])(const char *) = {
        check_clean,   check_process_name, check_segment_name, check_container,
        check_version, check_pattern,      check_duration};
    if (!size)
        return 0;
    char *text = fuzz_text(bytes + 1, size - 1);
    checks[bytes[0] % (sizeof(checks) / sizeof(checks[0]))](text);
    free(text);
    return 0;
}

#ifndef SXS_LIBFUZZER
static size_t fuzz_make(uint8_t *out)
{
    static const char *const pieces[] = {
        "20261124T101500Z-41",
        "20261324T996199Z-1",
        "4242",
        "4242-2",
        "-",
        "9",
        "0",
        "Z",
        "T",
        "/",
        ".",
        "..",
        "8.0.29",
        "10.0.1126.37416",
        "/usr/share/dotnet/shared/Microsoft.NETCore.App/9.0.18/",
        "*",
        "?",
        "a",
        "ab",
        "\xc3\xa4",
        "\xe2\x82\xac",
        "\xf0\x9f\x98\x80",
        "\xff",
        "\xc2\x9b",
        "\xed\xa0\x80",
        "\xc0\xaf",
        "\x1b[31m",
        "\n",
        "\r",
        "\x7f",
        "ms",
        "s",
        "m",
        "h",
        "d",
        "30",
        "18446744073709551616",
        " ",
        "0::/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "0::/lxc/web",
        "/machine.slice/machine-x.scope"};
    size_t n = 1;
    out[0] = (uint8_t)roll(7);
    for (uint64_t left = roll(roll(50) ? 9 : 60); left-- > 0;)
        n += fuzz_put(out + n, pieces[roll(sizeof(pieces) / sizeof(pieces[0]))]);
    return roll(3) ? n : 1 + fuzz_mutate(out + 1, n - 1);
}

int main(int argc, char **argv)
{
    return fuzz_main(argc, argv, "names and texts");
}
#endif
