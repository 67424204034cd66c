#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh - `make check-packages`: installs the Debian packages, and unpacks the tarball, on bare
# Debian 12 roots, and profiles there. Prints TAP. Not part of `make check`, because it needs root
# (debootstrap, chroot, mounts) and a Debian mirror.
#
# BUILD   build folder, in which `make deb` and `make tarball` have left their results
# MIRROR  Debian mirror (default: http://deb.debian.org/debian)
# SHOW    a file that receives all commands that are run in the roots, and their output
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build}" "${MIRROR:=http://deb.debian.org/debian}" "${SHOW:=/dev/null}"
n=0 failed=0
say() { echo "$*"; }
check() { # CLAIM STATUS [FILE]
    n=$((n + 1))
    if [ "$2" -eq 0 ]; then say "ok $n - $1"; return; fi
    failed=1
    say "not ok $n - $1"
    [ ! -e "${3:-}" ] || tail -n 30 "$3" | sed 's/^/# /'
}
skip_rest() { n=$((n + 1)); say "ok $n - ${1%%:*} # SKIP ${1#*: }"; exit $failed; }

tmp=$(mktemp -d "${TMPDIR:-/tmp}/sxsprof-packages.XXXXXX") || exit 1
trap 'rm -rf --one-file-system "$tmp"' EXIT
trap 'exit 130' INT TERM
build=$(realpath "$BUILD")
tarball=$(find "$build" -maxdepth 1 -name 'sxsprof-*-linux-x86_64.tar.xz' | head -n 1)
debs=$(find "$build/deb" -maxdepth 1 -name '*.deb' | sort)
log=$tmp/log

[ "$(printf '%s\n' "$debs" | grep -c .)" = 3 ]
check "make deb makes three packages" $?
[ -n "$tarball" ]
check "make tarball makes a tarball" $?

lintian --fail-on error,warning --allow-root "$build"/deb/*.changes >"$log" 2>&1 && [ ! -s "$log" ]
check "lintian finds nothing in the packages" $? "$log"

# Built by a user who may write only to a folder that has the results of `make all`.
mkdir "$tmp/own" && ln -s "$build"/* "$tmp/own/" && rm -f "$tmp/own/deb" && chmod 755 "$tmp" && chown 65534 "$tmp/own" 2>"$log" &&
    setpriv --reuid 65534 --regid 65534 --clear-groups env BUILD="$tmp/own" HOME="$tmp/own" \
        VERSION="$(basename "$tarball" | sed 's/^sxsprof-\(.*\)-linux.*/\1/')" sh packaging/deb.sh >"$log" 2>&1 &&
    dpkg-deb -c "$tmp"/own/deb/sxsprof_*.deb | awk '$2 != "root/root" { bad = 1 } END { exit bad }'
check "the packages are built without root, and their files are root's" $? "$log"

mkdir "$tmp/unpacked" && tar -C "$tmp/unpacked" -xJf "$tarball" >"$log" 2>&1
check "the tarball unpacks" $? "$log"
top=$(echo "$tmp"/unpacked/*)
sh packaging/glibc.sh 2.34 "$top/bin/sxsprof" "$top"/lib/sxsprof/*.so* >"$log" 2>&1
check "no file of the tarball needs a glibc later than 2.34" $? "$log"
sh packaging/glibc.sh 2.33 "$top/bin/sxsprof" >"$log" 2>&1
[ $? -eq 1 ] && grep -q '@GLIBC_2.34' "$log"
check "and that is checked: 2.33 would not be enough" $? "$log"

[ "$(id -u)" -eq 0 ] || skip_rest "bare roots: needs root"
command -v debootstrap >/dev/null || skip_rest "bare roots: debootstrap is not installed"

# The bare root is made once; each test gets a copy.
bare=$build/packages/bookworm
if [ ! -e "$bare/.made" ]; then
    rm -rf --one-file-system "$bare"
    mkdir -p "$build/packages"
    debootstrap --variant=minbase bookworm "$bare" "$MIRROR" >"$log" 2>&1 && : >"$bare/.made"
    check "a bare Debian 12 root" $? "$log"
    [ -e "$bare/.made" ] || exit 1
fi

root=
new_root() { root=$tmp/$1; cp -a "$bare" "$root" && cp /etc/resolv.conf "$root/etc/"; }
# inside COMMAND: a shell command in the root, with processes and mounts of its own. The .NET
# runtime of this machine is at /usr/share/dotnet, read-only.
inside() {
    echo "root# $1" >>"$SHOW"
    unshare --mount --pid --fork sh -c '
        mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" || exit 1
        if [ -d /usr/share/dotnet ]; then
            mkdir -p "$1/usr/share/dotnet" && mount --bind -o ro /usr/share/dotnet "$1/usr/share/dotnet" || exit 1
        fi
        exec chroot "$1" /usr/bin/env -i PATH=/opt/sxsprof/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root sh -c "$2"' \
        sh "$root" "$1" >"$log" 2>&1
    local status=$?
    cat "$log" >>"$SHOW"
    return $status
}

# A service with its own start script, which knows nothing of a profiler.
put_service() {
    mkdir -p "$root/srv/shop" && cp "$build"/managed/web/* "$root/srv/shop/" || return
    cat >"$root/srv/shop/start.sh" <<'END'
#!/bin/sh
# Starts the shop's service.
cd "$(dirname "$0")" || exit 1
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 ASPNETCORE_ENVIRONMENT=Production
exec /usr/share/dotnet/dotnet web.dll 60 >service.log 2>&1
END
    # The load: a client that comes with every Debian root.
    cat >"$root/srv/shop/load.pl" <<'END'
use Socket;
my $port;
for (1 .. 600) {
    if (open my $log, '<', '/srv/shop/service.log') { ($port) = map { /listening on .*:(\d+)/ } <$log>; }
    last if $port;
    select undef, undef, undef, 0.1;
}
my $served = 0;
for (1 .. 3000) {
    socket my $s, PF_INET, SOCK_STREAM, 0 or next;
    connect $s, sockaddr_in($port, INADDR_LOOPBACK) or next;
    syswrite $s, "GET /order HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    local $/;
    $served++ if <$s> =~ /customer/;
}
print "served $served\n";
END
    chmod 755 "$root/srv/shop/start.sh"
}

# The service under sxsprof, with rules (libxml2 in the target), sampled by the tool's own walker.
try_service() { # NAME
    if [ ! -e "$build/managed/web/web.dll" ] || [ ! -d /usr/share/dotnet/shared/Microsoft.AspNetCore.App ]; then
        n=$((n + 1)); say "ok $n - $1: a flame graph of a service # SKIP no .NET here"
        return
    fi
    put_service
    mkfifo "$root/srv/shop/stdin"
    inside 'cd /tmp && { sleep 300 >/srv/shop/stdin & } ; hold=$!
        sxsprof run --tool sample --instrument /tmp/rules.xml -o /tmp/session -- sh /srv/shop/start.sh </srv/shop/stdin &
        running=$!
        perl /srv/shop/load.pl; kill $hold; wait $running'
    check "$1: a service, started by its own script, runs under sxsprof and answers" $? "$log"
    grep -q 'served [1-9]' "$log"
    check "$1: requests were served" $? "$log"
    inside 'cd /tmp && sxsprof report --format html -o /tmp/flame.html /tmp/session && ls -l /tmp/flame.html'
    check "$1: a page with its flame graph" $? "$log"
    inside 'sxsprof report --format collapsed /tmp/session | grep -o "[^;]*\(Kestrel\|Program\.\)[^;]*" | cut -c1-100 | sort | uniq -c | sort -rn | head -n 10'
    grep -q 'Kestrel' "$log" && grep -aq 'Kestrel' "$root/tmp/flame.html"
    check "$1: which has the names of the service's functions" $? "$log"
    inside 'sxsprof report --format json /tmp/session'
    grep -q '"orders"' "$log" && grep -q 'Program.Place' "$log"
    check "$1: the rules were applied in the service" $? "$log"
    # With the walker of libunwind a stack has more than its first frame only if libunwind is there.
    mkdir -p "$root/srv/hello" && cp "$build"/managed/hello/* "$root/srv/hello/"
    inside 'cd /tmp && export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 &&
        sxsprof run --quiet --tool sample:cpu=997,walker=unwind -o /tmp/unwound -- /usr/share/dotnet/dotnet /srv/hello/hello.dll 0 &&
        sxsprof report --format collapsed /tmp/unwound | cut -c1-300'
    awk -F';' '/coreclr/ && NF > 8 { deep++ } END { exit deep < 5 }' "$log"
    check "$1: libunwind walks stacks in the target" $? "$log"
}

try_rules() { # NAME
    cat >"$root/tmp/rules.xml" <<'END'
<instrumentation xmlns="urn:sxsprof:instrumentation:1">
  <rule name="orders"><match assembly="web" type="Program" method="Place"/><count/></rule>
</instrumentation>
END
    inside 'sxsprof check /tmp/rules.xml && sxsprof doctor'
    check "$1: rules are checked, and doctor has nothing to say against" $? "$log"
}

# ---- packages --------------------------------------------------------------------------------

new_root deb
mkdir "$root/tmp/debs" && cp $debs "$root/tmp/debs/"
inside 'apt-get update -qq && apt-get install -y -qq --no-install-recommends /tmp/debs/*.deb'
check "packages: they install on a bare root, with what they depend on" $? "$log"
inside 'sxsprof --help && test -e /usr/share/man/man1/sxsprof.1.gz'
check "packages: the command runs, and its manual page is there" $? "$log"
inside 'runsxs fake:8.0 "!jit 3" "" && sxsprof run -o /tmp/fake --tool sample -- runsxs fake:8.0 "!jit 3" "" fake:9.0 "!jit 3" "" && sxsprof report /tmp/fake'
check "packages: the harness and its simulated runtimes are found" $? "$log"
try_rules packages
try_service packages
inside 'dpkg --purge sxsprof-tests libsxsil-dev sxsprof && ! command -v sxsprof && ! find /usr -name "*sxs*" | grep .'
check "packages: removed, they leave nothing" $? "$log"

# ---- tarball ---------------------------------------------------------------------------------

new_root tarball
mkdir -p "$root/opt" && cp -r "$top" "$root/opt/sxsprof"
for name in libdw libjansson libmicrohttpd libprotobuf-c libunwind libxml2; do
    ! find "$root/usr/lib" "$root/lib" -name "$name.so*" | grep -q . || skip_rest "tarball: the bare root has $name"
done
inside 'sxsprof --help && ldd /opt/sxsprof/bin/sxsprof && ! ldd /opt/sxsprof/bin/sxsprof | grep "not found"'
check "tarball: the command runs where none of its libraries is installed" $? "$log"
inside 'mkdir /tmp/none && { timeout -s INT 5 sxsprof serve /tmp/none >/tmp/served 2>&1; cat /tmp/served; grep http:// /tmp/served; }'
check "tarball: serve needs no library of the system" $? "$log"
try_rules tarball
try_service tarball
inside 'mv /opt/sxsprof "/srv/another place" && "/srv/another place/bin/sxsprof" check /tmp/rules.xml &&
    "/srv/another place/bin/sxsprof" runtimes'
check "tarball: moved, it works" $? "$log"
say "1..$n"
exit $failed
