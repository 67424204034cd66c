# SPDX-License-Identifier: MIT
# fuzz.sh - plays everybody whose bytes the command reads: processes with their files in /proc, their answers over
# sockets and their programs, strangers with packed sessions and names, and workers that a file has taken over. 100,000
# inputs of each kind are made; each must be refused or read within its bounds.
#
# N_FUZZ: another number of inputs. ONLY_FUZZ: names of drivers, instead of all of them.
# With sanitizers, which take ten times as long, 20,000 are made.
[ -z "${SAN:-}" ] || : "${N_FUZZ:=20000}"
cd "$(dirname "$0")/../.." || exit 1
for driver in ${ONLY_FUZZ:-answer diagnostics proc names elf worker}; do
    set --
    [ -d "tests/fuzz/corpus_$driver" ] && set -- "tests/fuzz/corpus_$driver"/*
    "${BUILD:-build}/tests/fuzz_$driver" -n "${N_FUZZ:-100000}" "$@" || echo "not ok - fuzz_$driver ended with status $?"
done
