# SPDX-License-Identifier: MIT
# install.sh - runs make install, builds programs against the installed files, and runs make uninstall.
. "$(dirname "$0")/lib.sh"
[ -n "$SAN" ] && skip_all "install" "a sanitizer build is not installed"
# -o all: make must not build anything, because a build would replace files that other tests are running.
make -s -o all install O="$BUILD" DESTDIR="$tmp" PREFIX=/opt/sxs >"$tmp/log" 2>&1
check "make install with DESTDIR= and PREFIX= succeeds" $? "$tmp/log"
root=$tmp/opt/sxs
[ -x "$root/bin/sxsprof" ] && [ -x "$root/bin/runsxs" ] && [ -e "$root/lib/sxsprof/libsxsprof.so" ] &&
    [ -e "$root/lib/sxsprof/libsxsprof-clrie.so" ] &&
    [ -e "$root/lib/sxsprof/libsxsprof-preload.so" ] && [ -e "$root/lib/sxsprof/libsxsprof-malloc.so" ] && [ -e "$root/include/sxsprof.h" ] &&
    [ -e "$root/share/man/man1/sxsprof.1" ] && [ -e "$root/share/sxsprof/instrumentation.xsd" ]
check "command, harness, libraries, header, man page and XML schema are in their folders" $? "$tmp/log"
grep -q 'complete -F _sxsprof sxsprof' "$root/share/bash-completion/completions/sxsprof" &&
    grep -q '^#compdef sxsprof' "$root/share/zsh/site-functions/_sxsprof"
check "the completions for bash and zsh are in their folders" $? "$tmp/log"
ls "$root/include" >"$tmp/log"
[ "$(paste -s -d ' ' <"$tmp/log")" = "sxs_il.h sxs_il_opcodes.h sxsprof.h" ]
check "include/ has the public headers and no other file" $? "$tmp/log"
cat >"$tmp/a.c" <<'E2'
#include <dlfcn.h>
#include <stdio.h>
#include <sxsprof.h>
int main(int argc, char **argv)
{
    void *lib = dlopen(argv[argc - 1], RTLD_NOW);
    int (*print)(int, const char *);
    if (!lib)
        return puts(dlerror());
    *(void **)&print = dlsym(lib, "sxsprof_print_stack");
    return print && print(1, "mixed") > 0 && print(1, "sideways") < 0 ? 0 : 1;
}
E2
${CC:-cc} -Wall -Werror -I"$root/include" "$tmp/a.c" -o "$tmp/a" -ldl 2>>"$tmp/log" &&
    "$tmp/a" "$root/lib/sxsprof/libsxsprof.so" >>"$tmp/log" 2>&1
check "a C program includes sxsprof.h and prints its stack without any runtime" $? "$tmp/log"
grep -q 'main' "$tmp/log"
check "the printed stack names the function main of the program" $? "$tmp/log"
cat >"$tmp/il.c" <<'E2'
#include <stdio.h>
#include <sxs_il.h>
int main(void)
{
    static const unsigned char body[] = {0x0a, 0x17, 0x2a}; /* ldc.i4.1; ret */
    const struct sxs_il_method method = {.returns = 1};
    struct sxs_il_body *b = sxs_il_new();
    struct sxs_il_error error;
    const unsigned char *out;
    size_t size;
    if (!b || sxs_il_read(b, body, sizeof(body), &error))
        return 1;
    sxs_il_insert_before(b, b->first, sxs_il_insn(b, SXS_IL_NOP));
    if (sxs_il_check(b, &method, &error) || sxs_il_write(b, &out, &size, &error))
        return 1;
    printf("%zu bytes\n", size);
    sxs_il_free(b);
    return size == 4 ? 0 : 1;
}
E2
# shellcheck disable=SC2046
${CC:-cc} -Wall -Werror "$tmp/il.c" $(PKG_CONFIG_PATH=$root/lib/pkgconfig pkg-config --cflags --libs libsxsil) -o "$tmp/il" \
    2>>"$tmp/log" && "$tmp/il" >>"$tmp/log" 2>&1
check "a C program reads, changes and writes a method body with no other library than libsxsil.a, found by pkg-config" $? "$tmp/log"
got=$(PKG_CONFIG_PATH=$root/lib/pkgconfig pkg-config --variable=profiler sxsprof)
[ "$(realpath "$got")" = "$(realpath "$root/lib/sxsprof/libsxsprof.so")" ]
check "pkg-config prints the path of the installed profiler library" $?
v=$(ls "$BUILD/fakeclr" | tail -n 1)
"$root/bin/sxsprof" run -- "$root/bin/runsxs" --bridge "fake:$v" "!jit 3" "" >"$tmp/log" 2>&1
s=$?
[ $s -eq 0 ] && grep -q picked "$tmp/log"
check "the installed command and harness find the installed libraries" $? "$tmp/log"
: >"$root/bin/other"
make -s uninstall O="$BUILD" DESTDIR="$tmp" PREFIX=/opt/sxs >"$tmp/log" 2>&1 && find "$root" ! -type d >>"$tmp/log" &&
    [ "$(cat "$tmp/log")" = "$root/bin/other" ]
check "make uninstall removes every installed file and no other file" $? "$tmp/log"
make -s -o all install O="$BUILD" DESTDIR="$tmp" PREFIX=/usr LIB=lib/x86_64-linux-gnu >"$tmp/log" 2>&1
root=$tmp/usr
[ "$(realpath "$(PKG_CONFIG_PATH=$root/lib/x86_64-linux-gnu/pkgconfig pkg-config --variable=libdir libsxsil)")" = \
    "$(realpath "$root/lib/x86_64-linux-gnu")" ] && [ -e "$root/lib/x86_64-linux-gnu/libsxsil.a" ] &&
    [ -e "$root/lib/sxsprof/libsxsprof.so" ]
check "LIB= changes the folder of libsxsil.a, but not of the libraries that the command looks for" $? "$tmp/log"
finish
