# SPDX-License-Identifier: MIT
# Method bodies, signatures, ilasm's text and assemblies' files, whole and damaged: a message or the same again,
# never a crash. What libFuzzer found reaches code the others do not, or once broke something.
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
