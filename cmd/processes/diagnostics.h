/* SPDX-License-Identifier: MIT */
/**
 * diagnostics.h - the protocol of a runtime's diagnostics port: a request and its answer.
 *
 * A message begins with "DOTNET_IPC_V1" and a zero byte, its size (2 bytes), a set and a number of a
 * command, and 2 bytes that are 0; then its payload. Integers are little-endian. A string is its
 * length in UTF-16 units, with the zero, and the units. A runtime answers one request of a
 * connection and closes it. docs/internals/attach.md has more.
 */
#ifndef SXS_CMD_PROCESSES_DIAGNOSTICS_H
#define SXS_CMD_PROCESSES_DIAGNOSTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SXS_DIAG_HEADER 20u    /* bytes of a header */
#define SXS_DIAG_MAX    65535u /* bytes of a message */
#define SXS_DIAG_ADVERT 34u    /* bytes that a runtime sends when it has connected */

/** What a runtime says of itself. */
struct sxs_diag_info {
    uint64_t pid;         /* as the process itself sees it */
    uint8_t  cookie[16];  /* another one in each runtime */
    char     version[64]; /* "10.0.11" */
};

/** An answer: an error code of the runtime, or a payload. */
struct sxs_diag_answer {
    bool           failed;  /* true: @error is valid, and there is no payload */
    uint32_t       error;   /* HRESULT */
    const uint8_t *payload; /* borrowed from the bytes */
    size_t         size;
};

/**
 * sxs_diag_request - write a request.
 * @out: receives it, holds SXS_DIAG_MAX bytes. Returns its size, or 0 when it would be too long.
 */
size_t sxs_diag_request(uint8_t *out, unsigned set, unsigned command, const void *payload,
                        size_t size);

/** sxs_diag_answer_size - return the size of the answer that begins with @bytes; 0: more bytes are
 *  needed; (size_t)-1: this is no answer. Pure. */
size_t sxs_diag_answer_size(const uint8_t *bytes, size_t size);

/** sxs_diag_parse_answer - parse a whole answer. Returns 0, or -1 when it is damaged. Pure. */
int sxs_diag_parse_answer(const uint8_t *bytes, size_t size, struct sxs_diag_answer *out);

/** sxs_diag_parse_info - parse the payload of the answer to ProcessInfo2. Returns 0 or -1. Pure. */
int sxs_diag_parse_info(const uint8_t *payload, size_t size, struct sxs_diag_info *out);

/** sxs_diag_parse_advert - parse what a runtime sends when it connects: cookie and PID. Returns 0 or
 *  -1. Pure. */
int sxs_diag_parse_advert(const uint8_t bytes[SXS_DIAG_ADVERT], struct sxs_diag_info *out);

/**
 * sxs_diag_attach_payload - write the payload of AttachProfiler.
 * @out: holds SXS_DIAG_MAX bytes. @timeout_ms: how long the runtime waits for itself to be ready.
 * @library: path, UTF-8. @data: client data of InitializeForAttach.
 * Returns its size, or 0 when it does not fit or @library is no UTF-8.
 */
size_t sxs_diag_attach_payload(uint8_t *out, uint32_t timeout_ms, const uint8_t clsid[16],
                               const char *library, const void *data, size_t data_size);

/** sxs_diag_hresult - return the name of what an attach can fail with, or NULL. Static. */
const char *sxs_diag_hresult(uint32_t hr);

/**
 * sxs_diag_exchange - send a request and receive its answer.
 * @fd: connected, non-blocking. @buf: SXS_DIAG_MAX bytes that receive the answer, which @out refers
 * to. @timeout_ms: for everything.
 * Returns 0 or an errno value: ETIMEDOUT, ECONNRESET when the connection was closed without an
 * answer, EBADMSG when the answer is damaged.
 */
int sxs_diag_exchange(int fd, const uint8_t *request, size_t size, unsigned timeout_ms,
                      uint8_t *buf, struct sxs_diag_answer *out);

/** sxs_diag_receive - receive exactly @size bytes. As sxs_diag_exchange(). */
int sxs_diag_receive(int fd, uint8_t *out, size_t size, unsigned timeout_ms);

#endif
