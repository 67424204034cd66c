/* SPDX-License-Identifier: MIT */
/**
 * fuzz_text.h - what fuzz drivers of texts share: a check of UTF-8 that is independent of the tested one, and files
 * that stand in for those of /proc. Include tests/fuzz/fuzz.h first.
 */
#ifndef SXS_TESTS_FUZZ_TEXT_H
#define SXS_TESTS_FUZZ_TEXT_H

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

/** Returns the bytes of the character at @s, a text with a zero at its end, or 0 when it is not UTF-8. @c: receives it. */
static inline size_t fuzz_character(const char *s, uint32_t *c)
{
    const unsigned char *b = (const unsigned char *)s;
    size_t n = b[0] < 0x80 ? 1 : b[0] >> 5 == 6 ? 2 : b[0] >> 4 == 14 ? 3 : b[0] >> 3 == 30 ? 4 : 0;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    *c = n == 1 ? b[0] : b[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((b[i] & 0xc0) != 0x80)
            return 0;
        *c = *c << 6 | (b[i] & 0x3fu);
    }
    return n && *c >= least[n] && *c <= 0x10ffff && *c - 0xd800u >= 0x800 ? n : 0;
}

/** Returns true when @s is valid UTF-8 without control characters, those of Latin-1 included. */
static inline bool fuzz_is_clean(const char *s)
{
    for (size_t n; *s; s += n) {
        uint32_t c;
        n = fuzz_character(s, &c);
        if (!n || c < 0x20 || (c >= 0x7f && c < 0xa0))
            return false;
    }
    return true;
}

/** A copy of @bytes as a text, which ends at its first zero; release it with free(). */
static inline char *fuzz_text(const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1);
    MUST(text);
    if (size)
        memcpy(text, bytes, size);
    text[size] = '\0';
    return text;
}

/* ---- files ------------------------------------------------------------------------------------ */

/** A folder for files that change with each input, in memory if possible. */
static char fuzz_folder_path[64];

static inline void fuzz_folder_make(void)
{
    strcpy(fuzz_folder_path, "/dev/shm/fuzz-XXXXXX");
    if (mkdtemp(fuzz_folder_path))
        return;
    strcpy(fuzz_folder_path, "/tmp/fuzz-XXXXXX");
    MUST(mkdtemp(fuzz_folder_path));
}

/** Open the file @name of the folder @dir for fuzz_fill(). */
static inline int fuzz_file_open(int dir, const char *name)
{
    int fd = openat(dir, name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    MUST(fd >= 0);
    return fd;
}

/** Make @bytes the whole contents of the file @fd. */
static inline void fuzz_fill(int fd, const void *bytes, size_t size)
{
    MUST(ftruncate(fd, 0) == 0);
    MUST(!size || pwrite(fd, bytes, size, 0) == (ssize_t)size);
}

#endif
