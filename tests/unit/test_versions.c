/* SPDX-License-Identifier: MIT */
/* test_versions.c - versions of runtimes as text: their numbers, and where they stand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/base.h"
#include "runtime_facts/version.h"

static void versions_are_read(void **state)
{
    static const struct {
        const char        *text;
        bool               is_one;
        struct sxs_release r;
    } rows[] = {
        {"10.0.11", true, {10, 0, 11, false}},
        {"8.0", true, {8, 0, 0, false}},
        {"8", true, {8, 0, 0, false}},
        {"8.", true, {8, 0, 0, false}},
        {"8..3", true, {8, 0, 0, false}},
        {"3.1.3.4", true, {3, 1, 3, false}},
        {"11.0.0-rc.1.25451.107", true, {11, 0, 0, true}},
        {"11-preview", true, {11, 0, 0, true}},
        {"10.0x.7", true, {10, 0, 0, false}},
        {"123456789.0.1", true, {123456789, 0, 1, false}},
        {"8.1234567890.1", true, {8, 0, 0, false}},
        {"1234567890.0.1", false, {0}},
        {"99999999999999999999", false, {0}},
        {"", false, {0}},
        {"?", false, {0}},
        {".8", false, {0}},
        {"-1.0", false, {0}},
        {"v4.0", false, {0}},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct sxs_release r = {1, 2, 3, true};
        assert_int_equal(sxs_release_parse(rows[i].text, &r), rows[i].is_one);
        assert_int_equal(r.major, rows[i].r.major);
        assert_int_equal(r.minor, rows[i].r.minor);
        assert_int_equal(r.patch, rows[i].r.patch);
        assert_int_equal(r.is_preview, rows[i].r.is_preview);
    }
}

static void old_runtimes_have_the_version_of_their_folder(void **state)
{
    static const struct {
        const char *said, *path, *version;
    } rows[] = {
        {"4.0.30319", "/usr/share/dotnet/shared/Microsoft.NETCore.App/3.1.3/libcoreclr.so",
         "3.1.3"},
        {"4.0.30319", "/srv/2.1.30/libcoreclr.so", "2.1.30"},
        {"4.0.30319", "/srv/3.1/libcoreclr.so", "4.0.30319"},
        {"4.0.30319", "/srv/4.8.1/libcoreclr.so", "4.0.30319"},
        {"4.0.30319", "/srv/0.1.1/libcoreclr.so", "4.0.30319"},
        {"4.0.30319", "/srv/31.1.1/libcoreclr.so", "4.0.30319"},
        {"4.0.30319", "/srv/app/libcoreclr.so", "4.0.30319"},
        {"4.0.30319", "", "4.0.30319"},
        {"8.0.29", "/srv/3.1.3/libcoreclr.so", "8.0.29"},
        {"", "/srv/3.1.3/libcoreclr.so", ""},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char version[64];
        snprintf(version, sizeof(version), "%s", rows[i].said);
        sxs_version_of_core(version, sizeof(version), rows[i].path);
        assert_string_equal(version, rows[i].version);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_read),
        cmocka_unit_test(old_runtimes_have_the_version_of_their_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
