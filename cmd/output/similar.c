/* SPDX-License-Identifier: MIT */
#include "cmd/output/similar.h"

#include <string.h>

enum { LONGEST = 32 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns in how many characters @a and @b differ: characters that are replaced, missing, added, or two
 * neighbours that are exchanged. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][LONGEST + 1], n = strlen(a), m = strlen(b);
    for (size_t k = 0; k <= m; k++)
        rows[0][k] = k;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = rows[i % 3], *before = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t k = 1; k <= m; k++) {
            now[k] = least(before[k], now[k - 1]) + 1;
            now[k] = least(now[k], before[k - 1] + (a[i - 1] != b[k - 1]));
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                now[k] = least(now[k], second[k - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

const char *sxs_similar(const char *word, const char *const *words, size_t n)
{
    const char *best = NULL;
    size_t      len = strlen(word), most = len < 3 ? 0 : len < 6 ? 1 : len < 9 ? 2 : 3;
    for (size_t i = 0; i < n && len <= LONGEST; i++) {
        if (strlen(words[i]) > LONGEST)
            continue;
        size_t d = len >= 3 && strncmp(words[i], word, len) == 0 ? 0 : distance(word, words[i]);
        if (d > most || (best && d == most))
            continue;
        best = words[i];
        most = d;
    }
    return best;
}
