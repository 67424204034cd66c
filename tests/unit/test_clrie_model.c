/* SPDX-License-Identifier: MIT */
/* AppDomains, assemblies and modules, called through their interfaces as a plug-in calls them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/clrie_calls.h"
#include "tests/unit/clrie_fixture.h"

static IModuleInfo3 *module_face(struct clrie_model *model, int number)
{
    struct clrie_module *module = clrie_model_module_add(model, MODULE + (ModuleID)number);
    assert_non_null(module);
    return (IModuleInfo3 *)(void *)clrie_module_face(module);
}

/* ---- AppDomains ------------------------------------------------------------------------------- */

static void an_app_domain_has_no_name_before_it_is_finished(void **state)
{
    struct clrie_domain *domain = clrie_model_domain(*state, DOMAIN);
    IAppDomainInfo      *face = clrie_domain_face(domain);
    BSTR                 name = NULL;
    BOOL                 b = 7;
    AppDomainID          id = 0;
    HR(E_FAIL, CALL(face, GetName, &name));
    HR(E_FAIL, CALL(face, GetIsDefaultDomain, &b));
    HR(E_FAIL, CALL(face, GetIsSystemDomain, &b));
    HR(E_FAIL, CALL(face, GetIsSharedDomain, &b));
    HR(S_OK, CALL(face, GetAppDomainId, &id));
    assert_int_equal(id, DOMAIN);
    run.domain_fails = 1;
    clrie_domain_finish(domain);
    HR(E_FAIL, CALL(face, GetName, &name));
    run.domain_fails = 0;
    clrie_domain_finish(domain);
    text_is(CALL(face, GetName, &name), &name, u"DefaultDomain");
    HR(S_OK, CALL(face, GetIsDefaultDomain, &b));
    assert_int_equal(b, 1);
    HR(S_OK, CALL(face, GetIsSystemDomain, &b));
    assert_int_equal(b, 0);
    run.domain_name = u"Renamed"; /* the kind stays */
    clrie_domain_finish(domain);
    text_is(CALL(face, GetName, &name), &name, u"Renamed");
    HR(S_OK, CALL(face, GetIsDefaultDomain, &b));
    assert_int_equal(b, 1);
}

static void the_domain_of_the_core_library_is_the_system_domain(void **state)
{
    struct clrie_domain *domain = clrie_model_domain(*state, DOMAIN);
    BOOL                 b = 0;
    run.domain_name = u"System.Private.CoreLib.dll";
    clrie_domain_finish(domain);
    HR(S_OK, CALL(clrie_domain_face(domain), GetIsSystemDomain, &b));
    assert_int_equal(b, 1);
}

static void a_buffer_with_room_for_all_app_domain_ids_is_refused(void **state)
{
    IAppDomainCollection *face = clrie_face((struct clrie_object *)clrie_model_domains(*state), 0);
    AppDomainID           ids[3] = {0, 0, 0};
    DWORD                 n = 9;
    clrie_model_domain(*state, DOMAIN);
    clrie_model_domain(*state, DOMAIN + 1);
    HR(E_FAIL, CALL(face, GetAppDomainIDs, 2, &n, ids));
    assert_int_equal(n, 0);
    HR(S_OK, CALL(face, GetAppDomainIDs, 1, &n, ids));
    assert_int_equal(n, 2);
    assert_int_equal(ids[0], DOMAIN);
    assert_int_equal(ids[1], 0); /* CLRIE writes here */
    HR(S_OK, CALL(face, GetAppDomainCount, &n));
    assert_int_equal(n, 2);
    HR(E_POINTER, CALL(face, GetAppDomainIDs, 1, NULL, ids));
    HR(E_POINTER, CALL(face, GetAppDomainIDs, 1, &n, NULL));
}

static void things_are_found_by_their_ids_until_they_are_unloaded(void **state)
{
    IAppDomainCollection *all = clrie_face((struct clrie_object *)clrie_model_domains(*state), 0);
    IModuleInfo3         *module = module_face(*state, PLAIN);
    IAppDomainInfo       *domain = clrie_domain_face(clrie_model_domain(*state, DOMAIN));
    IAssemblyInfo        *assembly, *missing;
    IModuleInfo          *found;
    IAppDomainInfo       *other;
    void                 *removed;
    HR(S_OK, CALL(all, GetModuleInfoById, MODULE, &found));
    assert_ptr_equal(found, module);
    RELEASE(found);
    HR(S_OK, CALL(all, GetAssemblyInfoById, ASSEMBLY, &assembly));
    HR(S_OK, CALL(assembly, GetModuleById, MODULE, &found));
    RELEASE(found);
    HR(S_OK, CALL(assembly, GetManifestModule, &found));
    assert_ptr_equal(found, module);
    RELEASE(found);
    HR(S_OK, CALL(domain, GetModuleInfoById, MODULE, &found)); /* kept by the test */
    HR(S_OK, CALL(all, GetAppDomainById, DOMAIN, &other));
    RELEASE(other);
    HR(E_FAIL, CALL(all, GetModuleInfoById, 1, &found));
    assert_null(found);
    HR(E_FAIL, CALL(all, GetAssemblyInfoById, 1, &missing));
    assert_null(missing);
    HR(E_FAIL, CALL(all, GetAppDomainById, 1, &other));
    assert_null(other);

    removed = clrie_model_module_remove(*state, MODULE);
    assert_non_null(removed);
    HR(E_FAIL, CALL(all, GetModuleInfoById, MODULE, &found));
    HR(E_FAIL, CALL(domain, GetModuleInfoById, MODULE, &found));
    HR(E_FAIL, CALL(assembly, GetModuleById, MODULE, &found));
    HR(E_FAIL, CALL(assembly, GetManifestModule, &found));
    assert_null(clrie_model_module(*state, MODULE));
    assert_int_equal(count(removed ? module : NULL), 2); /* the list's and the test's */
    clrie_unref(removed);
    removed = clrie_model_assembly_remove(*state, ASSEMBLY);
    clrie_unref(removed);
    HR(E_FAIL, CALL(domain, GetAssemblyInfoById, ASSEMBLY, &missing));
    removed = clrie_model_domain_remove(*state, DOMAIN);
    clrie_unref(removed);
    HR(E_FAIL, CALL(all, GetAppDomainById, DOMAIN, &other));
    assert_null(clrie_model_domain_remove(*state, DOMAIN));
    assert_null(clrie_model_module_remove(*state, MODULE));
    assert_null(clrie_model_assembly_remove(*state, ASSEMBLY));
    RELEASE(assembly);
    RELEASE(module); /* the reference of the test */
}

static void an_unloaded_module_answers_from_what_was_copied(void **state)
{
    IModuleInfo3   *module = module_face(*state, PLAIN);
    IAppDomainInfo *domain;
    IAssemblyInfo  *assembly;
    IUnknown       *metadata;
    IMethodInfo    *method, *other;
    LPCBYTE         address;
    BSTR            text;
    BYTE            header[72];
    mdToken         token;
    HR(S_OK, CALL(module, GetMethodInfoByToken, METHOD(MAIN), &method));
    CALL(module, AddRef);
    clrie_unref((struct clrie_object *)clrie_model_module_remove(*state, MODULE));
    assert_int_equal(run.import_refs, 0); /* the metadata was released */
    text_is(CALL(module, GetModuleName, &text), &text, u"plain.dll");
    HR(S_OK, CALL(module, GetCorHeader, 72, header));
    HR(E_FAIL, CALL(module, ResolveRva, 0x1000, &address));
    HR(E_FAIL, CALL(module, GetMetaDataImport, &metadata));
    HR(E_FAIL, CALL(module, GetMetaDataAssemblyImport, &metadata));
    HR(E_FAIL, CALL(module, GetMetaDataEmit, &metadata));
    HR(E_FAIL, CALL(module, RequestRejit, METHOD(MAIN)));
    HR(E_FAIL, CALL(module, GetMethodInfoByToken, METHOD(MAIN), &other));
    HR(S_OK, CALL(module, GetAssemblyInfo, &assembly));
    HR(S_OK, CALL(assembly, GetAppDomainInfo, &domain));
    HR(E_FAIL, CALL(method, GetName, &text));
    HR(E_FAIL, CALL(method, GetLocalVarSigToken, &token));
    HR(S_OK, CALL(method, GetMethodToken, &token));
    RELEASE(domain);
    RELEASE(assembly);
    RELEASE(method);
    RELEASE(module);
}

static void objects_outlive_the_model(void **state)
{
    struct clrie_model   *model = clrie_model_new(&host);
    IAppDomainCollection *all = clrie_face((struct clrie_object *)clrie_model_domains(model), 0);
    IModuleInfo3         *module = module_face(model, PLAIN);
    IAppDomainInfo       *domain;
    IMethodInfo          *method, *other;
    IModuleInfo          *found;
    DWORD                 n = 9;
    (void)state;
    HR(S_OK, CALL(module, GetMethodInfoByToken, METHOD(MAIN), &method));
    CALL(module, AddRef);
    CALL(all, AddRef);
    HR(S_OK, CALL(module, GetAppDomainInfo, &domain));
    clrie_model_free(model);
    HR(S_OK, CALL(all, GetAppDomainCount, &n));
    assert_int_equal(n, 0);
    HR(E_FAIL, CALL(all, GetModuleInfoById, MODULE, &found));
    HR(E_FAIL, CALL(all, GetMethodInfoById, FUNCTION + MAIN, &other));
    assert_null(other);
    HR(E_FAIL, CALL(module, RequestRejit, METHOD(MAIN)));
    RELEASE(method);
    RELEASE(domain);
    RELEASE(module);
    RELEASE(all);
}

/* ---- lists ------------------------------------------------------------------------------------ */

static void lists_name_what_is_loaded(void **state)
{
    IAppDomainInfo       *domain = clrie_domain_face(clrie_model_domain(*state, DOMAIN));
    IAppDomainCollection *all = clrie_face((struct clrie_object *)clrie_model_domains(*state), 0);
    IModuleInfo3         *plain = module_face(*state, PLAIN);
    IEnumModuleInfo      *modules;
    IEnumAssemblyInfo    *assemblies_found;
    IEnumAppDomainInfo   *domains;
    DWORD                 n = 0;
    ULONG                 modules_n = 0;
    GUID                  mvid = {.Data1 = 0xabcd}, other = {.Data1 = 1};
    module_face(*state, FLAT);
    HR(S_OK, CALL(domain, GetModuleCount, &modules_n));
    assert_int_equal(modules_n, 2);
#define COUNT_IS(call, list, expected)      \
    do {                                    \
        HR(S_OK, call);                     \
        HR(S_OK, CALL(list, GetCount, &n)); \
        assert_int_equal(n, expected);      \
        RELEASE(list);                      \
    } while (0)
    COUNT_IS(CALL(domain, GetModules, &modules), modules, 2);
    COUNT_IS(CALL(domain, GetAssemblies, &assemblies_found), assemblies_found, 2);
    COUNT_IS(CALL(all, GetAppDomains, &domains), domains, 1);
    COUNT_IS(CALL(domain, GetModuleInfosByMvid, mvid, &modules), modules, 2);
    COUNT_IS(CALL(domain, GetModuleInfosByMvid, other, &modules), modules, 0);
    COUNT_IS(CALL(all, GetModuleInfosByMvid, mvid, &modules), modules, 2);
    COUNT_IS(CALL(domain, GetModuleInfosByName, (WCHAR *)u"plain.dll", &modules), modules, 1);
    COUNT_IS(CALL(domain, GetModuleInfosByName, (WCHAR *)u"Plain.dll", &modules), modules, 0);
    COUNT_IS(CALL(domain, GetModuleInfosByName, (WCHAR *)u"plain.dl", &modules), modules, 0);
    COUNT_IS(CALL(domain, GetAssemblyInfosByName, (WCHAR *)u"Assembly", &assemblies_found),
             assemblies_found, 2);
    COUNT_IS(CALL(domain, GetAssemblyInfosByName, (WCHAR *)u"assembly", &assemblies_found),
             assemblies_found, 0);
    HR(E_POINTER, CALL(domain, GetModuleInfosByName, NULL, &modules));
    HR(E_POINTER, CALL(domain, GetAssemblyInfosByName, NULL, &assemblies_found));
    HR(E_POINTER, CALL(domain, GetModules, NULL));
    assert_int_equal(count(plain), 2); /* the model's list and the assembly's manifest */
}

/* ---- assemblies ------------------------------------------------------------------------------- */

static void an_assembly_answers_as_clrie_does(void **state)
{
    IModuleInfo3    *module = module_face(*state, PLAIN);
    IAssemblyInfo   *assembly;
    IModuleInfo     *found = (void *)1;
    IEnumModuleInfo *list;
    BSTR             text = (void *)1;
    AssemblyID       id = 0;
    ULONG            n = 0;
    DWORD            token = 0;
    mdToken          type = 5;
    BYTE             key[10] = {0};
    GUID             mvid = {.Data1 = 0xabcd};
    HR(S_OK, CALL(module, GetAssemblyInfo, &assembly));
    text_is(CALL(assembly, GetName, &text), &text, u"Assembly");
    HR(S_OK, CALL(assembly, GetID, &id));
    assert_int_equal(id, ASSEMBLY);
    HR(S_OK, CALL(assembly, GetMetaDataToken, &token));
    assert_int_equal(token, 0x20000001);
    HR(S_OK, CALL(assembly, GetPublicKeySize, &n));
    assert_int_equal(n, 8);
    HR(S_OK, CALL(assembly, GetPublicKey, 8, key));
    assert_memory_equal(key, "KEYBYTES\0", 9);
    memset(key, 1, sizeof(key));
    HR(S_OK, CALL(assembly, GetPublicKey, 4, key));
    assert_memory_equal(key, "\0\0\0\0\1\1\1\1\1\1", 10);
    HR(E_POINTER, CALL(assembly, GetPublicKey, 4, NULL));
    HR(E_FAIL, CALL(assembly, GetPublicKeyToken, &text));
    assert_null(text);
    HR(S_OK, CALL(assembly, GetModuleByMvid, &mvid, &found));
    assert_null(found);
    HR(E_POINTER, CALL(assembly, GetModuleByMvid, NULL, &found));
    list = (void *)1;
    HR(S_OK, CALL(assembly, GetModulesByName, (WCHAR *)u"plain.dll", &list));
    assert_null(list);
    found = (void *)1;
    HR(S_OK, CALL(assembly, GetModuleForMethod, METHOD(MAIN), &found));
    assert_null(found);
    HR(S_OK, CALL(assembly, GetModuleForType, (WCHAR *)u"N.P", 0, &type));
    assert_int_equal(type, 0);
    HR(S_OK, CALL(assembly, GetModuleCount, &n));
    assert_int_equal(n, 1);
    HR(S_OK, CALL(assembly, GetModules, 0, &list));
    RELEASE(list);
    HR(E_POINTER, CALL(assembly, GetName, NULL));
    RELEASE(assembly);
}

static void an_assembly_has_no_token_before_its_manifest_module(void **state)
{
    IAssemblyInfo *assembly = clrie_assembly_face(clrie_model_assembly(*state, ASSEMBLY));
    IModuleInfo   *found;
    DWORD          token;
    HR(E_FAIL, CALL(assembly, GetMetaDataToken, &token));
    HR(E_FAIL, CALL(assembly, GetManifestModule, &found));
    assert_null(clrie_model_assembly(*state, 5)); /* unknown to the runtime */
}

/* ---- modules ---------------------------------------------------------------------------------- */

struct kinds {
    BOOL il_only, mscorlib, dynamic, ngen, winrt, is_64bit, flat, disk;
};

static void kinds_are(IModuleInfo3 *module, struct kinds expected)
{
    struct kinds got;
    memset(&got, 9, sizeof(got));
    HR(S_OK, CALL(module, GetIsILOnly, &got.il_only));
    HR(S_OK, CALL(module, GetIsMscorlib, &got.mscorlib));
    HR(S_OK, CALL(module, GetIsDynamic, &got.dynamic));
    HR(S_OK, CALL(module, GetIsNgen, &got.ngen));
    HR(S_OK, CALL(module, GetIsWinRT, &got.winrt));
    HR(S_OK, CALL(module, GetIs64bit, &got.is_64bit));
    HR(S_OK, CALL(module, GetIsFlatLayout, &got.flat));
    HR(S_OK, CALL(module, GetIsLoadedFromDisk, &got.disk));
    assert_memory_equal(&got, &expected, sizeof(got));
}

static void a_module_says_what_it_is_as_clrie_does(void **state)
{
    /* GetIsILOnly is the opposite of its name. */
    kinds_are(module_face(*state, PLAIN), (struct kinds){.ngen = 1, .is_64bit = 1, .disk = 1});
    kinds_are(module_face(*state, FLAT),
              (struct kinds){.il_only = 1, .mscorlib = 1, .winrt = 1, .flat = 1});
    kinds_are(module_face(*state, DYNAMIC), (struct kinds){.il_only = 1, .dynamic = 1});
    assert_null(clrie_model_module_add(*state, MODULE + RESOURCE));
    assert_null(clrie_model_module_add(*state, 1));
    assert_int_equal(run.import_refs, 0); /* loading opens no metadata */
    assert_int_equal(run.emit_opened, 0);
}

static void names_and_ids_of_a_module(void **state)
{
    IModuleInfo3   *module = module_face(*state, PLAIN);
    IAppDomainInfo *domain;
    BSTR            text;
    ModuleID        id = 0;
    GUID            mvid = {0};
    text_is(CALL(module, GetModuleName, &text), &text, u"plain.dll");
    text_is(CALL(module, GetFullPath, &text), &text, u"/app/plain.dll");
    text_is(CALL(module_face(*state, DYNAMIC), GetModuleName, &text), &text,
            u"RefEmit_InMemoryManifestModule");
    HR(S_OK, CALL(module, GetModuleID, &id));
    assert_int_equal(id, MODULE);
    HR(S_OK, CALL(module, GetMVID, &mvid));
    assert_int_equal(mvid.Data1, 0xabcd);
    HR(S_OK, CALL(module, GetAppDomainInfo, &domain));
    assert_ptr_equal(domain, clrie_domain_face(clrie_model_domain(*state, DOMAIN)));
    RELEASE(domain);
    HR(E_POINTER, CALL(module, GetModuleName, NULL));
    HR(E_POINTER, CALL(module, GetModuleID, NULL));
    HR(E_POINTER, CALL(module, GetMVID, NULL));
    HR(E_POINTER, CALL(module, GetIsILOnly, NULL));
}

static void the_image_of_a_module(void **state)
{
    IModuleInfo3 *plain = module_face(*state, PLAIN), *flat = module_face(*state, FLAT);
    IModuleInfo3 *dynamic = module_face(*state, DYNAMIC);
    LPCBYTE       at;
    BYTE          header[80];
    DWORD         token = 9;
    HR(S_OK, CALL(plain, GetImageBase, &at));
    assert_ptr_equal(at, images[0]);
    HR(S_OK, CALL(plain, GetCorHeader, 72, header));
    assert_int_equal(header[0], 72);
    HR(S_OK, CALL(plain, GetCorHeader, 4, header));
    HR(E_INVALIDARG, CALL(plain, GetCorHeader, 73, header)); /* CLRIE reads after the header */
    HR(E_POINTER, CALL(plain, GetCorHeader, 72, NULL));
    HR(E_FAIL, CALL(dynamic, GetCorHeader, 72, header)); /* CLRIE may crash */
    HR(S_OK, CALL(plain, GetEntrypointToken, &token));
    assert_int_equal(token, 0x06000001);
    HR(E_FAIL, CALL(flat, GetEntrypointToken, &token));
    assert_int_equal(token, 0);
    HR(S_OK, CALL(plain, ResolveRva, 0x1010, &at));
    assert_ptr_equal(at, images[0] + 0x1010);
    HR(S_OK, CALL(plain, ResolveRva, 0x12345678, &at)); /* without a check */
    HR(S_OK, CALL(flat, ResolveRva, 0x1010, &at));
    assert_ptr_equal(at, images[1] + 0x410);
    HR(S_OK, CALL(flat, ResolveRva, 0x10, &at));
    assert_ptr_equal(at, images[1] + 0x10);
    HR(E_POINTER, CALL(flat, ResolveRva, 0x1200, &at));
    assert_null(at);
    HR(E_NOTIMPL, CALL(dynamic, ResolveRva, 0x1010, &at));
    HR(E_FAIL, CALL(plain, GetModuleVersion, 52, header));
    HR(E_INVALIDARG, CALL(plain, GetModuleVersion, 51, header));
    HR(E_NOTIMPL, CALL(plain, ImportModule, NULL, NULL));
}

static void a_module_whose_headers_cannot_be_read_is_known(void **state)
{
    IModuleInfo3 *module;
    BYTE          header[72];
    LPCBYTE       at;
    BOOL          b;
    run.bases[PLAIN] = (LPCBYTE)(uintptr_t)0x1000;
    module = module_face(*state, PLAIN);
    HR(E_FAIL, CALL(module, GetCorHeader, 72, header));
    HR(E_FAIL, CALL(module, ResolveRva, 0, &at));
    HR(S_OK, CALL(module, GetIs64bit, &b));
    assert_int_equal(b, 0);
}

static void metadata_for_writing_is_opened_when_asked_for(void **state)
{
    IModuleInfo3 *module = module_face(*state, PLAIN);
    IUnknown     *a, *b;
    HR(S_OK, CALL(module, GetMetaDataImport, &a));
    assert_ptr_equal(a, &import); /* the interface itself: clients cast it */
    RELEASE(a);
    HR(S_OK, CALL(module, GetMetaDataAssemblyImport, &a));
    assert_ptr_equal(a, &assemblies);
    RELEASE(a);
    assert_int_equal(run.emit_opened, 0);
    HR(S_OK, CALL(module, GetMetaDataEmit, &a));
    HR(S_OK, CALL(module, GetMetaDataEmit, &b));
    assert_ptr_equal(a, &emit);
    assert_ptr_equal(b, &emit);
    assert_int_equal(run.emit_opened, 1);
    RELEASE(a);
    RELEASE(b);
    HR(S_OK, CALL(module, GetMetaDataAssemblyEmit, &a));
    RELEASE(a);
    HR(E_POINTER, CALL(module, GetMetaDataEmit, NULL));
    HR(E_POINTER, CALL(module, GetMetaDataImport, NULL));
}

static void rejit_is_requested_from_the_engine(void **state)
{
    IModuleInfo3 *module = module_face(*state, FLAT);
    HR(S_OK, CALL(module, RequestRejit, METHOD(GEN)));
    assert_int_equal(run.rejit_module, MODULE + FLAT);
    assert_int_equal(run.rejit_method, METHOD(GEN));
}

static void a_module_answers_its_interfaces_and_keeps_data(void **state)
{
    static const GUID *const known[] = {&IID_IUnknown, &IID_IModuleInfo, &IID_IModuleInfo2,
                                        &IID_IModuleInfo3};
    static const GUID        key = {.Data1 = 1};
    IModuleInfo3            *module = module_face(*state, PLAIN);
    IDataContainer          *data;
    IUnknown                *out;
    ULONG                    before = count(module);
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        HR(S_OK, CALL(module, QueryInterface, known[i], (void **)&out));
        assert_ptr_equal(out, module);
        RELEASE(out);
    }
    HR(S_OK, CALL(module, QueryInterface, &IID_IDataContainer, (void **)&data));
    assert_ptr_not_equal(data, module);
    HR(S_OK, CALL(data, SetDataItem, &key, &key, (IUnknown *)(void *)&import));
    assert_int_equal(run.import_refs, 1);
    HR(S_OK, CALL(data, GetDataItem, &key, &key, &out));
    RELEASE(out);
    RELEASE(data);
    HR(E_NOINTERFACE, CALL(module, QueryInterface, &IID_IMethodInfo, (void **)&out));
    assert_null(out);
    assert_int_equal(count(module), before);
}

static void a_released_object_says_so(void **state)
{
    struct clrie_model   *model = clrie_model_new(&host);
    IAppDomainCollection *all = clrie_face((struct clrie_object *)clrie_model_domains(model), 0);
    IModuleInfo3         *module = module_face(model, PLAIN);
    IAppDomainInfo       *domain = clrie_domain_face(clrie_model_domain(model, DOMAIN));
    BSTR                  text;
    DWORD                 n;
    BOOL                  b;
    (void)state;
    clrie_model_free(model);
    HR(E_UNEXPECTED, CALL(module, GetModuleName, &text));
    HR(E_UNEXPECTED, CALL(domain, GetIsDefaultDomain, &b));
    HR(E_UNEXPECTED, CALL(all, GetAppDomainCount, &n));
    assert_int_equal(RELEASE(module), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_app_domain_has_no_name_before_it_is_finished),
        TEST(the_domain_of_the_core_library_is_the_system_domain),
        TEST(a_buffer_with_room_for_all_app_domain_ids_is_refused),
        TEST(things_are_found_by_their_ids_until_they_are_unloaded),
        TEST(an_unloaded_module_answers_from_what_was_copied),
        TEST(objects_outlive_the_model),
        TEST(lists_name_what_is_loaded),
        TEST(an_assembly_answers_as_clrie_does),
        TEST(an_assembly_has_no_token_before_its_manifest_module),
        TEST(a_module_says_what_it_is_as_clrie_does),
        TEST(names_and_ids_of_a_module),
        TEST(the_image_of_a_module),
        TEST(a_module_whose_headers_cannot_be_read_is_known),
        TEST(metadata_for_writing_is_opened_when_asked_for),
        TEST(rejit_is_requested_from_the_engine),
        TEST(a_module_answers_its_interfaces_and_keeps_data),
        TEST(a_released_object_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
