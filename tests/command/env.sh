#!/bin/bash
# SPDX-License-Identifier: MIT
# env.sh - checks that sxsprof env prints the settings of "sxsprof run" for shells, systemd and docker.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
mkdir "$T/session" "$T/it's 100% \"odd\""
cp "$T"/bin/* "$T/it's 100% \"odd\"/"
options=(--tool sample:wall=99 --tool events --pick one:8 --unpicked cancel --signals off --only 'a:b*' --not 'a:c?')

# The variables that run sets, sorted by name.
ours() { grep -E '^(CORECLR_|SXSPROF_|LD_PRELOAD)' | sort; }
wanted() { "$SXS" run --quiet --append -o "$T/session" "$@" -- env | ours; }

wanted "${options[@]}" >"$T/want"
try "$SXS" env "${options[@]}" -o "$T/session"
is "exit status 0, no message" "0:" "$status:$err"
is "a shell that evaluates the lines has the variables that run sets" "$(cat "$T/want")" \
    "$(CORECLR_PROFILER_PATH_64=/x sh -c 'eval "$1" && env' sh "$out" | ours)"
try "$SXS" env --shell "${options[@]}" -o "$T/session"
is "--shell is the default" "$("$SXS" env "${options[@]}" -o "$T/session")" "$out"
try env LD_PRELOAD="$T/bin/libsxsprof.so" sh -c 'eval "$("$1" env)" && printenv LD_PRELOAD' sh "$SXS"
is "LD_PRELOAD keeps its earlier value after our library" "$T/bin/libsxsprof-preload.so:$T/bin/libsxsprof.so" "$out"
try "$SXS" env --no-preload
lacks "--no-preload: LD_PRELOAD is not set" "$out" LD_PRELOAD

# Values that shells and systemd treat specially.
odd="$T/it's 100% \"odd\""
try "$odd/sxsprof" env --no-preload
is "a path with quotes and blanks, for a shell" "$odd/libsxsprof.so" \
    "$(sh -c 'eval "$1" && printenv CORECLR_PROFILER_PATH' sh "$out")"

cat >"$T/units.py" <<'PY'
# Prints the environment of a drop-in, by the rules of systemd.exec(5): quotes and backslashes as in C, %% is %.
import re, sys
lines = sys.stdin.read().splitlines()
assert lines[0] == "[Service]", lines
for line in lines[1:]:
    key, value = line.split("=", 1)
    assert key in ("Environment", "UnsetEnvironment"), line
    if key == "Environment":
        inner = re.fullmatch(r'"((?:[^"\\]|\\.)*)"', value).group(1)
        inner = re.sub(r"\\(.)", r"\1", inner)
        assert not re.search(r"(?<!%)(%%)*%(?!%)", inner), inner
        print(inner.replace("%%", "%"))
    else:
        assert "CORECLR_PROFILER_PATH_64" in value.split()
PY
try "$SXS" env --systemd "${options[@]}" -o "$T/session"
is "--systemd sets the variables that run sets" "$(cat "$T/want")" "$(python3 "$T/units.py" <"$T/out" | ours)"
try "$odd/sxsprof" env --systemd --no-preload
has "a path with quotes and a percent sign, for systemd" "$(python3 "$T/units.py" <"$T/out")" \
    "CORECLR_PROFILER_PATH=$odd/libsxsprof.so"

cat >"$T/docker" <<'SH2'
#!/bin/sh
for word; do
    case $word in
    --env=*) printf '%s\n' "${word#--env=}" ;;
    --volume=*) printf 'volume %s\n' "${word#--volume=}" ;;
    *) printf 'word %s\n' "$word" ;;
    esac
done
SH2
chmod +x "$T/docker"
try "$SXS" env --docker "${options[@]}" -o "$T/session"
said=$(eval "$T/docker" run $out image)
is "--docker sets the variables that run sets" "$(cat "$T/want")" "$(ours <<<"$said" | grep -v '=$')"
has "the path variables of the image that have precedence are emptied" "$said" "CORECLR_PROFILER_PATH_64="
has "the libraries and the session folder are mounted" "$said" "volume $T/bin:$T/bin:ro" \
    "volume $T/session:$T/session"
try "$SXS" env --docker "${options[@]}" -o "$T/later"
has "--docker mounts the folder above a session folder that is missing" "$(eval "$T/docker" run $out image)" "volume $T:$T"
is "docker gets options only, and the image remains the first argument" "word run word image" "$(grep '^word' <<<"$said" | paste -sd' ')"

try "$SXS" env -o "$T/new" --tool sample
is "a missing folder: exit status 0, and its name is printed" "0:SXSPROF_OUT=$T/new" \
    "$status:$(grep -o 'SXSPROF_OUT=.*' "$T/out")"
has "a missing folder: the message says how to make it" "$err" "install -d -m 700 -o USER $T/new"
try "$SXS" env --tool sample
has "a tool without a folder: the message says that nothing is recorded" "$status:$err" "0:" "without -o DIR the program records nothing"
try sh -c "cd '$T' && '$SXS' env -o session"
has "a relative folder becomes absolute" "$out" "SXSPROF_OUT=$T/session"

try "$SXS" env --shell --docker
has "two output forms are refused" "$status:$err" "2:" "--shell and --docker exclude each other"
try "$SXS" env --tool sample:cpu=0
has "a wrong value of an option of run is refused" "$status:$err" "2:" "cpu=0: expected a rate from 1 to 10000 Hz"
try "$SXS" env -- true
has "a command is refused" "$status:$err" "2:" "'true': no command is expected"
finish
