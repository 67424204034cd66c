#!/bin/bash
# SPDX-License-Identifier: MIT
# help.sh - checks the help and the version of sxsprof and of every verb.
# run: without sanitizers
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc

try "$SXS" --help
verbs=$(sed -n 's/^  \([a-z][a-z]*\)  *[a-z].*/\1/p' "$T/out")
is "--help names every verb" \
    "sample calls trace alloc native heap locks wait exceptions events gc instrument record stop status snapshot detach report diff top serve push fleet ps doctor env runtimes check il help" \
    "$(grep -v '^pack$' <<<"$verbs" | paste -sd' ')"
general=$out
for option in -h help '-?'; do
    try "$SXS" "$option"
    is "sxsprof $option prints the same as --help" "0:$general" "$status:$out"
done

try "$SXS" --version
version=$out
like='^sxsprof [0-9.]+ \(([0-9a-f]{7,40}(-dirty)?|unknown)\)$'
[[ $status:$version =~ ^0:${like#^} ]] && ok "--version: SXSPROF VERSION (COMMIT)" ||
    not_ok "--version: SXSPROF VERSION (COMMIT)" "$version"
commit=${version##*(}
commit=${commit%%[)-]*}
if [ -e .git ] && git rev-parse HEAD >/dev/null 2>&1; then
    is "the version names a commit of this repository" commit "$(git cat-file -t "$commit" 2>&1)"
else
    skip "the version names a commit of this repository" "no repository here"
fi
try "$SXS" -V
is "-V is --version" "0:$version" "$status:$out"

for verb in $verbs run attach start; do
    [ "$verb" = help ] && continue
    try "$SXS" "$verb" --help
    has "$verb --help" "$status:$out" "0:Usage: sxsprof $verb"
    help=$out
    try "$SXS" "$verb" -h
    is "$verb -h prints the same" "0:$help" "$status:$out"
    try "$SXS" help "$verb"
    is "help $verb prints the same" "0:$help" "$status:$out"
    try "$SXS" "$verb" --version
    is "$verb --version" "0:$version" "$status:$out"
    is "$verb --help: options begin in their column" "" "$(grep '^        *--' <<<"$help")"
done

try "$SXS" help walk
has "help of an unknown verb is refused" "$status:$err" "2:" "unknown verb 'walk'" "expected one of those that sxsprof --help lists"
try "$SXS" help run report
has "help of two verbs is refused" "$status:$err" "2:" "'report'" "expected one verb"
try "$SXS" run --quiet -- echo -h --version
is "-h and --version after the command belong to the command" "-h --version" "$out"

# The commit of a source tree without a repository comes from a file.
mkdir -p "$T/tree/cmd"
cp cmd/commit.sh "$T/tree/cmd/"
echo 0123abc >"$T/tree/cmd/commit.txt"
sh "$T/tree/cmd/commit.sh" "$T/tree/commit.h"
is "the commit of a tarball comes from its file" '#define SXS_COMMIT "0123abc"' "$(tail -n 1 "$T/tree/commit.h")"
echo '$Format:%h$' >"$T/tree/cmd/commit.txt"
sh "$T/tree/cmd/commit.sh" "$T/tree/commit.h"
is "without a repository and a file the commit is unknown" '#define SXS_COMMIT "unknown"' "$(tail -n 1 "$T/tree/commit.h")"
if command -v git >/dev/null; then
    (cd "$T/tree" && git init -q . && git add cmd && git -c user.name=a -c user.email=a@b commit -qm a) &&
        sh "$T/tree/cmd/commit.sh" "$T/tree/commit.h"
    is "the commit of a repository" "#define SXS_COMMIT \"$(git -C "$T/tree" rev-parse --short=10 HEAD)\"" \
        "$(tail -n 1 "$T/tree/commit.h")"
    before=$(stat -c %y "$T/tree/commit.h")
    sh "$T/tree/cmd/commit.sh" "$T/tree/commit.h"
    is "the same commit does not change the file" "$before" "$(stat -c %y "$T/tree/commit.h")"
    mkdir -p "$T/tree/inner/cmd" && cp cmd/commit.sh "$T/tree/inner/cmd/"
    sh "$T/tree/inner/cmd/commit.sh" "$T/tree/commit.h"
    is "the commit of a repository around the tree is not used" '#define SXS_COMMIT "unknown"' \
        "$(tail -n 1 "$T/tree/commit.h")"
else
    skip "the commit of a repository" "no git here"
fi

try "$SXS" help --help
has "help --help" "$status:$out" "0:Usage: sxsprof WHAT"
try "$SXS" help --version
has "help --version" "$status:$out" "0:sxsprof "
finish
