/* SPDX-License-Identifier: MIT */
#include "cmd/processes/diagnostics.h"

#include "base/text/utf8.h"
#include "cmd/processes/deadline.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAGIC   "DOTNET_IPC_V1" /* with its zero */
#define STEP_MS 100             /* a signal can end the time earlier */

enum { SERVER_SET = 0xFF, SERVER_OK = 0, SERVER_ERROR = 0xFF };

static void put_u16(uint8_t *out, unsigned v)
{
    out[0] = (uint8_t)v;
    out[1] = (uint8_t)(v >> 8);
}

static void put_u32(uint8_t *out, uint32_t v)
{
    put_u16(out, v & 0xFFFFu);
    put_u16(out + 2, v >> 16);
}

static uint32_t get_u32(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t get_u64(const uint8_t *at)
{
    return get_u32(at) | (uint64_t)get_u32(at + 4) << 32;
}

size_t sxs_diag_request(uint8_t *out, unsigned set, unsigned command, const void *payload,
                        size_t size)
{
    if (size > SXS_DIAG_MAX - SXS_DIAG_HEADER)
        return 0;
    memcpy(out, MAGIC, sizeof(MAGIC));
    put_u16(out + 14, (unsigned)(SXS_DIAG_HEADER + size));
    out[16] = (uint8_t)set;
    out[17] = (uint8_t)command;
    put_u16(out + 18, 0);
    if (size)
        memcpy(out + SXS_DIAG_HEADER, payload, size);
    return SXS_DIAG_HEADER + size;
}

size_t sxs_diag_answer_size(const uint8_t *bytes, size_t size)
{
    size_t known = size < sizeof(MAGIC) ? size : sizeof(MAGIC);
    if (memcmp(bytes, MAGIC, known) != 0)
        return (size_t)-1;
    if (size < SXS_DIAG_HEADER)
        return 0;
    size_t whole = bytes[14] | (size_t)bytes[15] << 8;
    if (whole < SXS_DIAG_HEADER)
        return (size_t)-1;
    return size < whole ? 0 : whole;
}

int sxs_diag_parse_answer(const uint8_t *bytes, size_t size, struct sxs_diag_answer *out)
{
    size_t whole = sxs_diag_answer_size(bytes, size);
    memset(out, 0, sizeof(*out));
    if (!whole || whole == (size_t)-1 || bytes[16] != SERVER_SET)
        return -1;
    out->payload = bytes + SXS_DIAG_HEADER;
    out->size = whole - SXS_DIAG_HEADER;
    if (bytes[17] == SERVER_OK)
        return 0;
    if (bytes[17] != SERVER_ERROR || out->size < 4)
        return -1;
    out->failed = true;
    out->error = get_u32(out->payload);
    return 0;
}

/* A position in a payload. */
struct cursor {
    const uint8_t *at;
    size_t         left;
};

/* Reads a string, and writes it to @out if that is not NULL. Returns 0 or -1. */
static int take_string(struct cursor *c, char *out, size_t size)
{
    if (c->left < 4)
        return -1;
    uint32_t units = get_u32(c->at);
    c->at += 4;
    c->left -= 4;
    if (units > c->left / 2)
        return -1;
    for (uint32_t i = 0, n = 0; out && i < units; i++) {
        unsigned unit = c->at[2 * i] | (unsigned)c->at[2 * i + 1] << 8;
        if (n + 1 < size) /* only the version is read: plain ASCII */
            out[n++] = unit < 0x20 && unit ? '?' : unit < 0x7F ? (char)unit : '?';
        out[n] = '\0';
    }
    c->at += 2 * (size_t)units;
    c->left -= 2 * (size_t)units;
    return 0;
}

int sxs_diag_parse_info(const uint8_t *payload, size_t size, struct sxs_diag_info *out)
{
    struct cursor c = {payload, size};
    memset(out, 0, sizeof(*out));
    if (size < 24)
        return -1;
    c = (struct cursor){payload + 24, size - 24};
    out->pid = get_u64(payload);
    memcpy(out->cookie, payload + 8, sizeof(out->cookie));
    for (int i = 0; i < 4; i++) /* command line, system, processor, assembly */
        if (take_string(&c, NULL, 0) != 0)
            return -1;
    return take_string(&c, out->version, sizeof(out->version));
}

int sxs_diag_parse_advert(const uint8_t bytes[SXS_DIAG_ADVERT], struct sxs_diag_info *out)
{
    memset(out, 0, sizeof(*out));
    if (memcmp(bytes, "ADVR_V1", 8) != 0)
        return -1;
    memcpy(out->cookie, bytes + 8, sizeof(out->cookie));
    out->pid = get_u64(bytes + 24);
    return 0;
}

/* Writes @text as UTF-16 with a zero. Returns the number of units, or 0 when @text is no UTF-8 or
 * does not fit into @room bytes. */
static size_t put_utf16(uint8_t *out, size_t room, const char *text)
{
    size_t   left = strlen(text), units = 0;
    uint32_t c;
    for (size_t len; left; text += len, left -= len) {
        uint16_t pair[2];
        len = sxs_utf8_next(text, left, &c);
        if (!len || sxs_utf16_is_half(c) || 2 * (units + 3) > room)
            return 0;
        size_t n = sxs_utf16_put(pair, c);
        for (size_t i = 0; i < n; i++)
            put_u16(out + 2 * units++, pair[i]);
    }
    put_u16(out + 2 * units, 0);
    return units + 1;
}

size_t sxs_diag_attach_payload(uint8_t *out, uint32_t timeout_ms, const uint8_t clsid[16],
                               const char *library, const void *data, size_t data_size)
{
    put_u32(out, timeout_ms);
    memcpy(out + 4, clsid, 16);
    size_t units = put_utf16(out + 24, 2u * 4096, library);
    put_u32(out + 20, (uint32_t)units);
    size_t at = 24 + 2 * units;
    if (!units || data_size > SXS_DIAG_MAX - SXS_DIAG_HEADER - at - 4)
        return 0;
    put_u32(out + at, (uint32_t)data_size);
    if (data_size)
        memcpy(out + at + 4, data, data_size);
    return at + 4 + data_size;
}

const char *sxs_diag_hresult(uint32_t hr)
{
    static const struct {
        uint32_t    hr;
        const char *text;
    } known[] = {
        {0x8013136Au, "another profiler is loaded (CORPROF_E_PROFILER_ALREADY_ACTIVE)"},
        {0x80131367u, "a profiler is being detached (CORPROF_E_PROFILER_DETACHING)"},
        {0x80131373u, "the runtime is still starting (CORPROF_E_PROFILER_NOT_YET_INITIALIZED)"},
        {0x80131371u,
         "the runtime is still starting or is ending (CORPROF_E_RUNTIME_UNINITIALIZED)"},
        {0x80131375u, "the library turned the runtime away (CORPROF_E_PROFILER_CANCEL_ACTIVATION)"},
        {0x80131376u, "the runtime does not permit profiling with concurrent collections "
                      "(CORPROF_E_CONCURRENT_GC_NOT_PROFILABLE)"},
        {0x80131378u, "diagnostics are switched off (CORPROF_E_DEBUGGING_DISABLED)"},
        {0x80131379u, "a collection lasted too long (CORPROF_E_TIMEOUT_WAITING_FOR_CONCURRENT_GC)"},
        {0x80131384u, "the runtime does not understand the request (unknown message)"},
        {0x80131385u, "the runtime does not know this command"},
        {0x8007007Eu, "the library could not be loaded (ERROR_MOD_NOT_FOUND)"},
        {0x80070002u, "the library was not found (ERROR_FILE_NOT_FOUND)"},
        {0x80070005u, "access was denied (E_ACCESSDENIED)"},
        {0x8007000Eu, "the process is out of memory (E_OUTOFMEMORY)"},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].hr == hr)
            return known[i].text;
    return NULL;
}

/* Waits until @fd is ready for @events. Returns 0 or ETIMEDOUT. */
static int wait_ready(int fd, short events, int64_t until)
{
    struct pollfd ready = {.fd = fd, .events = events};
    for (;;) {
        int64_t  left = until - sxs_deadline_now_ms();
        unsigned step = sxs_deadline_left(left < STEP_MS ? left > 0 ? (unsigned)left : 0 : STEP_MS);
        int      n = poll(&ready, 1, (int)step);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return errno;
        if (!step)
            return ETIMEDOUT;
    }
}

static int send_all(int fd, const uint8_t *bytes, size_t size, int64_t deadline)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = send(fd, bytes + done, size - done, MSG_NOSIGNAL);
        if (n > 0) {
            done += (size_t)n;
            continue;
        }
        int err =
            n < 0 && errno != EAGAIN && errno != EINTR ? errno : wait_ready(fd, POLLOUT, deadline);
        if (err)
            return err;
    }
    return 0;
}

/* Receives at most @room bytes. Returns their number, 0 at the end, or -errno. */
static ssize_t receive_some(int fd, uint8_t *out, size_t room, int64_t deadline)
{
    for (;;) {
        ssize_t n = recv(fd, out, room, 0);
        if (n >= 0)
            return n;
        if (errno != EAGAIN && errno != EINTR)
            return -errno;
        int err = wait_ready(fd, POLLIN, deadline);
        if (err)
            return -err;
    }
}

int sxs_diag_receive(int fd, uint8_t *out, size_t size, unsigned timeout_ms)
{
    int64_t deadline = sxs_deadline_now_ms() + timeout_ms;
    for (size_t got = 0; got < size;) {
        ssize_t n = receive_some(fd, out + got, size - got, deadline);
        if (n <= 0)
            return n < 0 ? (int)-n : ECONNRESET;
        got += (size_t)n;
    }
    return 0;
}

int sxs_diag_exchange(int fd, const uint8_t *request, size_t size, unsigned timeout_ms,
                      uint8_t *buf, struct sxs_diag_answer *out)
{
    int64_t deadline = sxs_deadline_now_ms() + timeout_ms;
    size_t  got = 0, whole = 0;
    int     err = send_all(fd, request, size, deadline);
    while (!err && !whole) {
        ssize_t n = receive_some(fd, buf + got, SXS_DIAG_MAX - got, deadline);
        if (n <= 0)
            return n < 0 ? (int)-n : ECONNRESET;
        got += (size_t)n;
        whole = sxs_diag_answer_size(buf, got);
        if (!whole && got == SXS_DIAG_MAX)
            return EBADMSG;
    }
    if (!err && (whole == (size_t)-1 || sxs_diag_parse_answer(buf, whole, out) != 0))
        err = EBADMSG;
    return err;
}
