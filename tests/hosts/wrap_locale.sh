# SPDX-License-Identifier: MIT
# wrap_locale.sh FOLDER COMMAND... - makes the locale de_DE.UTF-8 in FOLDER and runs the command
# with it. The tools that make the locale run without the preloaded library.
mkdir "$1/locale" && env -u LD_PRELOAD -u CORECLR_ENABLE_PROFILING localedef -i de_DE -f UTF-8 "$1/locale/de_DE.UTF-8" >/dev/null 2>&1
export LOCPATH=$1/locale
shift
exec "$@"
