# SPDX-License-Identifier: MIT
# wrap_locale.sh FOLDER COMMAND... - runs the command where the locale de_DE.UTF-8 can be found, which is made in
# FOLDER. The tools that make it run without what is preloaded.
mkdir "$1/locale" && env -u LD_PRELOAD -u CORECLR_ENABLE_PROFILING localedef -i de_DE -f UTF-8 "$1/locale/de_DE.UTF-8" >/dev/null 2>&1
export LOCPATH=$1/locale
shift
exec "$@"
