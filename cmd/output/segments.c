/* SPDX-License-Identifier: MIT */
/* Lists the segments of a folder, and prints the list. */
#include "cmd/output/segments.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/index.h"
#include "base/tree.h"
#include "cmd/output/must.h"
#include "cmd/output/print.h"
#include "cmd/output/strings.h"
#include "cmd/output/table_hash.h"
#include "cmd/output/text.h"
#include "session/format/folder_open.h"
#include "session/read/file_read.h"

#define SEGMENT_FILE "segment.json"
#define SECOND_NS    UINT64_C(1000000000)

enum { MAX_FILE = 4096, NAME_BEFORE_NUMBER = 17, MAX_LISTED = 6, MAX_ADAPTED = 12 };

bool sxs_segment_name(const char *name, uint64_t *began_ns, uint64_t *number)
{
    struct tm t = {.tm_isdst = 0};
    int       n = 0;
    size_t    len = sxs_name_segment_length(name);
    /* sscanf() would take spaces and signs for digits. */
    if (!len || name[len] ||
        sscanf(name, "%4d%2d%2dT%2d%2d%2dZ-%n", &t.tm_year, &t.tm_mon, &t.tm_mday, &t.tm_hour,
               &t.tm_min, &t.tm_sec, &n) != 6 ||
        n != NAME_BEFORE_NUMBER)
        return false;
    t.tm_year -= 1900;
    t.tm_mon--;
    time_t at = timegm(&t);
    /* The year 9999 is out of the range of nanoseconds. */
    if (at > 0 && (uint64_t)at > UINT64_MAX / SECOND_NS)
        return false;
    if (began_ns)
        *began_ns = at > 0 ? (uint64_t)at * SECOND_NS : 0;
    if (number)
        *number = strtoull(name + n, NULL, 10);
    return true;
}

/* ---- the list -------------------------------------------------------------------------------- */

static uint64_t number_of(const json_t *top, const char *key)
{
    json_int_t v = json_integer_value(json_object_get(top, key));
    return v > 0 ? (uint64_t)v : 0;
}

/* Reads segment.json. */
static void read_facts(int dir_fd, struct sxs_segment *s)
{
    static char text[MAX_FILE];
    char        why[256];
    uint64_t    size;
    int         folder = openat(dir_fd, s->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int         fd = folder < 0
                         ? -1
                         : sxs_file_open(SXS_FILES_OF(folder), SEGMENT_FILE, &size, why, sizeof(why));
    ssize_t     n = fd < 0 ? -1 : pread(fd, text, sizeof(text), 0);
    json_t     *top = n > 0 ? json_loadb(text, (size_t)n, 0, NULL) : NULL;
    if (number_of(top, "sxsprof_segment") == 1) {
        const char *adapted = json_string_value(json_object_get(top, "adapted"));
        uint64_t    began_ns = number_of(top, "started_ns");
        s->began_ns = began_ns ? began_ns : s->began_ns;
        s->ended_ns = number_of(top, "ended_ns");
        s->gap_ns = number_of(top, "gap_ns");
        s->pid = (uint32_t)number_of(top, "pid");
        s->process_started = number_of(top, "process_started");
        snprintf(s->adapted, sizeof(s->adapted), "%s", adapted ? adapted : "");
        sxs_strings_clean(s->adapted, strlen(s->adapted));
    }
    s->is_damaged = fd >= 0 && !s->pid;
    json_decref(top);
    if (fd >= 0)
        close(fd);
    if (folder >= 0)
        close(folder);
}

static int by_time(const void *a, const void *b)
{
    const struct sxs_segment *x = a, *y = b;
    if (x->began_ns != y->began_ns)
        return x->began_ns < y->began_ns ? -1 : 1;
    return x->number != y->number ? (x->number < y->number ? -1 : 1) : strcmp(x->folder, y->folder);
}

/* Sorts the segments by time and keeps the newest, as many as are listed. */
static void keep_newest(struct sxs_segments *s)
{
    if (s->n)
        qsort(s->all, s->n, sizeof(*s->all), by_time);
    if (s->n <= SXS_SEGMENTS_MAX)
        return;
    size_t older = s->n - SXS_SEGMENTS_MAX;
    memmove(s->all, s->all + older, SXS_SEGMENTS_MAX * sizeof(*s->all));
    s->n = SXS_SEGMENTS_MAX;
    s->n_left_out += older;
}

/* Adds the segments in the folder @sub of @dir_fd: "." or SXS_SEGMENT_KEPT, by their names alone. Returns 0
 * or an errno value. */
static int add_from(int dir_fd, const char *sub, struct sxs_segments *out)
{
    bool kept = strcmp(sub, ".") != 0;
    DIR *d = sxs_tree_list(dir_fd, sub);
    if (!d)
        return errno;
    for (struct dirent *e; (e = readdir(d));) {
        struct sxs_segment s = {.kept = kept};
        struct stat        st;
        if (strlen(e->d_name) > 60 || !sxs_segment_name(e->d_name, &s.began_ns, &s.number) ||
            fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(st.st_mode))
            continue;
        snprintf(s.folder, sizeof(s.folder), "%s%s%.60s", kept ? sub : "", kept ? "/" : "",
                 e->d_name);
        if (out->n == 2 * SXS_SEGMENTS_MAX)
            keep_newest(out);
        SXS_GROW(out->all, out->n, out->cap);
        out->all[out->n++] = s;
    }
    closedir(d);
    return 0;
}

/* Leaves out what was not asked for. */
static void choose(struct sxs_segments *s, const struct sxs_period *period)
{
    uint64_t oldest = UINT64_MAX; /* of the ring */
    size_t   n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (!s->all[i].kept && s->all[i].began_ns < oldest)
            oldest = s->all[i].began_ns;
    for (size_t i = 0; i < s->n; i++) {
        const struct sxs_segment *v = &s->all[i];
        bool                      wanted = (!period->to_ns || v->began_ns < period->to_ns) &&
                      (!v->ended_ns || v->ended_ns > period->from_ns);
        if (sxs_period_is_all(period))
            wanted = !v->kept || v->began_ns >= oldest || oldest == UINT64_MAX;
        if (wanted)
            s->all[n++] = *v;
    }
    s->n = n;
}

int sxs_segments_list(const char *dir, const struct sxs_period *period, struct sxs_segments *out)
{
    *out = (struct sxs_segments){0};
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int err = add_from(fd, ".", out);
    (void)add_from(fd, SXS_SEGMENT_KEPT, out); /* most folders have none */
    keep_newest(out);
    for (size_t i = 0; i < out->n; i++)
        read_facts(fd, &out->all[i]);
    close(fd);
    keep_newest(out); /* again: segment.json says more precisely when each began */
    choose(out, period);
    return err;
}

void sxs_segments_free(struct sxs_segments *s)
{
    free(s->all);
    *s = (struct sxs_segments){0};
}

/* ---- what is printed ------------------------------------------------------------------------- */

static const char *time_text(uint64_t ns, char *buf, size_t size)
{
    time_t    at = (time_t)(ns / SECOND_NS);
    struct tm t;
    localtime_r(&at, &t);
    strftime(buf, size, "%Y-%m-%d %H:%M:%S", &t);
    return buf;
}

static bool same_process(const struct sxs_segment *a, const struct sxs_segment *b)
{
    return a->pid == b->pid && a->process_started == b->process_started;
}

/* Looks for the segment @number of the process of @like among those in @index. Returns true if it is there;
 * else *@at is the place for it. */
static bool find_segment(const struct sxs_segments *s, const struct sxs_index *index,
                         const struct sxs_segment *like, uint64_t number, uint32_t *hash,
                         size_t *at)
{
    uint32_t       found;
    const uint64_t key[3] = {like->pid, like->process_started, number};
    *hash = (uint32_t)sxs_table_hash(key, sizeof(key), 16);
    *at = *hash;
    for (; (found = sxs_index_next(index, *hash, at)) != 0; (*at)++)
        if (s->all[found - 1].number == number && same_process(&s->all[found - 1], like))
            return true;
    return false;
}

/* Returns the time between segments of the same process, of which both are listed. */
static uint64_t gaps_of(const struct sxs_segments *s, uint64_t *longest)
{
    struct sxs_index index = {0}; /* of the segments before the present one */
    uint64_t         sum = 0;
    *longest = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct sxs_segment *v = &s->all[i];
        uint32_t                  hash;
        size_t                    at;
        if (sxs_index_reserve(&index) != 0)
            sxs_must(NULL);
        if (v->number && find_segment(s, &index, v, v->number - 1, &hash, &at)) {
            sum = v->gap_ns < UINT64_MAX - sum ? sum + v->gap_ns : UINT64_MAX;
            *longest = v->gap_ns > *longest ? v->gap_ns : *longest;
        }
        if (!find_segment(s, &index, v, v->number, &hash, &at))
            sxs_index_put(&index, at, hash, i);
    }
    sxs_index_free(&index);
    return sum;
}

void sxs_segments_text(FILE *to, const struct sxs_segments *s)
{
    char     first[32], last[32], sum[32], most[32];
    size_t   kept = 0, listed = 0;
    uint64_t longest;
    if (!s->n)
        return;
    for (size_t i = 0; i < s->n; i++)
        kept += s->all[i].kept;
    const struct sxs_segment *end = &s->all[s->n - 1];
    uint64_t                  gaps = gaps_of(s, &longest);
    sxs_print_to(to, "segments: %zu, from %s to %s", s->n,
                 time_text(s->all[0].began_ns, first, sizeof(first)),
                 end->ended_ns ? time_text(end->ended_ns, last, sizeof(last)) : "the last record");
    if (kept)
        sxs_print_to(to, "; %zu kept by triggers", kept);
    if (gaps)
        sxs_print_to(to, "\n  nothing was recorded for %s between them, at most %s at once",
                     sxs_text_duration(gaps, sum, sizeof(sum)),
                     sxs_text_duration(longest, most, sizeof(most)));
    fputc('\n', to);
    if (s->n_gone)
        sxs_print_to(to, "  left out: %zu, which were deleted meanwhile\n", s->n_gone);
    if (s->n_left_out)
        sxs_print_to(to, "  left out: %zu, which are too many\n", s->n_left_out);
    for (size_t i = 0; i < s->n; i++)
        if (s->all[i].adapted[0] && listed++ < MAX_ADAPTED)
            sxs_print_to(to, "  %s  %s\n", time_text(s->all[i].began_ns, first, sizeof(first)),
                         s->all[i].adapted);
    if (listed > MAX_ADAPTED)
        sxs_print_to(to, "  and %zu more changes of the rates\n", listed - MAX_ADAPTED);
}

json_t *sxs_segments_json(const struct sxs_segments *s)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < s->n && rows; i++) {
        const struct sxs_segment *v = &s->all[i];
        json_t                   *row =
            json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:b, s:s}", "folder", v->folder, "number",
                      (json_int_t)v->number, "pid", (json_int_t)v->pid, "started_ns",
                      (json_int_t)v->began_ns, "ended_ns", (json_int_t)v->ended_ns, "gap_ns",
                      (json_int_t)v->gap_ns, "kept", v->kept, "adapted", v->adapted);
        if (!row || json_array_append_new(rows, row) != 0) {
            json_decref(rows);
            return NULL;
        }
    }
    return rows;
}

char *sxs_segments_refuse(const char *dir)
{
    const struct sxs_period all = {0};
    struct sxs_segments     s;
    char                   *line = NULL, names[MAX_LISTED * 84] = "";
    size_t                  len = 0;
    (void)sxs_segments_list(dir, &all, &s);
    for (size_t i = 0; i < s.n; i++) {
        bool hidden = s.n > MAX_LISTED && i >= MAX_LISTED - 1 && i + 1 < s.n;
        if (!hidden)
            len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
                                    !i                                 ? ""
                                    : s.n > MAX_LISTED && i + 1 == s.n ? " ... "
                                                                       : ", ",
                                    s.all[i].folder);
    }
    if (s.n && asprintf(&line, "it has %zu segments of continuous mode; expected one of them: %s",
                        s.n, names) < 0)
        sxs_must(NULL);
    sxs_segments_free(&s);
    return line;
}
