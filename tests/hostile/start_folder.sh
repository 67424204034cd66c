# SPDX-License-Identifier: MIT
# start_folder.sh - plays the owner of the folder in which root's start makes the session folder: right after that he puts
# something else in its place. Root gives away only the folder that it has made.
. "$(dirname "$0")/lib.sh"
needs_root "$0"
. tests/hostile/control.inc
as $victim test -x "$runsxs" -a -r "$BUILD/libsxsprof.so" || skip_all "$0" "user $victim cannot read $BUILD"
lair=$(lair $victim lair)
mkdir -m 700 "$tmp/secret" "$tmp/full"
touch "$tmp/full/file"

victim setpriv --reuid $victim --regid $victim --clear-groups
"$sxsprof" start --quiet --tool sample -o "$lair/own" "$pid" >"$tmp/out" 2>&1 && [ "$(stat -c %u "$lair/own")" = $victim ]
check "root begins a session in a folder that it makes for the program's user" $? "$tmp/out"
"$sxsprof" stop --quiet "$pid" >"$tmp/out" 2>&1

# The command pauses after mkdirat(), as if the attacker had been fast; he has swapped the folders when it goes on.
cat >"$tmp/swap.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
int mkdirat(int dir, const char *name, mode_t mode)
{
    int (*next)(int, const char *, mode_t) = (int (*)(int, const char *, mode_t))dlsym(RTLD_NEXT, "mkdirat");
    int result = next(dir, name, mode);
    if (!result && strcmp(name, "new") == 0)
        result = system(getenv("SWAP")) ? -1 : 0;
    return result;
}
END
cc -shared -fPIC -o "$tmp/swap.so" "$tmp/swap.c" -ldl >"$tmp/out" 2>&1
check "the attacker is ready" $? "$tmp/out"
swapped() { # CLAIM FOLDER SHELL-COMMAND
    LD_PRELOAD=$tmp/swap.so SWAP="unset LD_PRELOAD; $3" timeout 60 "$sxsprof" start --quiet --tool sample -o "$lair/dir/new" "$pid" >"$tmp/out" 2>&1
    [ $? -eq 2 ] && [ "$(stat -c %u "$2")" = 0 ]
    check "$1: it stays root's" $? "$tmp/out"
    rm -rf "$lair/dir" "$lair/was" "$lair/other" && as $victim mkdir "$lair/dir"
}
as $victim mkdir "$lair/dir"
mkdir -m 700 "$lair/other" && touch "$lair/other/file"
swapped "another folder of root, with files" "$lair/dir/new" \
    "mv '$lair/dir/new' '$lair/was' && mv '$lair/other' '$lair/dir/new'"
mkdir -m 700 "$tmp/secret/new"
swapped "a link in the middle of the path" "$tmp/secret/new" \
    "mv '$lair/dir' '$lair/was' && ln -s '$tmp/secret' '$lair/dir'"
swapped "a link in its place" "$tmp/full" "mv '$lair/dir/new' '$lair/was' && ln -s '$tmp/full' '$lair/dir/new'"
leave
finish
