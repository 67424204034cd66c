/* SPDX-License-Identifier: MIT */
/* fuzz_answer.c - bytes as what the process at the other end of a control socket answers. See fuzz.h. Whatever comes,
 * the command gets an answer or a reason that can be printed, and the runtimes that an answer names are clean text. */
#define FUZZ_MAX (1u << 15)
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_text.h"

#include "cmd/processes/control_client.h"
#include "cmd/processes/runtime_line.h"

#include <errno.h>
#include <sys/socket.h>

#define TIMEOUT_MS 2000

static void check_runtime(const char *value)
{
    static struct sxs_runtime_line line, again;
    char                           whole[sizeof(line.line)];
    if (!sxs_runtime_line_parse(value, &line))
        return;
    const char *const parts[] = {line.number, line.version, line.state, line.life};
    for (size_t i = 0; i < 4; i++)
        MUST(!strchr(parts[i], ' ') && fuzz_is_clean(parts[i]));
    MUST(fuzz_is_clean(line.path));
    MUST(line.path >= line.line && line.path + strlen(line.path) < line.line + sizeof(line.line));
    snprintf(whole, sizeof(whole), "%s %s %s %s %s", line.number, line.version, line.state,
             line.life, line.path);
    MUST(sxs_runtime_line_parse(whole, &again) && strcmp(again.path, line.path) == 0);
    MUST(strcmp(again.version, line.version) == 0 && strcmp(again.life, line.life) == 0);
}

static void check_message(const struct sxs_control_answer *a)
{
    const struct sxs_message *m = &a->message;
    MUST(m->n <= SXS_CONTROL_PAIRS);
    for (size_t i = 0; i < m->n; i++) {
        MUST(m->names[i] > a->bytes && m->values[i] > m->names[i]);
        MUST(m->values[i] + strlen(m->values[i]) < a->bytes + sizeof(a->bytes));
        if (strcmp(m->names[i], "runtime") == 0)
            check_runtime(m->values[i]);
    }
}

/* Sends @bytes, closes that end, and asks at the other one. */
static int ask(const uint8_t *bytes, size_t size, struct sxs_control_answer *answer,
               char why[SXS_CONTROL_WHY])
{
    static struct sxs_message_writer request;
    int                              ends[2];
    MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    MUST(!size || send(ends[1], bytes, size, 0) == (ssize_t)size);
    MUST(shutdown(ends[1], SHUT_WR) == 0);
    sxs_control_request(&request, "status");
    sxs_message_end(&request);
    int err = sxs_control_ask(ends[0], &request, answer, TIMEOUT_MS, why);
    close(ends[0]);
    close(ends[1]);
    return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct sxs_control_answer answer;
    char                             why[SXS_CONTROL_WHY];
    int                              err = ask(bytes, size, &answer, why);
    MUST(err == 0 || err == EREMOTEIO || err == EPROTO || err == ECONNRESET);
    MUST(memchr(why, 0, sizeof(why)) && fuzz_is_clean(why));
    MUST((err == 0) == (why[0] == '\0') ||
         err == EREMOTEIO); /* the reason of the other end may be empty */
    if (err == EPROTO || err == ECONNRESET)
        return 0;
    fuzz_whole++;
    MUST((err == 0) == (strcmp(answer.message.text, "ok") == 0));
    check_message(&answer);
    return 0;
}

#ifndef SXS_LIBFUZZER
static size_t fuzz_make(uint8_t *out)
{
    static const char *const firsts[] = {"ok", "ok", "error", "ok ", "sxsprof 1 start", ""};
    static const char *const lines[] = {"runtime=1 8.0.29 picked live /usr/lib/libcoreclr.so",
                                        "runtime=2 9.0.18 skipped ended /a b live c",
                                        "runtime=live live live live live",
                                        "runtime=1 \x1b[31m8 picked live /\xc2\x9b",
                                        "runtime= ",
                                        "runtime=1 2 3 4 ",
                                        "phase=on",
                                        "phase=none",
                                        "why=no \xff\x1b]0;x\x07",
                                        "why=",
                                        "out=/tmp/x\\ny",
                                        "tools=sample",
                                        "started_ns=-1",
                                        "number=99999999999999999999999",
                                        "x=\\\\",
                                        "x=\\q",
                                        "Big=1",
                                        "no value",
                                        "phase=on",
                                        "version=1\xc3"};
    size_t                   n = fuzz_put(out, firsts[roll(6)]);
    out[n++] = '\n';
    for (uint64_t left = roll(roll(10) ? 6 : 200); left-- > 0;) {
        n += fuzz_put(out + n,
                      roll(3) ? lines[roll(6)] : lines[roll(sizeof(lines) / sizeof(lines[0]))]);
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
    return fuzz_main(argc, argv, "answers of control sockets");
}
#endif
