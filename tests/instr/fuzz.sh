# SPDX-License-Identifier: MIT
# fuzz.sh - checks whole and damaged method bodies, signatures, ilasm texts and assemblies: never a crash.
# Each input gives a message, or the same result after writing and reading it again. The corpora were found by
# libFuzzer: their files reach code that other files do not reach, or once caused a failure.
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build}"
status=0
for driver in il signature assemble metadata; do
    "$BUILD/tests/fuzz_$driver" -n "${N_FUZZ:-20000}" tests/fuzz/corpus_$driver/* || {
        echo "not ok - fuzz_$driver ended with status $?"
        status=1
    }
done
exit $status
