# SPDX-License-Identifier: MIT
# instrument_files.sh - runs a program while other programs change its rule files and a helper assembly.
# The rules are behind symbolic links, as in a ConfigMap that Kubernetes mounts. The assembly is written in
# place, as by a rebuild, while the library reads its metadata.
. "$(dirname "$0")/lib.sh"
need_real 1
tracer=$(realpath "$BUILD")/managed/tracer/tracer.dll
[ -e "$BUILD/managed/instrumented/instrumented.dll" ] && [ -e "$tracer" ] ||
    skip_all "$0" "the apps instrumented and tracer are not built"
version=$(echo "$versions" | tail -n 1)

answer() { # FILE [VALUE]: write rules by which Answer() returns VALUE; without VALUE, no rule
    {
        echo '<instrumentation xmlns="urn:sxsprof:instrumentation:1">'
        [ $# -gt 1 ] && echo "<rule><match assembly=\"instrumented\" type=\"Instrumented.Work\" method=\"Answer\"/>" \
            "<replace value=\"$2\"/></rule>"
        echo '</instrumentation>'
    } >"$1"
}
until_said() { # TEXT: wait until the log of the run has TEXT; a minute at most
    for i in $(seq 600); do
        grep -q -- "$1" "$tmp/log" && return
        sleep 0.1
    done
    return 1
}
# run RULES COMMAND: run the app, which prints the result of Answer() whenever the result changes, and COMMAND
# at the same time. The app ends after COMMAND has ended.
run() {
    rm -rf "$tmp/s" "$1.end" "$tmp/fine"
    : >"$tmp/log"
    (
        "$2" && : >"$tmp/fine"
        : >"$1.end"
    ) &
    beside=$!
    SXSPROF_INSTRUMENT= timeout -k 5 200 "$sxsprof" run --quiet --instrument "$1" -o "$tmp/s" -- \
        "$runsxs" --timeout 190 "$version" instrumented "rounds=1 watch=180000" >"$tmp/log" 2>&1
    status=$?
    wait "$beside"
    [ $status -eq 0 ] && [ -e "$tmp/fine" ]
}

# ---- a link to a file elsewhere -----------------------------------------------------------------
mkdir "$tmp/there" "$tmp/link"
answer "$tmp/there/rules.xml"
ln -s ../there/rules.xml "$tmp/link/rules.xml"
through_link() {
    until_said ': 42 original' || return
    answer "$tmp/there/rules.xml" 43 # write in place the file that the link points to
    until_said ': 43 original' || return
    answer "$tmp/there/new" 44
    mv "$tmp/there/new" "$tmp/there/rules.xml"
    until_said ': 44 original' || return
    answer "$tmp/there/other.xml" 45
    ln -s ../there/other.xml "$tmp/link/new"
    mv -T "$tmp/link/new" "$tmp/link/rules.xml"
    until_said ': 45 original'
}
run "$tmp/link/rules.xml" through_link
check "a rule file behind a link is read again when it is changed in place or replaced, or the link is changed" $? "$tmp/log"

# ---- a ConfigMap --------------------------------------------------------------------------------
generation() { # FOLDER NUMBER VALUE: install generation NUMBER, with VALUE for Answer(), as kubelet does
    mkdir "$1/..$2"
    answer "$1/..$2/rules.xml" "$3"
    ln -s "..$2" "$1/..data_tmp"
    mv -T "$1/..data_tmp" "$1/..data"
    [ -e "$1/rules.xml" ] || ln -s ..data/rules.xml "$1/rules.xml"
}
configmap() { # FOLDER: install two more generations; each must take effect
    until_said ': 51 original' || return
    generation "$1" 2 52
    rm -r "$1/..1"
    until_said ': 52 original' || return
    generation "$1" 3 53
    rm -r "$1/..2"
    until_said ': 53 original'
}
mkdir "$tmp/map" "$tmp/map2"
generation "$tmp/map" 1 51
generation "$tmp/map2" 1 51
one_file() { configmap "$tmp/map"; }
run "$tmp/map/rules.xml" one_file
check "a file of a ConfigMap: each new generation is read" $? "$tmp/log"
whole_folder() { configmap "$tmp/map2"; }
run "$tmp/map2" whole_folder
check "a ConfigMap as a folder of rules: each new generation is read" $? "$tmp/log"

# ---- a folder behind a link ---------------------------------------------------------------------
mkdir "$tmp/v1" "$tmp/v2"
answer "$tmp/v1/a.xml" 61
answer "$tmp/v2/a.xml" 62
ln -s v1 "$tmp/current"
other_folder() {
    until_said ': 61 original' || return
    ln -s v2 "$tmp/next"
    mv -T "$tmp/next" "$tmp/current"
    until_said ': 62 original' || return
    answer "$tmp/v2/a.xml" 63
    until_said ': 63 original'
}
run "$tmp/current" other_folder
check "a rule folder behind a link is read again when the link is changed or a file in the folder is" $? "$tmp/log"

# ---- an assembly that is written in place -------------------------------------------------------
# Each edit names a method that the helper does not have, so that the helper's file is read each time.
answer "$tmp/edited.xml"
cp "$tracer" "$tmp/helper.dll"
rebuilds() {
    until_said ': 42 original' || return
    python3 - "$tmp" "$tracer" <<'P'
import os, sys, threading, time
tmp, tracer = sys.argv[1:]
whole = open(tracer, "rb").read()
done = threading.Event()
def write():  # truncates the file and writes it again, as a compiler does
    fd = os.open(tmp + "/helper.dll", os.O_WRONLY)
    while not done.is_set():
        os.ftruncate(fd, 0)
        os.pwrite(fd, whole[:4096], 0)
        os.pwrite(fd, whole, 0)
    os.close(fd)
writer = threading.Thread(target=write)
writer.start()
for n in range(60):
    rules = "".join('<rule><match assembly="instrumented" type="Instrumented.Work" method="%s"/>'
                    '<call when="before" assembly="%s/helper.dll" type="Tracer.Calls" method="None%d"/></rule>'
                    % (m, tmp, n) for m in ("Answer", "Text"))
    with open(tmp + "/new", "w") as f:
        f.write('<instrumentation xmlns="urn:sxsprof:instrumentation:1">%s</instrumentation>' % rules)
    os.rename(tmp + "/new", tmp + "/edited.xml")
    time.sleep(0.12)
done.set()
writer.join()
P
    answer "$tmp/new" 71
    mv "$tmp/new" "$tmp/edited.xml"
    until_said ': 71 original'
}
run "$tmp/edited.xml" rebuilds
check "the program runs on while an assembly is read that is truncated and written again and again" $? "$tmp/log"
grep -q 'there is no method None[0-9]* in the helper' "$tmp/log" || grep -q 'helper.dll: ' "$tmp/log"
check "the assembly was read" $? "$tmp/log"
finish
