# SPDX-License-Identifier: MIT
# wrap_disk_full.sh FOLDER COMMAND... - runs the command in a new mount namespace, with its session
# on a disk of 64 KiB. The disk has room for a census, and for no other file.
mkdir -p "$1/session"
# shellcheck disable=SC2016
exec unshare -m sh -c 'mount -t tmpfs -o size=64k,mode=700 tmpfs "$1/session" && shift && exec "$@"' sh "$@"
