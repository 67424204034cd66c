/* SPDX-License-Identifier: MIT */
#include "instr/weave/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/c_locale.h"
#include "base/text/utf8.h"
#include "manager/module_info.h"

#define PATH       2048
#define MAX_NAMED  4 /* folders in a message */
#define MAX_MEMORY (256u << 20)

void sxs_images_begin(struct sxs_images *images, sxs_module module)
{
    *images = (struct sxs_images){.module = module};
}

void sxs_images_end(struct sxs_images *images)
{
    struct sxs_image *next;
    for (struct sxs_image *i = images->all; i; i = next) {
        next = i->next;
        sxs_assembly_copy_put(i->copy);
        free(i->name);
        free(i->path);
        free(i);
    }
    images->all = NULL;
}

static struct sxs_image *add_image(struct sxs_images *images, const char *name, const char *path,
                                   ModuleID id)
{
    struct sxs_image *i = calloc(1, sizeof(*i));
    if (!i)
        return NULL;
    i->name = strdup(name);
    i->path = *path ? strdup(path) : NULL;
    if (!i->name || (*path && !i->path)) {
        free(i->name);
        free(i->path);
        free(i);
        return NULL;
    }
    i->id = id;
    i->next = images->all;
    images->all = i;
    return i;
}

/* ---- loaded assemblies ------------------------------------------------------------------------ */

static void list_module(struct sxs_images *images, ModuleID id)
{
    sxs_module   module = {images->module.rt, id};
    sxs_assembly assembly = {0};
    WCHAR        wide[1024] = {0}, wide_name[512] = {0};
    char         path[PATH], name[1024];
    ULONG        n = 0;
    if (FAILED(sxs_info_GetModuleInfo(module.rt, module, NULL, ARRAY_LEN(wide), &n, wide,
                                      &assembly)) ||
        FAILED(sxs_info_GetAssemblyInfo(module.rt, assembly, ARRAY_LEN(wide_name), &n, wide_name,
                                        NULL, NULL)))
        return;
    sxs_utf8_of(wide, ARRAY_LEN(wide), path, sizeof(path));
    sxs_utf8_of(wide_name, ARRAY_LEN(wide_name), name, sizeof(name));
    add_image(images, name, *path == '/' ? path : "", id);
}

static void list_images(struct sxs_images *images)
{
    ICorProfilerModuleEnum *all = NULL;
    ModuleID                id;
    ULONG                   n = 0;
    if (images->listed)
        return;
    images->listed = 1;
    if (FAILED(sxs_info_EnumModules(images->module.rt, &all)) || !all)
        return;
    while (SUCCEEDED(all->vtbl->Next(all, 1, &id, &n)) && n)
        list_module(images, id);
    all->vtbl->Release(all);
}

/* ---- reading ---------------------------------------------------------------------------------- */

static int read_file(struct sxs_image *i)
{
    if (sxs_assembly_copy_get(i->path, &i->copy))
        return -1;
    i->md = i->copy->file.md;
    i->readable = 1;
    return 0;
}

/* Whether the file is the one that the module was loaded from, by its MVID. A file may have been
 * replaced since, and then says nothing about the module. */
static int is_the_same(const struct sxs_images *images, const struct sxs_image *i)
{
    sxs_module        module = {images->module.rt, i->id};
    IMetaDataImport2 *imp = sxs_module_import(module);
    GUID              loaded = {0};
    struct sxs_blob   file = sxs_md_guid(&i->md);
    HRESULT           hr;
    if (!imp)
        return 0;
    hr = imp->vtbl->GetScopeProps(imp, NULL, 0, NULL, &loaded);
    imp->vtbl->Release(imp);
    return SUCCEEDED(hr) && file.size == sizeof(loaded) && !memcmp(file.at, &loaded, file.size);
}

/* Returns the size in bytes of an image in memory that has the layout of a file. 0: it is no
 * image. */
static size_t flat_size(const uint8_t *base)
{
    struct sxs_pe pe;
    uint64_t      end = sxs_pe_parse(base, SXS_PE_HEADERS_SIZE, &pe) == 0 ? sxs_pe_end(&pe) : 0;
    return end <= MAX_MEMORY ? (size_t)end : 0;
}

/* Reads an assembly that was loaded from bytes, in the runtime's memory. */
static void read_memory(const struct sxs_images *images, struct sxs_image *i)
{
    sxs_module     module = {images->module.rt, i->id};
    const uint8_t *base = NULL;
    DWORD          flags = 0;
    ULONG          n = 0;
    size_t         size;
    if (FAILED(sxs_info_GetModuleInfo2(module.rt, module, &base, 0, &n, NULL, NULL, &flags)) ||
        !base || !(flags & COR_PRF_MODULE_FLAT_LAYOUT))
        return;
    size = flat_size(base);
    i->readable = size && sxs_metadata_read(&i->md, base, size) == 0;
}

static void read_image(const struct sxs_images *images, struct sxs_image *i)
{
    if (i->readable || i->tried)
        return;
    i->tried = 1;
    if (!i->path || read_file(i)) {
        i->readable = 0;
        if (i->id)
            read_memory(images, i);
    } else if (i->id && !is_the_same(images, i)) {
        i->readable = 0;
    }
}

const struct sxs_image *sxs_images_own(struct sxs_images *images)
{
    struct sxs_image *i;
    list_images(images);
    for (i = images->all; i && i->id != images->module.id; i = i->next)
        ;
    if (!i) { /* EnumModules leaves out a module that is being loaded */
        list_module(images, images->module.id);
        i = images->all && images->all->id == images->module.id ? images->all : NULL;
    }
    if (i)
        read_image(images, i);
    return i && i->readable ? i : NULL;
}

/* ---- finding ---------------------------------------------------------------------------------- */

/* Length of the folder in the path of a loaded assembly; 0: none. */
static size_t folder_size(const struct sxs_image *i)
{
    const char *slash = i->path && i->id ? strrchr(i->path, '/') : NULL;
    return slash ? (size_t)(slash - i->path) : 0;
}

/* Whether @i is the first image in the list with its folder, so that each folder is searched
 * once. */
static int is_new_folder(const struct sxs_images *images, const struct sxs_image *i)
{
    size_t n = folder_size(i);
    for (const struct sxs_image *o = images->all; n && o != i; o = o->next)
        if (folder_size(o) == n && !memcmp(o->path, i->path, n))
            return 0;
    return n != 0;
}

static struct sxs_image *find_file(struct sxs_images *images, const char *name)
{
    char path[PATH];
    for (struct sxs_image *i = images->all; i; i = i->next) {
        if (!is_new_folder(images, i) ||
            (size_t)snprintf(path, sizeof(path), "%.*s/%s.dll", (int)folder_size(i), i->path,
                             name) >= sizeof(path) ||
            access(path, F_OK))
            continue;
        return add_image(images, name, path, 0);
    }
    return NULL;
}

const struct sxs_image *sxs_images_find(struct sxs_images *images, const char *name)
{
    struct sxs_image *i;
    list_images(images);
    for (i = images->all; i && !sxs_same_text(i->name, name); i = i->next)
        ;
    if (!i && !strchr(name, '/'))
        i = find_file(images, name);
    if (i)
        read_image(images, i);
    return i;
}

void sxs_images_put_folders(struct sxs_images *images, struct sxs_text *t)
{
    unsigned n = 0;
    list_images(images);
    for (const struct sxs_image *i = images->all; i; i = i->next)
        if (is_new_folder(images, i) && n++ < MAX_NAMED)
            sxs_text_putf(t, n > 1 ? ", %.*s" : "%.*s", (int)folder_size(i), i->path);
    if (n > MAX_NAMED)
        sxs_text_putf(t, " and %u more", n - MAX_NAMED);
}
