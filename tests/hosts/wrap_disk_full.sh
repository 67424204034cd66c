# SPDX-License-Identifier: MIT
# wrap_disk_full.sh FOLDER COMMAND... - runs the command with its session on a disk of 64 KiB, in a mount namespace
# of its own: enough for a census, for no other file.
mkdir -p "$1/session"
# shellcheck disable=SC2016
exec unshare -m sh -c 'mount -t tmpfs -o size=64k,mode=700 tmpfs "$1/session" && shift && exec "$@"' sh "$@"
