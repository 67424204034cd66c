/* SPDX-License-Identifier: MIT */
/* text.c - conversion to UTF-16, parsing of GUIDs, and the event log. */
#include "tests/fake/fake.h"

#include <stdarg.h>

void fake_log(const char *fmt, ...)
{
    va_list args;
    pthread_mutex_lock(&fake.log_lock);
    char line[sizeof(fake.log[0])];
    va_start(args, fmt);
    vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    if (fake.n_log < sizeof(fake.log) / sizeof(fake.log[0]))
        memcpy(fake.log[fake.n_log++], line, sizeof(line));
    if (fake.verbose)
        fprintf(stderr, "fakeclr %s: %s\n", FAKECLR_VERSION, line);
    pthread_mutex_unlock(&fake.log_lock);
}

void fake_wide(const char *text, WCHAR *out, ULONG cch, ULONG *needed)
{
    size_t len = strlen(text);
    if (needed)
        *needed = (ULONG)len + 1;
    if (!out || !cch)
        return;
    size_t n = len < cch - 1 ? len : cch - 1;
    for (size_t i = 0; i < n; i++)
        out[i] = (unsigned char)text[i];
    out[n] = 0;
}

bool fake_guid_parse(const char *text, GUID *out)
{
    unsigned a, b[10];
    int end = 0;
    int n = sscanf(text, "{%8x-%4x-%4x-%2x%2x-%2x%2x%2x%2x%2x%2x}%n", &a, &b[0], &b[1], &b[2],
                   &b[3], &b[4], &b[5], &b[6], &b[7], &b[8], &b[9], &end);
    if (n != 11 || end != 38 || text[end])
        return false;
    *out = (GUID){.Data1 = a, .Data2 = (USHORT)b[0], .Data3 = (USHORT)b[1]};
    for (int i = 0; i < 8; i++)
        out->Data4[i] = (BYTE)b[2 + i];
    return true;
}
