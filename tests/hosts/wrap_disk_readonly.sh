# SPDX-License-Identifier: MIT
# wrap_disk_readonly.sh FOLDER COMMAND... - runs the command with its session on a read-only disk.
mkdir -p "$1/session"
# shellcheck disable=SC2016
exec unshare -m sh -c 'mount -t tmpfs -o size=64k,mode=700,ro tmpfs "$1/session" && shift && exec "$@"' sh "$@"
