/* SPDX-License-Identifier: MIT */
/** jni.c - libhost_jni.so, the native methods of tests/hosts/programs/java/Host.java. They are
 * declared without jni.h, because only a JDK has that header: the first two arguments of a static
 * native method are pointers, and they are not used here. */
#include <stdint.h>

#include "tests/hosts/hosting.h"

void    Java_Host_start(void *env, void *class_object);
int32_t Java_Host_work(void *env, void *class_object, int32_t rounds);
int32_t Java_Host_end(void *env, void *class_object);

__attribute__((visibility("default"))) void Java_Host_start(void *env, void *class_object)
{
    (void)env;
    (void)class_object;
    hosting_start();
}

__attribute__((visibility("default"))) int32_t Java_Host_work(void *env, void *class_object,
                                                              int32_t rounds)
{
    (void)env;
    (void)class_object;
    return hosting_work(rounds);
}

__attribute__((visibility("default"))) int32_t Java_Host_end(void *env, void *class_object)
{
    (void)env;
    (void)class_object;
    return hosting_end();
}
