/* SPDX-License-Identifier: MIT */
/*
 * runtime_info.c - RuntimeEnvironment.GetRuntimeInterfaceAsIntPtr of mscorlib, and the
 * ICLRRuntimeInfo object that it returns.
 *
 * Only CLR 4 supports the method: 2.0 does not have it, and .NET throws
 * PlatformNotSupportedException. With FAKECLR_RUNTIME_INFO=all every version supports it.
 */
#include "tests/fake/fake.h"

#include <dlfcn.h>

#define INSUFFICIENT_BUFFER ((HRESULT)0x8007007A)

static HRESULT query(ICLRRuntimeInfo *self, REFIID riid, void **out)
{
    bool known = memcmp(riid, &IID_IUnknown, sizeof(*riid)) == 0 ||
                 memcmp(riid, &IID_ICLRRuntimeInfo, sizeof(*riid)) == 0;
    *out = known ? self : NULL;
    if (known)
        atomic_fetch_add(&fake.live_objects, 1);
    return known ? S_OK : E_NOINTERFACE;
}

static ULONG add_ref(ICLRRuntimeInfo *self)
{
    (void)self;
    return (ULONG)atomic_fetch_add(&fake.live_objects, 1) + 1;
}

static ULONG release(ICLRRuntimeInfo *self)
{
    (void)self;
    return (ULONG)atomic_fetch_sub(&fake.live_objects, 1) - 1;
}

/* Copies @text to @out. *cch: room in characters, replaced by the length needed, with the zero. */
static HRESULT give(const char *text, LPWSTR out, DWORD *cch)
{
    ULONG room = *cch, needed = 0;
    fake_wide(text, NULL, 0, &needed);
    *cch = needed;
    if (!out)
        return S_OK;
    if (room < needed)
        return INSUFFICIENT_BUFFER;
    fake_wide(text, out, room, NULL);
    return S_OK;
}

static HRESULT version_string(ICLRRuntimeInfo *self, LPWSTR out, DWORD *cch)
{
    char text[64];
    (void)self;
    fake_version_text(text, sizeof(text));
    return give(text, out, cch);
}

/* Returns the folder of the file that contains this code, with a slash at its end. */
static HRESULT directory(ICLRRuntimeInfo *self, LPWSTR out, DWORD *cch)
{
    char text[1024];
    Dl_info file;
    (void)self;
    if (!dladdr(&fake, &file) || strlen(file.dli_fname) >= sizeof(text))
        return E_FAIL;
    strcpy(text, file.dli_fname);
    char *slash = strrchr(text, '/');
    if (slash)
        slash[1] = '\0';
    return give(text, out, cch);
}

static const ICLRRuntimeInfoVtbl vtbl = { /* the other methods are never called */
    .QueryInterface = query,
    .AddRef = add_ref,
    .Release = release,
    .GetVersionString = version_string,
    .GetRuntimeDirectory = directory,
};
static ICLRRuntimeInfo info = {&vtbl};

bool fake_runtime_interface(const GUID *clsid, const GUID *riid, void **out)
{
    static const GUID empty;
    const char *all = getenv("FAKECLR_RUNTIME_INFO");
    bool answers = fake.framework && fake.major == 4;
    if (!answers && !(all && strcmp(all, "all") == 0)) {
        fake_log("RuntimeEnvironment.GetRuntimeInterfaceAsIntPtr: %s",
                 fake.framework ? "MissingMethodException" : "PlatformNotSupportedException");
        return false;
    }
    return memcmp(clsid, &empty, sizeof(empty)) == 0 && SUCCEEDED(query(&info, riid, out));
}

/* ---- tokens in IL --------------------------------------------------------------------------- */

static bool is_named(struct fake_module *module, mdToken token, const char *name)
{
    ULONG size = 0;
    const uint8_t *bytes = fake_token_bytes(module, token, &size);
    if (!bytes || size < 2 * strlen(name))
        return false;
    for (size_t i = 0; name[i]; i++)
        if (bytes[2 * i] != (uint8_t)name[i] || bytes[2 * i + 1])
            return false;
    bytes += 2 * strlen(name); /* the name of a member is followed by a zero and the signature */
    return size == 2 * strlen(name) || (size > 2 * strlen(name) + 1 && !bytes[0] && !bytes[1]);
}

bool fake_is_member(struct fake_module *module, mdToken token, const char *type, const char *name)
{
    return is_named(module, token, name) && is_named(module, fake_token_scope(module, token), type);
}

const GUID *fake_guid_of(struct fake_module *module, mdToken text)
{
    ULONG size = 0;
    const uint8_t *bytes = fake_token_bytes(module, text, &size);
    GUID *guid = fake_alloc(sizeof(*guid), 0);
    char narrow[64] = "";
    for (ULONG i = 0; bytes && i + 1 < size && i / 2 + 1 < sizeof(narrow); i += 2)
        narrow[i / 2] = (char)bytes[i];
    return fake_guid_parse(narrow, guid) ? guid : NULL;
}
