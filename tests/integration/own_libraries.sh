# SPDX-License-Identifier: MIT
# own_libraries.sh - checks which libraries sxsprof uses in the target process.
# When a host exports functions with the same names, sxsprof must still call the functions of its libraries.
. "$(dirname "$0")/lib.sh"
[ -n "$SAN" ] && skip_all "$0" "sanitizers refuse libraries that use their own symbols first"

needed() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' | sort | paste -s -d ' '; }
for name in libsxsprof libsxsprof-clrie libsxsprof-preload libsxsprof-malloc; do
    needed "$BUILD/$name.so" >"$tmp/log"
    ! tr ' ' '\n' <"$tmp/log" | grep -vxE 'libc\.so\.6|ld-linux-x86-64\.so\.2|libdl\.so\.2|libpthread\.so\.0' >/dev/null
    check "$name.so needs no other library than the C library" $? "$tmp/log"
done

# Checked only with glibc 2.36 or earlier: a build on a system with a later glibc can need the glibc of this
# system.
if [ "$(printf '%s\n' 2.36 "$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)" | sort -V | tail -n 1)" = 2.36 ]; then
    sh packaging/glibc.sh 2.34 "$BUILD/libsxsprof.so" "$BUILD/libsxsprof-clrie.so" "$BUILD/libsxsprof-preload.so" "$BUILD/libsxsprof-malloc.so" "$sxsprof" >"$tmp/log" 2>&1
    check "the libraries and the command do not need a glibc later than 2.34" $? "$tmp/log"
fi

soname() { sed -n "s/.*SXS_$1_SONAME *\"\(.*\)\"/\1/p" "$BUILD/gen/sxs_sonames.h"; }
path() { ldconfig -p | sed -n "s,^[[:space:]]*$1 .*x86-64.* => ,,p" | head -n 1; }
libxml2=$(path "$(soname LIBXML2)")
libunwind=$(path "$(soname LIBUNWIND)")
[ -e "$libxml2" ] && [ -e "$libunwind" ]
check "libxml2 and libunwind are found by the sonames that the build recorded" $? "$BUILD/gen/sxs_sonames.h"

# Define every name that these libraries export. A call of one of the functions, or a use of one of the
# variables, ends the process. Names of the C library and of the compiler's own unwinder, which libunwind
# exports too, are left out.
all=$(ldd "$libxml2" "$libunwind" | sed -n 's,.* => \(/.*/lib\(lzma\|z\)\.so[^ ]*\) .*,\1,p' | sort -u)
# shellcheck disable=SC2086
nm -D --defined-only "$libxml2" "$libunwind" $all | awk '
    NF == 3 && $3 ~ /^[A-Za-z_]/ && $2 ~ /[TWDBR]/ {
        name = $3
        sub(/@.*/, "", name)
        if (name ~ /^(_Unwind_|backtrace$|_init$|_fini$|_edata$|_end$|__bss_start$)/ || seen[name]++)
            next
        if ($2 ~ /[TW]/)
            printf "void %s(void) { said(\"%s\"); }\n", name, name
        else
            printf "long %s[64] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };\n", name
        n++
    }
    END { exit n < 1500 }' >"$tmp/names"
check "libxml2, libunwind and their libraries export at least 1,500 names" $? "$tmp/names"
{
    printf '#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n'
    printf 'static void said(const char *name) { (void)!write(2, "of the host: ", 13);'
    printf ' (void)!write(2, name, strlen(name)); abort(); }\n'
    cat "$tmp/names"
} >"$tmp/names.c"
${CC:-cc} -w -fno-builtin -shared -fPIC "$tmp/names.c" -o "$tmp/names.so" >"$tmp/log" 2>&1
check "a library that defines all of these names is compiled" $? "$tmp/log"

cat >"$tmp/host.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    void *lib = dlopen(argv[1], RTLD_NOW), *print = lib ? dlsym(lib, "sxsprof_print_stack") : NULL;
    return argc < 2 || !print || ((int (*)(int, const char *))print)(1, "mixed") < 2;
}
END
${CC:-cc} -w "$tmp/host.c" -o "$tmp/host" -ldl >"$tmp/log" 2>&1 &&
    LD_PRELOAD=$tmp/names.so "$tmp/host" "$(realpath "$BUILD")/libsxsprof.so" >"$tmp/log" 2>&1 && grep -q '	main+' "$tmp/log"
check "a host in which all of these names are defined prints its stack" $? "$tmp/log"

cat >"$tmp/rules.xml" <<'END'
<instrumentation xmlns="urn:sxsprof:instrumentation:1">
  <rule name="all"><match assembly="Work" type="Fake.Work.Methods" method="*"/><count/></rule>
</instrumentation>
END
mkdir "$tmp/s"
clsid=$(sed -n 's/.*SXSPROF_CLSID "\(.*\)".*/\1/p' include/sxsprof.h)
CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER=$clsid CORECLR_PROFILER_PATH=$(realpath "$BUILD")/libsxsprof.so SXSPROF_OUT=$tmp/s \
    SXSPROF_INSTRUMENT=$tmp/rules.xml LD_PRELOAD=$tmp/names.so "$runsxs" --timeout 100 fake:8.0 "!work module 3; work call 10 4" "" \
    >"$tmp/log" 2>&1 && "$sxsprof" report --format json "$tmp/s" 2>>"$tmp/log" | grep -q 'Fake.Work.Methods'
check "rules are read and applied in a host in which all of these names are defined" $? "$tmp/log"
"$sxsprof" check "$tmp/rules.xml" >"$tmp/log" 2>&1 &&
    LD_PRELOAD=$tmp/names.so "$sxsprof" check "$tmp/rules.xml" >"$tmp/log" 2>&1
check "the command reads rules while a preloaded library defines all of these names" $? "$tmp/log"
finish
