/* SPDX-License-Identifier: MIT */
/* fuzz_control.c - bytes as what clients send to the control socket, in pieces: the server answers
 * with whole messages or closes, and is never stuck. The first byte says how large the pieces are,
 * and whether the client reads. See fuzz.h. */
#define FUZZ_MAX (1u << 16)
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "control/server.h"
#include "control/session_thread.h"
#include "tests/unit/sessions_stub.h"

static int woken = -1;

static void wake(void)
{
    static const uint64_t one = 1;
    MUST(write(woken, &one, sizeof(one)) == sizeof(one));
}

static void start(void)
{
    if (woken >= 0)
        return;
    woken = eventfd(0, EFD_NONBLOCK);
    sxs_server_init(-1, woken);
    MUST(sxs_session_thread_start(wake) == 0);
}

/* Checks the answers at the beginning of @text. Returns the size of the rest, which it moves there. */
static size_t check_answers(char *text, size_t size)
{
    size_t whole;
    while ((whole = sxs_message_size(text, size)) != 0) {
        struct sxs_message m;
        char               why[128];
        MUST(whole != (size_t)-1);
        MUST(sxs_message_parse(text, whole, &m, why, sizeof(why)) == 0);
        MUST(strcmp(m.text, "ok") == 0 || strcmp(m.text, "error") == 0);
        fuzz_whole += m.text[0] == 'o';
        size -= whole;
        memmove(text, text + whole, size);
    }
    return size;
}

static size_t read_answers(int fd, char *text, size_t size)
{
    ssize_t n = recv(fd, text + size, 2 * SXS_CONTROL_MAX - size, MSG_DONTWAIT);
    return n > 0 ? check_answers(text, size + (size_t)n) : size;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char answers[2 * SXS_CONTROL_MAX];
    size_t      piece = size ? 1 + bytes[0] % 64 * 61u : 1, rest = 0;
    int         reads = size && bytes[0] < 250, pair[2];
    start();
    MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    MUST(sxs_server_add(pair[0]) == 0);
    for (size_t at = 1; at < size; at += piece) {
        if (send(pair[1], bytes + at, size - at < piece ? size - at : piece, MSG_NOSIGNAL) < 0)
            break;
        sxs_server_turn(0);
        if (reads)
            rest = read_answers(pair[1], answers, rest);
    }
    shutdown(pair[1], SHUT_WR);
    while (reads && sxs_server_turn(1))
        rest = read_answers(pair[1], answers, rest);
    close(pair[1]);
    while (sxs_server_turn(1))
        continue;
    return 0;
}

#ifndef SXS_LIBFUZZER
static size_t fuzz_make(uint8_t *out)
{
    static const char *const requests[] = {
        "sxsprof 1 status\n\n",
        "sxsprof 1 start\ntools=sample\nout=/tmp\n\n",
        "sxsprof 1 start\ntools=sample\nout=/tmp\nhold=1\nid=a\ndetach=1\n\n",
        "sxsprof 1 start\ntools=none\nout=/tmp\nduration_ms=5\n\n",
        "sxsprof 1 start\ntools=sample\nout=/tmp\nduration_ms=1\n\n",
        "sxsprof 1 stop\n\n",
        "sxsprof 1 snapshot\n\n",
        "sxsprof 1 detach\ntimeout_ms=1\n\n",
        "GET / HTTP/1.0\r\n\r\n",
        "\n",
    };
    size_t n = 1;
    out[0] = (uint8_t)roll(256);
    for (uint64_t left = roll(12); left-- > 0;) {
        n += fuzz_put(out + n, requests[roll(sizeof(requests) / sizeof(requests[0]))]);
        for (uint64_t more = roll(20) ? 0 : roll(20000); more-- > 0 && n < FUZZ_MAX - 256;)
            out[n++] = (uint8_t)(roll(8) ? 'a' : roll(256));
        if (n > FUZZ_MAX - 512)
            break;
    }
    return roll(2) ? n : 1 + fuzz_mutate(out + 1, n - 1);
}

int main(int argc, char **argv)
{
    return fuzz_main(argc, argv, "streams of requests");
}
#endif
