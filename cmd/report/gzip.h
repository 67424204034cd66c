/* SPDX-License-Identifier: MIT */
/** gzip.h - compress bytes in memory. */
#ifndef SXS_CMD_REPORT_GZIP_H
#define SXS_CMD_REPORT_GZIP_H

#include <stddef.h>
#include <stdint.h>

/** sxs_gzip - compress @size bytes. @out_size: receives the compressed bytes. The result depends on
 *  the input only: it has no time and no name. Returns owned memory, never NULL. */
uint8_t *sxs_gzip(const void *bytes, size_t size, size_t *out_size);

#endif
