#!/bin/sh
# SPDX-License-Identifier: MIT
# files.sh - installs or removes the files that packaging/files.tsv lists.
# usage: BUILD=DIR VERSION=V packaging/files.sh install|uninstall ROOT LIB [PACKAGE...]
#   ROOT  the prefix, after DESTDIR
#   LIB   folder of libsxsil.a below ROOT: lib, or lib/x86_64-linux-gnu for Debian
#   PACKAGE...  default: all
# uninstall removes the folders that have this project's name whole, other folders never.
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build}" "${VERSION:=}"
die() { printf 'files.sh: %s\n' "$*" >&2; exit 1; }
[ $# -ge 3 ] || die "usage: files.sh install|uninstall ROOT LIB [PACKAGE...]"
action=$1 root=$2 lib=$3
shift 3
packages=" $* "

# The way from the folder of the pkg-config files up to the prefix.
up() { printf '%s/pkgconfig\n' "$lib" | sed 's,[^/][^/]*,..,g'; }

install_one() { # MODE TO FILE
    case $1 in
    pc) sed "s,@VERSION@,$VERSION,; s,@UP@,$(up),; s,@LIB@,$lib," "$3" >"$2/${3##*/}" && chmod 644 "$2/${3##*/}" ;;
    tree) own=${3%/*} && install -D -m 755 "$3" "$2/${own##*/}/${3##*/}" ;;
    *) install -m "$1" "$3" "$2/" ;;
    esac
}

install_row() { # MODE FOLDER FILES
    to=$root/$2
    if [ "$1" = link ]; then
        install -d "$to" && ln -sfn "${3#* }" "$to/${3%% *}"
        return
    fi
    for file in $3; do # patterns match here
        case $file in
        *\**) continue ;; # no such file
        esac
        [ -e "$file" ] || die "$file is missing; make all builds what is to be installed"
        install -d "$to" && install_one "$1" "$to" "$file" || return
    done
}

uninstall_row() { # MODE FOLDER FILES
    case $2 in
    *sxsprof*)
        own=$(printf '%s\n' "$2" | sed 's,\(sxsprof[^/]*\).*,\1,')
        rm -rf "${root:?}/$own"
        return
        ;;
    esac
    [ "$1" != link ] || { rm -f "$root/$2/${3%% *}"; return; }
    for file in $3; do
        rm -f "$root/$2/${file##*/}" || return
    done
}

sed '/^#/d' packaging/files.tsv | {
    tab=$(printf '\t')
    while IFS=$tab read -r package mode folder files; do
        case $packages in
        '  ' | *" $package "*) ;;
        *) continue ;;
        esac
        folder=$(printf '%s\n' "$folder" | sed "s,^LIB,$lib,")
        files=$(printf '%s\n' "$files" | sed "s,^O/,$BUILD/,; s, O/, $BUILD/,g")
        "${action}_row" "$mode" "$folder" "$files" || die "$action of $files failed"
    done
}
