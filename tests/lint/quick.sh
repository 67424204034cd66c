#!/bin/sh
# SPDX-License-Identifier: MIT
# quick.sh - runs the checks of `make lint` that need no other tools and take a second. Prints TAP.
#
# Each check of the sources is also run on a copy with a mistake in it, to prove that it finds
# mistakes.
# run: without sanitizers
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build}"
export BUILD
copy=$(mktemp -d "${TMPDIR:-/tmp}/sxsprof-lint.XXXXXX") || exit 1
trap 'rm -rf "$copy"' EXIT
trap 'exit 130' INT TERM
n=0

tap() { # status claim output
    n=$((n + 1))
    case $1 in
    0) echo "ok $n - $2" ;;
    77) echo "ok $n - $2 # SKIP $3" ;;
    *) echo "not ok $n - $2"; printf '%s\n' "$3" | sed 's/^/# /' ;;
    esac
}

passes() { # claim script arguments...
    claim=$1
    shift
    out=$(sh "$@" 2>&1)
    tap $? "$claim" "$out"
}

finds() { # claim pattern command...
    claim=$1 pattern=$2
    shift 2
    out=$(cd "$copy" && sh "$@" 2>&1)
    if [ $? -eq 1 ] && printf '%s\n' "$out" | grep -q "$pattern"; then tap 0 "$claim" ""; else tap 1 "$claim" "$out"; fi
}

echo 1..44
passes "no folder includes what lies above it" tests/lint/layering.sh
passes "no sources include each other in a circle" tests/lint/circles.sh
passes "no structure has the name of another" tests/lint/tags.sh
passes "the tests that docs/internals/clrie.md names exist, and the files and names in CONTRIBUTING.md" tests/lint/named-tests.sh
passes "names, messages and documents use the terms of the field" tests/lint/words.sh
passes "what may run in a signal handler calls only what may be called there" \
    tests/lint/signal-safety.sh --source
passes "no test takes the status of another command for its own" tests/lint/status.sh
passes "every lock of the library is initialized again in a forked child" tests/lint/fork.sh
passes "what becomes of each variable of a tool is said" tests/lint/session.sh
passes "base/env.c alone reads the environment" tests/lint/environment.sh
passes "the command prints by cmd/output/print.h alone" tests/lint/prints.sh
passes "what the files of a session count as lost is in the table from which reports say what is missing" tests/lint/missing.sh
passes "what depends on a runtime's version is in the table of runtime facts" tests/lint/runtime-facts.sh
passes "what calls itself is listed with the bound of its depth" tests/lint/recursion.sh
passes "the libraries export what they promise and nothing else" tests/lint/symbols.sh
passes "versions of what is fetched are in one file" tests/lint/versions.sh

# shellcheck disable=SC2046
cp -r $(sh tests/lint/folders.sh | sed "s,/.*,," | sort -u) folders.tsv harness include setup tests docs packaging .ci Makefile README.md CONTRIBUTING.md CHANGELOG.md "$copy/" || exit 1
echo '#include "callback/guid.h"' >>"$copy/stackwalk/walk.c"
finds "an include that points up is named" 'stackwalk/walk.c:.*callback/guid.h' tests/lint/layering.sh
echo '#include "cmd/report/own.h"' >>"$copy/cmd/report/model.h"
finds "a circle is named" 'circle: .*cmd/report/model, cmd/report/own' tests/lint/circles.sh
cat >>"$copy/cmd/stop.c" <<'C'
struct sxs_tool {
    int fault_put_in;
};
C
finds "a structure with the name of another is named" 'manager/tool.h:[0-9]*: sxs_tool is defined 2 times: also in cmd/stop.c' \
    tests/lint/tags.sh
echo '| A fact | a_test_that_nobody_wrote |' >>"$copy/docs/internals/clrie.md"
finds "a test that does not exist is named" 'clrie.md:.*a_test_that_nobody_wrote' tests/lint/named-tests.sh
echo '#include "signals/router.h"' >>"$copy/manager/manager.c"
finds "so is one of another folder's private header" 'manager/manager.c:.*router.h' tests/lint/layering.sh
cat >>"$copy/signals/owners.c" <<'C'
SXS_SIGSAFE static void *fault_put_in(void)
{
    return malloc(1);
}
C
finds "a malloc() in a marked function is named" 'owners.c:.*fault_put_in() .*malloc()' \
    tests/lint/signal-safety.sh --source
cat >>"$copy/sampling/handler.c" <<'C'
SXS_SIGSAFE static void fault_put_in(void)
{
    sxs_handler_refresh_stacks();
}
C
finds "so is a look at /proc from the sample signal's handler" 'handler.c:.*fault_put_in() .*refresh_stacks()' \
    tests/lint/signal-safety.sh --source
echo 'static pthread_mutex_t forgotten = PTHREAD_MUTEX_INITIALIZER;' >>"$copy/tools/events/spans.c"
finds "a lock that a forked child may find held for ever is named" 'tools/events/spans.c: 2 static locks' tests/lint/fork.sh
echo 'static int fault_put_in(sem_t *s, const struct timespec *t) { return sem_timedwait(s, t); }' >>"$copy/tools/events/spans.c"
finds "a wait that a step of the clock ends is named" 'tools/events/spans.c:.*sem_timedwait' tests/lint/fork.sh
case $BUILD in /*) ;; *) mkdir -p "$copy/$(dirname "$BUILD")"; ln -s "$PWD/$BUILD" "$copy/$BUILD" ;; esac
sed -i '/SXS_SESSION_RESETS(recorder)/d' "$copy/sampling/recorder.c"
finds "a variable that a session leaves behind is named" 'recorder.c: recorder: add' tests/lint/session.sh
echo 'static const char *fault_put_in(void) { return getenv("HOME"); }' >>"$copy/cmd/main.c"
sed -i 's/_Atomic uint64_t lost; .*/&\n    _Atomic uint64_t fault_dropped;/' "$copy/session/format/traced.h"
finds "a counter of losses that no report names is found" 'traced.h: fault_dropped is not in the table' tests/lint/missing.sh
cat >>"$copy/cmd/stop.c" <<'C'
static void fault_put_in(const char *name)
{
    fputs(name, stdout);
}
C
finds "a text that is printed raw is named" 'cmd/stop.c:[0-9]*: fputs() does not clean' tests/lint/prints.sh
echo 'static void fault_put_in(const char *s) { fprintf(stderr, "%s", s); }' >>"$copy/cmd/heap/json.c"
finds "so is a message of a file that writes JSON" 'cmd/heap/json.c:[0-9]*: fprintf() does not clean' tests/lint/prints.sh
cat >>"$copy/cmd/heap/tree.c" <<'C'
static unsigned fault_put_in(const struct sxs_heap_node *n)
{
    return n ? 1 + fault_put_in(n->parent) : 0;
}
C
finds "a function that calls itself is named" 'cmd/heap/tree.c: fault_put_in() calls itself' tests/lint/recursion.sh
cat >>"$copy/tools/gc/gc.c" <<'C'
static int fault_put_in(const struct sxs_runtime *rt)
{
    const char *text = sxs_runtime_version(rt);
    return atoi(text);
}
C
finds "a version that is parsed elsewhere is named" 'tools/gc/gc.c:[0-9]*: a version is parsed' tests/lint/runtime-facts.sh
echo 'static int fault_put_in(const struct sxs_release *r) { return r->major >= 9; }' >>"$copy/cmd/ps.c"
finds "so is a comparison with a major number" 'cmd/ps.c:[0-9]*: a version is compared' tests/lint/runtime-facts.sh
echo 'static int fault_put_in(const struct sxs_runtime *rt) { return NEWEST <= rt->info_version; }' >>"$copy/manager/detach.c"
finds "and one with a version of ICorProfilerInfo" 'manager/detach.c:[0-9]*: a version is compared' tests/lint/runtime-facts.sh
echo 'static int fault_put_in(const struct sxs_runtime *rt) { return !strncmp(rt->version, "8.", 2); }' >>"$copy/manager/watch.c"
finds "and one of its text" 'manager/watch.c:[0-9]*: the text of a version' tests/lint/runtime-facts.sh
finds "a getenv() elsewhere is named" 'cmd/main.c:.*getenv' tests/lint/environment.sh
echo 'check "it says $(cat file)" $?' >>"$copy/tests/integration/hops.sh"
finds "a status that is that of another command is named" 'hops.sh:' tests/lint/status.sh
echo 'version=1.2.3' >>"$copy/setup/cecil.sh"
finds "a version elsewhere is named" 'setup/cecil.sh:.*1.2.3' tests/lint/versions.sh
echo "run $(awk -F'\t' '$1 == "runtime" { print $2; exit }' setup/versions.tsv) stress" >>"$copy/tests/integration/stress.sh"
finds "so is the version of a runtime that is fetched, in a test" 'stress.sh:.*run [0-9.]* stress' tests/lint/versions.sh
printf '%s\n' 'See `cmd/nothing.c`.' 'Call `sxs_no_such_thing()`.' 'Edit `cmd/verbs.c` (`no_rows`).' >>"$copy/CONTRIBUTING.md"
finds "a file that CONTRIBUTING.md names and does not exist is named" 'CONTRIBUTING.md:[0-9]*: there is no cmd/nothing.c$' tests/lint/named-tests.sh
finds "so is a name of the code" 'CONTRIBUTING.md:[0-9]*: there is no sxs_no_such_thing$' tests/lint/named-tests.sh
finds "and one that is not in the file that it is said to be in" 'there is no no_rows in cmd/verbs.c$' tests/lint/named-tests.sh
echo 'static int n_flights;' >>"$copy/tools/exceptions/exceptions.c"
finds "a word that the field does not use is named in an identifier" \
    'exceptions.c:[0-9]*: flights: in-flight exception' tests/lint/words.sh
echo 'static const char fault_put_in[] = "the tally of a rule";' >>"$copy/rejit/methods/match.c"
finds "so is one in a text of the product" 'match.c:[0-9]*: tally: rule statistics' tests/lint/words.sh
echo '/* The shape of a tally. */' >>"$copy/cmd/ps.c"
case $(cd "$copy" && sh tests/lint/words.sh 2>&1) in *cmd/ps.c*) false ;; *) true ;; esac
tap $? "but not one in a comment" ""
