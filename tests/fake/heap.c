/* SPDX-License-Identifier: MIT */
/* heap.c - modules, classes, methods and objects, with the load events that a CLR raises. */
#include "tests/fake/fake.h"

#define ID(object) ((uint64_t)(uintptr_t)(object))
#define MAX_ARGS 4

static void copy_text(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text);
}

/* Raises no events, so the profiler does not know of the module yet. */
struct fake_module *fake_module_new(const char *path)
{
    unsigned n = atomic_fetch_add(&fake.n_modules, 1);
    if (n >= sizeof(fake.modules) / sizeof(fake.modules[0])) {
        atomic_fetch_sub(&fake.n_modules, 1);
        return NULL;
    }
    struct fake_assembly *assembly = fake_alloc(sizeof(*assembly), FAKE_ASSEMBLY);
    struct fake_module *module = fake_alloc(sizeof(*module), FAKE_MODULE);
    module->number = n;
    module->assembly = assembly;
    assembly->module = module;
    copy_text(module->path, sizeof(module->path), path);
    fake_publish(&assembly->id);
    fake_publish(&module->id);
    return module;
}

void fake_module_announce(struct fake_module *module)
{
    atomic_store(&fake.modules[module->number], module);
    FAKE_RAISE(AssemblyLoadStarted, ID(module->assembly));
    FAKE_RAISE(ModuleLoadStarted, ID(module));
    FAKE_RAISE(ModuleLoadFinished, ID(module), S_OK);
    FAKE_RAISE(ModuleAttachedToAssembly, ID(module), ID(module->assembly));
    FAKE_RAISE(AssemblyLoadFinished, ID(module->assembly), S_OK);
}

struct fake_module *fake_module_load(const char *path)
{
    struct fake_module *module = fake_module_new(path);
    if (module)
        fake_module_announce(module);
    return module;
}

/* A real runtime unloads on one thread, one assembly after the other, and removes the code from its
 * tables while all threads are suspended. */
void fake_module_unload(struct fake_module *module)
{
    while (pthread_mutex_trylock(&fake.unload_lock) != 0)
        fake_nap(100);
    FAKE_RAISE(AssemblyUnloadStarted, ID(module->assembly));
    FAKE_RAISE(ModuleUnloadStarted, ID(module));
    atomic_store(&module->unloaded, 1);
    FAKE_RAISE(ModuleUnloadFinished, ID(module), S_OK);
    FAKE_RAISE(AssemblyUnloadFinished, ID(module->assembly), S_OK);
    if (fake_suspend(COR_PRF_SUSPEND_FOR_APPDOMAIN_SHUTDOWN))
        atomic_fetch_add(&fake.gc_hangs, 1);
    fake_resume();
    pthread_mutex_unlock(&fake.unload_lock);
}

static struct fake_class *class_alloc(void)
{
    unsigned n = atomic_fetch_add(&fake.n_classes, 1) + 1;
    if (n >= FAKE_MAX_ITEMS)
        return NULL;
    struct fake_class *type = fake_alloc(sizeof(*type), FAKE_CLASS);
    type->number = type->row = n;
    return type;
}

static struct fake_class *class_publish(struct fake_class *type)
{
    fake_publish(&type->id);
    atomic_store(&fake.classes[type->number], type);
    FAKE_RAISE(ClassLoadStarted, ID(type));
    FAKE_RAISE(ClassLoadFinished, ID(type), S_OK);
    return type;
}

/* Instantiations of a generic type share its TypeDef row: that of the first class of this name in
 * the module. */
struct fake_class *fake_class_new(struct fake_module *module, const char *name,
                                  struct fake_class *enclosing, unsigned n_args,
                                  const ClassID *args)
{
    struct fake_class *type = class_alloc();
    if (!type || n_args > MAX_ARGS)
        return NULL;
    type->module = module;
    type->enclosing = enclosing;
    type->n_args = n_args;
    if (n_args && args)
        memcpy(type->args, args, n_args * sizeof(*args));
    copy_text(type->name, sizeof(type->name), name);
    for (unsigned i = 1; n_args && i < type->number; i++) {
        struct fake_class *older = atomic_load(&fake.classes[i]);
        if (older && older->module == module && older->enclosing == enclosing &&
            strcmp(older->name, type->name) == 0) {
            type->row = older->row;
            break;
        }
    }
    return class_publish(type);
}

struct fake_class *fake_class_array(struct fake_class *element, unsigned rank)
{
    struct fake_class *type = class_alloc();
    if (!type)
        return NULL;
    type->module = element->module;
    type->element = element;
    type->rank = rank;
    return class_publish(type);
}

struct fake_function *fake_method_new(struct fake_module *module, struct fake_class *type,
                                      const char *name, const uint8_t *sig, size_t sig_size,
                                      unsigned n_args, const ClassID *args)
{
    static const uint8_t void_sig[] = {0x00, 0x00, ELEMENT_TYPE_VOID};
    unsigned n = atomic_fetch_add(&fake.n_functions, 1) + 1;
    if (n >= FAKE_MAX_ITEMS || n_args > MAX_ARGS || sig_size > 64)
        return NULL;
    struct fake_function *function = fake_alloc(sizeof(*function), FAKE_FUNCTION);
    if (!sig || !sig_size) {
        sig = void_sig;
        sig_size = sizeof(void_sig);
    }
    function->number = function->row = n;
    function->module = module;
    function->type = type;
    function->dynamic = !type;
    function->n_args = n_args;
    if (n_args && args)
        memcpy(function->args, args, n_args * sizeof(*args));
    function->sig_size = (unsigned)sig_size;
    memcpy(function->sig, sig, sig_size);
    copy_text(function->name, sizeof(function->name), name);
    fake_publish(&function->id);
    atomic_store(&fake.functions[n], function);
    return function;
}

struct fake_class *fake_class_by_token(struct fake_module *module, mdToken token)
{
    unsigned row = token & 0xFFFFFF;
    if (token >> 24 != 0x02 || !row || row > atomic_load(&fake.n_classes))
        return NULL;
    struct fake_class *type = atomic_load(&fake.classes[row]);
    return type && type->module == module && !type->element ? type : NULL;
}

struct fake_function *fake_function_by_token(struct fake_module *module, mdToken token)
{
    unsigned row = token & 0xFFFFFF;
    if (token >> 24 != 0x06 || !row || row > atomic_load(&fake.n_functions))
        return NULL;
    struct fake_function *function = atomic_load(&fake.functions[row]);
    return function && function->module == module && !function->dynamic ? function : NULL;
}

struct fake_object *fake_object_new(struct fake_class *type)
{
    struct fake_object *object = fake_alloc(sizeof(*object), FAKE_OBJECT);
    object->type = type;
    object->born = atomic_load(&fake.gcs);
    fake_publish(&object->id);
    object->before = atomic_load(&fake.newest_object);
    while (!atomic_compare_exchange_weak(&fake.newest_object, &object->before, object))
        continue;
    if (atomic_load(&fake.mask_low) & (uint32_t)COR_PRF_ENABLE_OBJECT_ALLOCATED)
        FAKE_RAISE(ObjectAllocated, ID(object), ID(type));
    return object;
}
