/* SPDX-License-Identifier: MIT */
/* fuzz_serve.c - bytes as what a client sends to sxsprof serve: targets, cookies, names of the server, origins;
 * and as values of --listen. See fuzz.h. What is let through must be harmless: a name that stays in its folder,
 * words of letters, the server's own names only. Without arguments each input is made of pieces of the format. */
#define FUZZ_MAX 4096u
#include "tests/fuzz/fuzz.h"

#include "cmd/serve/request.h"

#include <arpa/inet.h>
#include <strings.h>

static void check_word(const char *word)
{
    for (; *word; word++)
        MUST((*word >= 'a' && *word <= 'z') || *word == '-');
}

static void check_target(const char *text)
{
    struct sxs_serve_wanted w;
    if (!sxs_serve_parse(text, &w))
        return;
    bool session = w.kind >= SXS_SERVE_PAGE;
    MUST(text[0] == '/' && text[1] != '/' && strlen(text) <= SXS_SERVE_TARGET_MAX);
    MUST(session == (w.name[0] != '\0') && !strchr(w.name, '/') && w.name[0] != '.');
    MUST(memchr(w.name, 0, sizeof(w.name)) && memchr(w.token, 0, sizeof(w.token)));
    MUST(memchr(w.data, 0, sizeof(w.data)) && memchr(w.format, 0, sizeof(w.format)));
    check_word(w.data);
    check_word(w.format);
    MUST((w.kind == SXS_SERVE_REPORT) == (w.format[0] != '\0'));
    MUST(!w.data[0] || w.kind == SXS_SERVE_DATA || w.kind == SXS_SERVE_REPORT);
    fuzz_whole++;
}

static void check_host(const char *text)
{
    static const char *const      more[] = {"box", NULL};
    const struct sxs_serve_names own = {"192.0.2.7", false, more}, any = {"::", true, NULL};
    bool                         ok = sxs_serve_host_ok(text, &own);
    if (ok) {
        /* Nothing but digits, and the names of the server: no name that somebody else can register. */
        MUST(strncasecmp(text, "localhost", 9) == 0 || strncasecmp(text, "box", 3) == 0 ||
             strspn(text, "[]0123456789abcdefABCDEF.:") == strlen(text));
        MUST(strspn(text, "0123456789") != strlen(text));
        fuzz_whole++;
    }
    if (sxs_serve_host_ok(text, &any))
        MUST(strncasecmp(text, "localhost", 9) == 0 ||
             strspn(text, "[]0123456789abcdefABCDEF.:") == strlen(text));
    MUST(!sxs_serve_origin_ok("http://example.org", NULL, text) || strcasecmp(text, "example.org") == 0);
    MUST(!sxs_serve_origin_ok(text, NULL, "127.0.0.1:80") || strcasecmp(text, "http://127.0.0.1:80") == 0);
    MUST(!sxs_serve_origin_ok(NULL, text, "x") || !strcmp(text, "none") || !strcmp(text, "same-origin"));
}

static void check_cookie(const char *text)
{
    char value[16];
    memset(value, 'x', sizeof(value));
    if (!sxs_serve_cookie(text, "sxsprof-80", value, sizeof(value)))
        return;
    MUST(memchr(value, 0, sizeof(value)) && strstr(text, "sxsprof-80=") && strstr(text, value));
    MUST(!strchr(value, ';'));
    MUST(!sxs_serve_same(value, "a secret") || strstr(text, "sxsprof-80=a secret"));
    fuzz_whole++;
}

static void check_listen(const char *text)
{
    char     address[64];
    unsigned port;
    uint8_t  bytes[16];
    memset(address, 'x', sizeof(address));
    if (!sxs_serve_listen_parse(text, address, sizeof(address), &port))
        return;
    MUST(memchr(address, 0, sizeof(address)) && port <= 65535);
    MUST(inet_pton(AF_INET, address, bytes) == 1 || inet_pton(AF_INET6, address, bytes) == 1);
    fuzz_whole++;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static void (*const checks[])(const char *) = {check_target, check_host, check_cookie, check_listen};
    if (!size)
        return 0;
    char *text = malloc(size);
    MUST(text);
    memcpy(text, bytes + 1, size - 1);
    text[size - 1] = '\0';
    checks[bytes[0] % 4](text);
    sxs_serve_same(text, "0123456789abcdef");
    free(text);
    return 0;
}

#ifndef SXS_LIBFUZZER
static size_t fuzz_make(uint8_t *out)
{
    static const char *const pieces[] = {
        "/", "/session/", "/sessions", "name", "%2e", "%2E%2e", "..", ".", "%2f", "%", "%4", "%00", "/data", "/report", "/heap",
        "?", "&", "data=", "format=", "token=", "alloc", "pprof", "0123456789abcdef", "=", ";", "; ", "sxsprof-80=", "a secret",
        "localhost", "127.0.0.1", "[::1]", "::1", "192.0.2.7", "box", ":80", ":", "[", "]", "0", "65536", "example.org", "http://",
        "none", "same-origin", "cross-site", "null", "\xc3\xa4", "\n", " ", "127.1", "0x7f.1", "2130706433"};
    static const char *const whole[] = {
        "/session/a%20b/report?format=pprof&data=alloc", "/session/first/data", "/sessions?token=0123456789abcdef", "/",
        "localhost:80", "127.0.0.1:8080", "[::1]:80", "box", "a=b; sxsprof-80=a secret; c=d", "sxsprof-80=0123456789abcdef",
        "sxsprof-80=; sxsprof-80=x", "x;sxsprof-80=1", "127.0.0.1:80", "[::1]:0", "::1", "8080"};
    size_t size = 1;
    out[0] = (uint8_t)roll(4);
    if (roll(2)) { /* a text that is right, sometimes with one piece in it that may not be */
        const char *text = whole[out[0] * 4 + roll(4)];
        size_t      at = roll(3) ? strlen(text) : roll(strlen(text) + 1);
        const char *piece = roll(3) ? "" : pieces[roll(sizeof(pieces) / sizeof(pieces[0]))];
        return size + (size_t)sprintf((char *)out + 1, "%.*s%s%s", (int)at, text, piece, text + at);
    }
    for (uint64_t n = roll(12); n-- > 0;)
        size += (size_t)sprintf((char *)out + size, "%s", pieces[roll(sizeof(pieces) / sizeof(pieces[0]))]);
    if (roll(20) == 0)
        for (uint64_t n = roll(3000); n-- > 0;)
            out[size++] = 'a';
    return roll(3) ? size : 1 + fuzz_mutate(out + 1, size - 1);
}

int main(int argc, char **argv)
{
    return fuzz_main(argc, argv, "targets, names, cookies and addresses");
}
#endif
