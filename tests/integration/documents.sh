# SPDX-License-Identifier: MIT
# documents.sh - runs every command that README.md and docs/guide/*.md print in blocks marked "sh", as a
# first-time user would: page by page, in a new folder for each page, with the program app.dll in it.
# Each command must end with status 0, and each file that it names after -o must exist afterwards. A process
# "shop" runs meanwhile, which some of them record; 30 seconds of it are 2 seconds here.
. "$(dirname "$0")/lib.sh"
need_real 3
command -v dotnet >/dev/null || skip_all "the documents' commands" "there is no dotnet command"
command -v python3 >/dev/null || skip_all "the documents' commands" "there is no python3"

top=$PWD
build=$(realpath "$BUILD")
mkdir "$tmp/bin"
ln -s "$build/sxsprof" "$tmp/bin/sxsprof"
# A replacement for the browser, because `report --open` must not open a window here.
printf '#!/bin/sh\necho "$@" >>"%s/opened"\n' "$tmp" >"$tmp/bin/xdg-open"
chmod +x "$tmp/bin/xdg-open"

ln -s "$build/runsxs" "$tmp/bin/shop"
"$tmp/bin/shop" --timeout 900 10 shares "alpha=60 beta=40 seconds=800" >"$tmp/shop" 2>&1 &
shop=$!

# Prints the commands of a page's blocks, each followed by a zero byte. A command that contains << ends at
# the line that consists of the word after <<.
commands() { # PAGE
    python3 - "$1" <<'PY'
import re, sys
blocks = re.findall(r"^```sh\n(.*?)^```", open(sys.argv[1], encoding="utf-8").read(), re.M | re.S)
for block in blocks:
    lines = block.split("\n")
    while lines:
        command = lines.pop(0)
        here = re.search(r"<<\s*'?(\w+)'?", command)
        while here and lines:
            command += "\n" + lines.pop(0)
            if command.endswith("\n" + here[1]):
                break
        while command.endswith("\\") and lines:
            command = command[:-1] + lines.pop(0)
        if command.strip():
            sys.stdout.write(command + "\0")
PY
}

# doctor ends with status 1 when it finds a limit of this machine. Its output is complete nevertheless.
expected() { # COMMAND STATUS
    case $1 in
    "sxsprof doctor"*) [ "$2" -le 1 ] ;;
    *) [ "$2" -eq 0 ] ;;
    esac
}

total=0
for page in README.md docs/guide/*.md; do
    folder=$tmp/$(basename "$page" .md)
    mkdir "$folder" "$folder/build"
    cp "$build"/managed/app/app.dll "$build"/managed/app/app.pdb "$build"/managed/app/app.runtimeconfig.json "$folder/"
    for what in "$build"/*; do ln -s "$what" "$folder/build/"; done
    n=0 bad=0
    while IFS= read -r -d '' command; do
        n=$((n + 1))
        (cd "$folder" && PATH=$tmp/bin:$PATH timeout -k 5 120 bash -c "${command/-d 30s/-d 2s}") >"$tmp/log" 2>&1 </dev/null
        status=$?
        first=${command%%$'\n'*}
        expected "$command" $status || { not_ok "$page: $first (status $status)" "$tmp/log"; bad=1; continue; }
        for made in $(printf '%s\n' "$first" | grep -v '^sxsprof env ' | grep -o -e ' -o [^ ]*' | cut -c5-); do
            [ -e "$folder/$made" ] || { not_ok "$page: $first: there is no $made afterwards" "$tmp/log"; bad=1; }
        done
    done < <(commands "$top/$page")
    total=$((total + n))
    if grep -q '^```sh' "$top/$page" && [ $n -eq 0 ]; then not_ok "$page: no command was read"; bad=1; fi
    [ $n -eq 0 ] || [ $bad -ne 0 ] || ok "$page: all $n commands work as printed"
done
[ $total -ge 50 ]
check "$total commands were found in the documents" $?
grep -q 'html$' "$tmp/opened"
check "report --open hands the page to the browser" $? "$tmp/opened"
kill $shop
wait $shop 2>/dev/null
finish
