/* SPDX-License-Identifier: MIT */
/* Assemblies that are read for lines of IL, while somebody else writes to their files. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "instr/weave/image.h"
#include "tests/unit/assembly_fixture.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static char folder[] = "/tmp/sxsprof-test.XXXXXX";
static char path[64];

static void write_assembly(uint8_t mvid, size_t size)
{
    static uint8_t file[FIXTURE_ASSEMBLY_SIZE];
    int            fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    fixture_assembly(file, mvid);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, file, size), size);
    close(fd);
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/Rebuilt.dll", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

/* An image list as if a runtime had reported the one assembly; ended by sxs_images_end(). */
static const struct sxs_image *find(struct sxs_images *images)
{
    struct sxs_image *known = calloc(1, sizeof(*known));
    assert_non_null(known);
    known->name = strdup("Rebuilt");
    known->path = strdup(path);
    *images = (struct sxs_images){.all = known, .listed = 1};
    return sxs_images_find(images, "rebuilt");
}

static const char *module_name(const struct sxs_image *image)
{
    return sxs_md_string(&image->md, sxs_md_cell(&image->md, SXS_TABLE_MODULE, 1, 1));
}

static void a_file_cut_short_while_it_is_read_ends_nobody(void **state)
{
    struct sxs_images       images;
    const struct sxs_image *image;
    (void)state;
    write_assembly(1, FIXTURE_ASSEMBLY_SIZE);
    image = find(&images);
    assert_true(image->readable);
    assert_int_equal(truncate(path, 0), 0); /* a compiler that rewrites the file does this */
    assert_string_equal(module_name(image), FIXTURE_MODULE_NAME);
    assert_int_equal(sxs_md_guid(&image->md).at[15], 1);
    sxs_images_end(&images);
}

static void half_a_file_is_not_readable(void **state)
{
    struct sxs_images images;
    (void)state;
    write_assembly(2, FIXTURE_ASSEMBLY_SIZE / 2);
    assert_false(find(&images)->readable);
    sxs_images_end(&images);
}

static void a_file_written_anew_is_read_anew(void **state)
{
    struct sxs_images before, after;
    (void)state;
    write_assembly(3, FIXTURE_ASSEMBLY_SIZE);
    assert_int_equal(sxs_md_guid(&find(&before)->md).at[0], 3);
    write_assembly(4, FIXTURE_ASSEMBLY_SIZE);
    assert_int_equal(sxs_md_guid(&find(&after)->md).at[0], 4);
    assert_int_equal(sxs_md_guid(&before.all->md).at[0], 3);
    sxs_images_end(&before);
    sxs_images_end(&after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_cut_short_while_it_is_read_ends_nobody),
        cmocka_unit_test(half_a_file_is_not_readable),
        cmocka_unit_test(a_file_written_anew_is_read_anew),
    };
    return cmocka_run_group_tests_name("image", tests, make_folder, remove_folder);
}
