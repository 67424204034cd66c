#!/bin/bash
# SPDX-License-Identifier: MIT
# symbols.sh - checks where sxsprof report and diff find names: debug files by build-id, Portable PDBs by
# their ID, debuginfod servers. Paths in the sessions name no existing file unless the test says so.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
export HOME=$T DEBUGINFOD_CACHE_PATH=$T/cache
unset DEBUGINFOD_URLS DEBUGINFOD_TIMEOUT DEBUGINFOD_PROGRESS DEBUGINFOD_VERBOSE
$CC -std=gnu11 -D_GNU_SOURCE -g -I. tests/profile/make_symbols.c -o "$T/make" -lz || exit 1

# A stripped library, its debug file, and a library and debug file of another build.
mkdir "$T/lib" "$T/debug" "$T/other" "$T/empty" "$T/app"
cat >"$T/lib.c" <<'C'
static __attribute__((noinline)) int deep_secret(int n) { return n * VARIANT; }
int entry(int n);
int entry(int n) { return deep_secret(n) + 1; }
C
build() { $CC -O1 -g -fPIC -shared -DVARIANT="$1" -Wl,--build-id=sha1 -o "$2" "$T/lib.c" || exit 1; }
build 3 "$T/whole.so"
build 5 "$T/other/libwork.so"
address=$(nm "$T/whole.so" | awk '$3 == "deep_secret" { print $1 }')
id=$(readelf -n "$T/whole.so" | sed -n 's/.*Build ID: //p')
objcopy --only-keep-debug "$T/whole.so" "$T/debug.file"
objcopy --strip-all "$T/whole.so" "$T/lib/libwork.so"
[ -n "$address" ] && [ ${#id} = 40 ] || exit 1

session() { # session NAME LIBRARY ASSEMBLY
    "$T/make" "$T/$1" "$2" "$id" "$address" "$3" || exit 1
}
session gone /gone/libwork.so "$T/app/App.dll"
session here "$T/lib/libwork.so" "$T/app/App.dll"

# --- native names
try "$SXS" report "$T/gone"
lacks "a missing library: no name" "$out" deep_secret
has "a missing library: one line says that its functions have no names" "$err" "/gone/libwork.so: cannot be opened any more: its functions have no names"
try "$SXS" report "$T/here"
lacks "a stripped library: no name" "$out" deep_secret
mkdir -p "$T/debug/deep/er"
cp "$T/debug.file" "$T/debug/deep/er/some-name"
for s in gone here; do
    try "$SXS" report --symbols "$T/empty" --symbols "$T/debug" "$T/$s"
    has "--symbols: the debug file is found by build-id ($s)" "$out" deep_secret lib.c:1
    is "--symbols: no message ($s)" "0:" "$status:$err"
done
try "$SXS" report --symbols "$T/other" "$T/gone"
lacks "the debug file of another build gives no names" "$out" deep_secret
has "the debug file of another build: one line says that the functions have no names" "$err" "its functions have no names"
cp "$T/lib/libwork.so" "$T/debug/a-stripped"
cp "$T/lib/libwork.so" "$T/debug/z-stripped"
try "$SXS" report --symbols "$T/debug" "$T/gone"
has "a stripped file of the same build does not hide the debug file" "$out" deep_secret

# Without a build-id, a debug file is found by its name, and accepted if its checksum is right.
$CC -O1 -g -fPIC -shared -DVARIANT=3 -Wl,--build-id=none -o "$T/plain.so" "$T/lib.c" || exit 1
mkdir "$T/named" "$T/other-named"
objcopy --only-keep-debug "$T/plain.so" "$T/named/libplain.debug"
objcopy --strip-all --add-gnu-debuglink="$T/named/libplain.debug" "$T/plain.so" "$T/lib/libplain.so"
objcopy --only-keep-debug "$T/other/libwork.so" "$T/other-named/libplain.debug"
plain=$(nm "$T/plain.so" | awk '$3 == "deep_secret" { print $1 }')
"$T/make" "$T/plain" "$T/lib/libplain.so" "" "$plain" "$T/app/App.dll" || exit 1
try "$SXS" report "$T/plain"
lacks "no build-id and no --symbols: no name" "$out" deep_secret
try "$SXS" report --symbols "$T/named" "$T/plain"
has "--symbols: NAME.debug is found for a library without a build-id" "$out" deep_secret lib.c:1
try "$SXS" report --symbols "$T/other-named" "$T/plain"
lacks "NAME.debug of another library is refused" "$out" deep_secret

mkfifo "$T/debug/pipe"
ln -s "$T/debug" "$T/debug/circle"
ln -s loop "$T/debug/loop"
: >"$T/debug/nothing"
printf '\177ELF' >"$T/debug/cut"
printf 'BSJB' >"$T/debug/cut.pdb"
try timeout 60 "$SXS" report --symbols "$T/debug" "$T/gone"
has "pipes, circular links and damaged files among the debug files are skipped" "$out" deep_secret
try "$SXS" diff -o "$T/diff.html" --symbols "$T/debug" "$T/gone" "$T/gone"
has "diff has the option --symbols" "$status:$(cat "$T/diff.html")" 0: deep_secret
try "$SXS" report --symbols "$T/missing" "$T/gone"
is "a missing folder: status 2" 2 "$status"
has "a missing folder: the message is one line" "$err" "--symbols: '$T/missing': No such file or directory" "expected a folder"
try "$SXS" report --symbols "$T/debug.file" "$T/gone"
is "a file instead of a folder: status 2" "2:" "$status:$out"
if [ -w /usr/lib/debug ] || [ -w /usr/lib ]; then
    at=/usr/lib/debug/.build-id/${id:0:2}
    mkdir -p "$at" && cp "$T/debug.file" "$at/${id:2}.debug"
    for s in gone here; do
        try "$SXS" report "$T/$s"
        has "a debug file below /usr/lib/debug/.build-id is found without an option ($s)" "$out" deep_secret lib.c:1
    done
    rm -f "$at/${id:2}.debug"
    rmdir --ignore-fail-on-non-empty -p "$at" 2>/dev/null
else
    skip "a debug file below /usr/lib/debug/.build-id is found without an option" "it cannot be written to"
fi

# --- managed lines
lines() { try "$SXS" report "$@" "$T/gone"; }
"$T/make" -e "$T/app/App.dll"
lines
has "a PDB embedded in the assembly" "$out" a.cs:300
"$T/make" -a "$T/app/App.dll" "$T/app/App.pdb"
lines
has "a PDB beside the assembly" "$out" a.cs:300
mkdir -p "$T/obj" "$T/pdbs/below"
rm "$T/app/App.pdb"
lines
lacks "no PDB: no lines" "$out" a.cs:300
lacks "no PDB: no message" "$err" App
"$T/make" -a "$T/app/App.dll" "$T/obj/Work.pdb" "$T/obj/Work.pdb"
lines
has "a PDB at the path that the assembly names" "$out" a.cs:300
mv "$T/obj/Work.pdb" "$T/pdbs/below/renamed"
lines --symbols "$T/pdbs"
has "--symbols: a PDB is found by its ID" "$out" a.cs:300
rm "$T/pdbs/below/renamed"
for wrong in "$T/app/App.pdb" "$T/obj/Work.pdb" "$T/pdbs/below/App.pdb" "$T/pdbs/Work.pdb"; do
    "$T/make" -w "$wrong"
    lines --symbols "$T/pdbs"
    lacks "another assembly's PDB gives no lines (${wrong#"$T/"})" "$out" a.cs
    has "one line says that the PDB is refused (${wrong#"$T/"})" "$err" "sxsprof: $wrong: not the PDB of $T/app/App.dll: its methods have no lines"
    is "the report is complete (${wrong#"$T/"})" "0:1" "$status:$(grep -c 'not the PDB' "$T/err")"
    rm "$wrong"
done
printf 'Microsoft C/C++ MSF 7.00\r\n' >"$T/app/App.pdb"
lines
has "a PDB of the old Windows format: one line says that it is refused" "$err" "$T/app/App.pdb: not the PDB of $T/app/App.dll"
"$T/make" -w "$T/app/App.pdb"
"$T/make" -a "$T/x.dll" "$T/pdbs/App.pdb"
lines --symbols "$T/pdbs"
has "the right PDB is found although a wrong one is tried first" "$out" a.cs:300
lacks "the right PDB is found: no message about the wrong one" "$err" "not the PDB"
"$T/make" -e "$T/app/App.dll"
lines
has "an embedded PDB is found although a wrong PDB is tried first" "$out" a.cs:300
rm "$T/app/App.pdb"

# --- debuginfod
cat >"$T/server.py" <<'PY'
# A debuginfod server on a free port: server.py PORT-FILE MODE FILE LOG. MODE: serve, hang or none.
import http.server, sys, time
port_file, mode, path, log = sys.argv[1:]
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(log, "a") as to:
            to.write(self.path + "\n")
        if mode == "hang":
            time.sleep(60)
        if mode != "serve" or not self.path.endswith("/debuginfo"):
            self.send_error(404)
            return
        body = open(path, "rb").read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
with open(port_file + ".new", "w") as to:
    to.write(str(server.server_port))
import os
os.rename(port_file + ".new", port_file)
server.serve_forever()
PY
serve() { # serve MODE: sets $server and DEBUGINFOD_URLS
    rm -rf "$T/port" "$T/log" "$T/cache"
    python3 "$T/server.py" "$T/port" "$1" "$T/debug.file" "$T/log" &
    server=$!
    until [ -s "$T/port" ]; do sleep 0.1; done
    export DEBUGINFOD_URLS="http://127.0.0.1:$(cat "$T/port")"
}
unserve() {
    kill "$server"
    wait "$server" 2>/dev/null
    unset DEBUGINFOD_URLS
}
if ldconfig -p | grep -q libdebuginfod.so.1; then
    serve serve
    kept=$DEBUGINFOD_URLS
    unset DEBUGINFOD_URLS
    try env LD_DEBUG=files "$SXS" report "$T/gone"
    lacks "DEBUGINFOD_URLS is not set: libdebuginfod is not loaded" "$err" libdebuginfod
    is "DEBUGINFOD_URLS is not set: no server is asked" "" "$(cat "$T/log" 2>/dev/null)"
    export DEBUGINFOD_URLS=$kept
    for s in gone here; do
        rm -rf "$T/cache"
        try "$SXS" report "$T/$s"
        has "DEBUGINFOD_URLS: the debug file is downloaded ($s)" "$out" deep_secret lib.c:1
        is "no message, because standard error is not a terminal ($s)" "0:" "$status:$err"
    done
    has "the debug file is requested by build-id" "$(cat "$T/log")" "/buildid/$id/debuginfo"
    rm -rf "$T/cache"
    got=$(TERM=xterm python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' \
        "$SXS" report -f collapsed -o "$T/collapsed" "$T/gone" </dev/null)
    has "on a terminal: a line of progress, erased at the end" "$got" "debuginfod: libwork.so" $'\r\033[K'
    cat >"$T/work" <<'SH'
#!/bin/sh
exec "$1/make" "$SXSPROF_OUT" /gone/libwork.so "$2" "$3" ""
SH
    chmod +x "$T/work"
    rm -rf "$T/log" "$T/cache"
    try sh -c 'cd "$1" && shift && exec "$@"' sh "$T/empty" "$SXS" run --tool sample -- "$T/work" "$T" "$id" "$address"
    has "the summary after a run is written" "$err" App.Work.Run
    is "the summary after a run asks no server" "" "$(cat "$T/log" 2>/dev/null)"
    unserve
    serve none
    try "$SXS" report "$T/gone"
    has "a server without the file: no names" "$err" "/gone/libwork.so: cannot be opened any more"
    unserve
    serve hang
    export DEBUGINFOD_TIMEOUT=1
    try timeout 50 "$SXS" report "$T/gone"
    unset DEBUGINFOD_TIMEOUT
    is "a server that does not answer: the report is written" 0 "$status"
    has "one line says that the server did not answer in time" "$err" "debuginfod: no answer within 1 s"
    unserve
else
    skip "debuginfod" "libdebuginfod.so.1 is not installed"
fi
finish
