#!/bin/bash
# SPDX-License-Identifier: MIT
# terminal_default.sh - checks that no verb writes a page or bytes to a terminal: the default is text, and a format that is
# for files is refused when standard output is a terminal.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
for kind in samples calls costs heap; do
    $CC -std=gnu11 -D_GNU_SOURCE -g -I. tests/profile/make_$kind.c -o "$T/make_$kind" || exit 1
done
"$T/make_samples" "$T/a" known 4242 && "$T/make_samples" "$T/b" known 4242 || exit 1
"$T/make_calls" "$T/calls" tree && "$T/make_calls" "$T/calls2" tree || exit 1
"$T/make_costs" "$T/costs" alnfw && "$T/make_costs" "$T/costs2" alnfw || exit 1
"$T/make_heap" "$T/heap" 1 known || exit 1

# on_terminal COMMAND...: runs the command with a terminal as its standard output; what it shows is in $out.
on_terminal() {
    out=$(python3 - "$@" 2>"$T/err" <<'P'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
shown = b""
while True:
    try:
        part = os.read(fd, 65536)
    except OSError:
        break
    if not part:
        break
    shown += part
status = os.waitpid(pid, 0)[1]
sys.stdout.write(shown.decode(errors="replace").replace("\r\n", "\n").replace("\0", "?"))
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 99)
P
    )
    status=$?
}

# --- the default is text
for verb in report "diff $T/a" "diff --data samples $T/a"; do
    # shellcheck disable=SC2086
    on_terminal "$SXS" $verb "$T/b"
    is "${verb%% *} to a terminal: status 0" 0 $status
    lacks "${verb%% *} to a terminal writes no page" "$out" "<html"
    has "${verb%% *} to a terminal writes text" "$out" "samples"
done
try "$SXS" diff "$T/a" "$T/b"
lacks "diff to a pipe writes no page" "$out" "<html"
has "diff names both sessions and says that nothing changed" "$out" "before  a: 1020 samples, 5.10 s" "now     b: 1020 samples, 5.10 s" \
    "not listed: "
try "$SXS" diff "$T/calls" "$T/calls2"
has "diff of calls is text" "$out" "before  calls: "
try "$SXS" diff --data alloc "$T/costs" "$T/costs2"
has "diff of costs is text, with bytes" "$out" "before  costs: 215.37 KiB" "not listed: "
try "$SXS" diff -o "$T/page.html" "$T/a" "$T/b"
has "diff -o FILE.html writes a page" "$(head -c 300 "$T/page.html")" "<html"
try "$SXS" diff -o "$T/page" "$T/a" "$T/b"
has "diff -o FILE writes text" "$(cat "$T/page")" "before  a"
try "$SXS" diff --format html -o "$T/page" "$T/a" "$T/b"
has "diff --format html -o FILE writes a page" "$(head -c 300 "$T/page")" "<html"

# --- what is for files is refused; the lists of formats are those of the help
formats() { # VERB: the formats in its help
    "$SXS" "$1" --help | tr '\n' ' ' | sed -n 's/.*--format=\([a-z|]*\).*/\1/p' | tr '|' '\n' | grep -vx 'text\|json\|collapsed'
}
for verb in report "diff $T/a" "heap" "fleet flame"; do
    for format in $(formats "${verb%% *}"); do
        # shellcheck disable=SC2086
        case $verb in
        heap) set -- heap --format "$format" "$T/heap" ;;
        fleet*) set -- fleet flame --server http://127.0.0.1:9 --format "$format" ;;
        *) set -- $verb --format "$format" "$T/b" ;;
        esac
        on_terminal "$SXS" "$@"
        is "${verb%% *} --format $format to a terminal is refused" 1 "$((status != 0))"
        has "${verb%% *} --format $format to a terminal: the message says what is expected" "$out" "terminal" "-o FILE"
        lacks "${verb%% *} --format $format to a terminal writes nothing" "$out" "<html"
    done
done
on_terminal "$SXS" fleet flame --server http://127.0.0.1:9
has "fleet flame, which has no text, expects a file" "$out" "expected -o FILE"
try "$SXS" report --format pprof "$T/b"
is "to a pipe, every format is written" 0 $status
finish
