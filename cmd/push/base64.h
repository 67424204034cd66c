/* SPDX-License-Identifier: MIT */
/** base64.h - encodes bytes as text (RFC 4648). */
#ifndef SXS_CMD_PUSH_BASE64_H
#define SXS_CMD_PUSH_BASE64_H

#include <stddef.h>
#include <stdint.h>

/** sxs_base64 - return @bytes in base64 with padding; owned, zero-terminated, never NULL. */
char *sxs_base64(const uint8_t *bytes, size_t size);

#endif
