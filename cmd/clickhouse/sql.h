/* SPDX-License-Identifier: MIT */
/**
 * sql.h - texts of users inside of SQL. Everything that comes from outside goes through one of these
 * functions, so that it can be nothing but a literal. One thread per stream.
 */
#ifndef SXS_CMD_CLICKHOUSE_SQL_H
#define SXS_CMD_CLICKHOUSE_SQL_H

#include <stdbool.h>
#include <stdio.h>

/** sxs_sql_text - write @text (zero-terminated, any bytes) as a string literal with its quotes. */
void sxs_sql_text(FILE *to, const char *text);

/**
 * sxs_sql_match - write " = 'text'", or " LIKE 'pattern'" when @pattern has wildcards.
 * @pattern: '*' stands for any text, '?' for one character, '\' takes the meaning from the next
 * character. @negated: write the opposite.
 */
void sxs_sql_match(FILE *to, const char *pattern, bool negated);

/** sxs_sql_is_name - return true when @name can be the name of a database: letters of ASCII, digits
 *  and '_', no digit first, at most 64 characters. */
bool sxs_sql_is_name(const char *name);

/** sxs_url_text - write @text percent-encoded, for a URL's query. */
void sxs_url_text(FILE *to, const char *text);

#endif
