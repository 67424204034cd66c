/* SPDX-License-Identifier: MIT */
/* fuzz_diagnostics.c - bytes as what a process can send over a diagnostics port, and as a value of its variable
 * DOTNET_DiagnosticPorts. See fuzz.h. The first byte says which: an answer, the payload of one, an advert, a value,
 * or client data of an attach with a path. */
#define FUZZ_MAX 8192u
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_text.h"

#include "cmd/processes/ports.h"

enum { ANSWER, INFO, ADVERT, SETTING, PATH, N_KINDS };

static void check_version(const struct sxs_diag_info *info)
{
    MUST(memchr(info->version, 0, sizeof(info->version)));
    MUST(fuzz_is_clean(info->version));
}

static void check_answer(const uint8_t *bytes, size_t size)
{
    size_t                 whole = sxs_diag_answer_size(bytes, size);
    struct sxs_diag_answer answer;
    MUST(whole == (size_t)-1 || whole <= size);
    for (size_t n = 0; n < size && n <= SXS_DIAG_HEADER;
         n++) { /* what has come so far never says something else */
        size_t part = sxs_diag_answer_size(bytes, n);
        MUST(part == 0 || part == whole);
    }
    if (sxs_diag_parse_answer(bytes, size, &answer) != 0)
        return;
    fuzz_whole++;
    MUST(whole && whole != (size_t)-1);
    MUST(answer.payload >= bytes && answer.payload + answer.size <= bytes + whole);
    MUST(answer.failed || answer.error == 0);
    struct sxs_diag_info info;
    if (!answer.failed && sxs_diag_parse_info(answer.payload, answer.size, &info) == 0)
        check_version(&info);
}

static void check_info(const uint8_t *bytes, size_t size)
{
    struct sxs_diag_info info, again;
    if (sxs_diag_parse_info(bytes, size, &info) != 0)
        return;
    fuzz_whole++;
    check_version(&info);
    MUST(memcmp(info.cookie, bytes + 8, sizeof(info.cookie)) == 0);
    MUST(sxs_diag_parse_info(bytes, size, &again) == 0 && memcmp(&info, &again, sizeof(info)) == 0);
}

static void check_advert(const uint8_t *bytes, size_t size)
{
    struct sxs_diag_info info;
    if (size != SXS_DIAG_ADVERT || sxs_diag_parse_advert(bytes, &info) != 0)
        return;
    fuzz_whole++;
    MUST(memcmp(info.cookie, bytes + 8, sizeof(info.cookie)) == 0 && !info.version[0]);
}

static void check_ports(const struct sxs_ports *ports)
{
    MUST(ports->n <= SXS_MAX_PORTS && ports->n_runtimes == 0);
    for (size_t i = 0; i < ports->n; i++) {
        const struct sxs_port *port = &ports->ports[i];
        MUST(memchr(port->path, 0, sizeof(port->path)));
        MUST(port->path[0] == '/' && !strpbrk(port->path, ",;") && port->listener == -1);
        for (size_t k = 0; k < i; k++)
            MUST(strcmp(port->path, ports->ports[k].path) != 0);
    }
}

/* What is found is written as a setting, and found again. */
static void check_setting(const char *value)
{
    static struct sxs_ports ports, again;
    static char             written[SXS_MAX_PORTS * (PATH_MAX + 16)];
    size_t                  n = 0;
    ports.n = again.n = 0;
    sxs_ports_of_setting(value, &ports);
    check_ports(&ports);
    written[0] = '\0';
    for (size_t i = 0; i < ports.n; i++)
        n += (size_t)snprintf(written + n, sizeof(written) - n, "%s,%s;", ports.ports[i].path,
                              ports.ports[i].connects ? "connect" : "listen");
    sxs_ports_of_setting(written, &again);
    MUST(again.n == ports.n);
    for (size_t i = 0; i < ports.n; i++)
        MUST(strcmp(ports.ports[i].path, again.ports[i].path) == 0 &&
             ports.ports[i].connects == again.ports[i].connects);
    fuzz_whole += ports.n > 0;
}

static void check_path(const char *path)
{
    static uint8_t       out[SXS_DIAG_MAX], request[SXS_DIAG_MAX];
    static const uint8_t clsid[16];
    size_t               size = sxs_diag_attach_payload(out, 1000, clsid, path, path, strlen(path));
    MUST(size <= SXS_DIAG_MAX - SXS_DIAG_HEADER);
    if (!size)
        return;
    fuzz_whole++;
    for (uint32_t c; *path;) { /* only UTF-8 becomes UTF-16 */
        size_t n = fuzz_character(path, &c);
        MUST(n);
        path += n;
    }
    size_t whole = sxs_diag_request(request, 3, 1, out, size);
    MUST(whole == size + SXS_DIAG_HEADER && sxs_diag_answer_size(request, whole) == whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (!size)
        return 0;
    int   kind = bytes[0] % N_KINDS;
    char *text = kind >= SETTING ? fuzz_text(bytes + 1, size - 1) : NULL;
    switch (kind) {
    case ANSWER: check_answer(bytes + 1, size - 1); break;
    case INFO: check_info(bytes + 1, size - 1); break;
    case ADVERT: check_advert(bytes + 1, size - 1); break;
    case SETTING: check_setting(text); break;
    default: check_path(text); break;
    }
    free(text);
    return 0;
}

#ifndef SXS_LIBFUZZER
static size_t put_u32(uint8_t *out, uint64_t n)
{
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(n >> (8 * i));
    return 4;
}

static size_t make_info(uint8_t *out)
{
    size_t n = 24;
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)roll(256);
    for (uint64_t texts = roll(8) ? 5 : roll(6); texts-- > 0;) {
        size_t units = roll(roll(6) ? 16 : 200);
        n += put_u32(out + n, roll(30) ? units : roll(UINT32_MAX));
        for (size_t i = 0; i < 2 * units; i++)
            out[n++] = i % 2 && roll(4) ? 0 : (uint8_t)(roll(3) ? '0' + roll(10) : roll(256));
    }
    return n;
}

static size_t make_answer(uint8_t *out)
{
    size_t n = SXS_DIAG_HEADER + (roll(2) ? make_info(out + SXS_DIAG_HEADER) : roll(64));
    size_t size = roll(8) ? n : roll(n + 40);
    memcpy(out, "DOTNET_IPC_V1", 14);
    out[14] = (uint8_t)size;
    out[15] = (uint8_t)(size >> 8);
    out[16] = roll(20) ? 0xff : (uint8_t)roll(256);
    out[17] = roll(20) ? (uint8_t)(roll(2) * 0xff) : (uint8_t)roll(256);
    out[18] = out[19] = 0;
    return n;
}

static size_t make_advert(uint8_t *out)
{
    memcpy(out, "ADVR_V1", 8);
    for (size_t i = 8; i < SXS_DIAG_ADVERT; i++)
        out[i] = (uint8_t)roll(256);
    return SXS_DIAG_ADVERT;
}

static size_t make_text(uint8_t *out)
{
    static const char *const pieces[] = {"/tmp/a",
                                         "/",
                                         ",",
                                         ";",
                                         "listen",
                                         "LISTEN",
                                         "connect",
                                         "suspend",
                                         "a",
                                         "..",
                                         "\x1b[31m",
                                         "\xc2\x9b",
                                         "\xff",
                                         "\n",
                                         " ",
                                         "=x",
                                         "nosuspend",
                                         ",listen;",
                                         "/var/run/x.socket",
                                         "\xf0\x9f\x98\x80"};
    size_t                   n = 0;
    for (uint64_t left = roll(roll(30) ? 12 : 200); left-- > 0;)
        n += fuzz_put(out + n, pieces[roll(sizeof(pieces) / sizeof(pieces[0]))]);
    if (roll(40) == 0)
        for (uint64_t left = roll(4400); left-- > 0 && n < FUZZ_MAX - 64;)
            out[n++] = 'a';
    return n;
}

static size_t fuzz_make(uint8_t *out)
{
    size_t n;
    out[0] = (uint8_t)roll(N_KINDS);
    n = out[0] == ANSWER   ? make_answer(out + 1)
        : out[0] == INFO   ? make_info(out + 1)
        : out[0] == ADVERT ? make_advert(out + 1)
                           : make_text(out + 1);
    return 1 + (roll(3) ? n : fuzz_mutate(out + 1, n));
}

int main(int argc, char **argv)
{
    return fuzz_main(argc, argv, "answers, adverts and settings of diagnostics ports");
}
#endif
