# SPDX-License-Identifier: MIT
# packages_missing.sh - checks that only `make setup` installs or fetches anything, and that every other target says in one
# line what is missing and how to get it.
# run: without sanitizers
. "$(dirname "$0")/../integration/lib.sh"

mkdir "$tmp/bin"
cat >"$tmp/bin/dpkg-query" <<'D'
#!/bin/sh
for name; do :; done
[ "$name" = debhelper ] || [ "$name" = libunwind-dev ] || { echo 'install ok installed'; exit; }
exit 1
D
chmod +x "$tmp/bin/dpkg-query"
PATH=$tmp/bin:$PATH sh setup/packages.sh --missing build archives >"$tmp/out" 2>"$tmp/err"
[ $? -eq 1 ] && [ ! -s "$tmp/out" ] && [ "$(cat "$tmp/err")" = \
    "packages: missing: libunwind-dev debhelper; get them by: make setup GROUPS=\"archives\", or: sudo apt-get install libunwind-dev debhelper" ]
check "what is missing of several groups is said in one line, and nothing is installed" $? "$tmp/err"
PATH=$tmp/bin:$PATH sh setup/packages.sh --missing lint >"$tmp/out" 2>&1 && [ ! -s "$tmp/out" ]
check "nothing is said of a group that is there" $? "$tmp/out"
sh setup/packages.sh --missing nothing >"$tmp/out" 2>&1
[ $? -eq 2 ] && grep -q '^packages: no group "nothing", expected one of: build ' "$tmp/out"
check "a group that is not known is refused" $? "$tmp/out"
for goal in deb tarball; do
    PATH=$tmp/bin:$PATH make -s $goal >"$tmp/out" 2>&1
    [ $? -ne 0 ] && grep -q '^packages: missing: libunwind-dev debhelper; ' "$tmp/out" && ! grep -q 'CC ' "$tmp/out"
    check "make $goal says it before it compiles" $? "$tmp/out"
done
make -s ESBUILD="$tmp/none" O="$tmp/o" "$tmp/o/gen/page/list.js" >"$tmp/out" 2>&1
[ $? -ne 0 ] && grep -q '^esbuild is missing (make setup installs it' "$tmp/out"
check "a build without esbuild says what to install" $? "$tmp/out"

# What each target would run. The second makes of recursive targets are asked, too.
for goal in all unit check check-run check-loop check-attach check-threads demo demo-fleet bench bench-fleet soak sessions hosts \
    lint format tarball deb check-packages install "$tmp/o/tests/test_merge"; do
    make -n O="$tmp/o" $goal >"$tmp/out" 2>"$tmp/err" </dev/null
    grep -nE 'sudo|apt-get|setup/[a-z_]*\.sh' "$tmp/out" | grep -vE 'setup/packages\.sh --missing|setup/setup\.sh --present' >"$tmp/bad"
    [ -s "$tmp/out" ] && [ ! -s "$tmp/bad" ]
    check "make $goal installs and fetches nothing" $? "$tmp/bad"
done
make -n setup GROUPS="lint hosts" >"$tmp/out" 2>&1 && [ "$(cat "$tmp/out")" = "sh setup/setup.sh lint hosts" ]
check "make setup does, also for more groups" $? "$tmp/out"
PATH=$tmp/bin:$PATH make -s demo >"$tmp/out" 2>&1
[ $? -ne 0 ] && [ "$(grep -c '' "$tmp/out")" -le 2 ] && grep -q '^packages: missing: libunwind-dev; get them by: make setup, or: ' "$tmp/out"
check "make demo names the command that gets them" $? "$tmp/out"

# What is not a Debian package, in a copy of the tree without build/. The commands of NuGet and npm must not be called.
mkdir "$tmp/tree" "$tmp/fetching"
mkdir -p "$tmp/tree/tests"
cp -a setup harness "$tmp/tree/"
cp -a tests/instr tests/hosts tests/clrmd "$tmp/tree/tests/"
for command in dotnet npm apt-get sudo; do
    printf '#!/bin/sh\necho "%s $*" >>"%s/called"\nexit 1\n' $command "$tmp" >"$tmp/fetching/$command"
done
chmod +x "$tmp"/fetching/*
PATH=$tmp/fetching:$PATH sh "$tmp/tree/setup/setup.sh" --present >"$tmp/out" 2>&1
[ $? -eq 0 ] && [ "$(grep -c 'get it by: make setup' "$tmp/out")" -eq 1 ] &&
    grep -q '^setup: not here: \.NET [0-9. ]*, the apps, ASP.NET Core .*get it by: make setup$' "$tmp/out"
check "what make setup would fetch is said in one line" $? "$tmp/out"
[ ! -e "$tmp/called" ]
check "nothing was fetched" $? "$tmp/called"
modules=$(PATH=$tmp/fetching:$PATH sh "$tmp/tree/setup/page_lint.sh" --present 2>&1)
[ $? -ne 0 ] && [ ! -e "$tmp/called" ] && case $modules in
*"get them by: make setup" | "no node here") ;;
*) false ;;
esac
check "node modules are not fetched, and the command that gets them is named" $?
finish
