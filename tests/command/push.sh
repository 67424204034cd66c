#!/bin/bash
# SPDX-License-Identifier: MIT
# push.sh - checks sxsprof push with a small server: what arrives is what a report of the session says, decoded
# with the schemas of pprof and OTLP; refusals, repetitions, TLS; the queue: its limit, kill -9, and going on.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
unset DEBUGINFOD_URLS http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY no_proxy NO_PROXY
$CC -std=gnu11 -D_GNU_SOURCE -g -I. tests/profile/make_samples.c -o "$T/make_samples" || exit 1
"$T/make_samples" "$T/s" known && "$T/make_samples" "$T/costs" costs || exit 1
pids=
trap '[ -z "$pids" ] || kill $pids 2>/dev/null; rm -rf "$T"' EXIT
python=$(for p in /usr/bin/python3 python3; do "$p" -c 'import google.protobuf' 2>/dev/null && echo $p && break; done)

# serve NAME [CERTIFICATE KEY [CA]]: starts a server, which keeps requests in $T/NAME; sets $port.
serve() {
    local name=$1 n
    shift
    mkdir "$T/$name"
    python3 tests/command/push_receiver.py "$T/$name" "$@" >"$T/$name/port" 2>"$T/$name/errors" &
    pids="$pids $!"
    for n in $(seq 300); do
        [ -s "$T/$name/port" ] && break
        sleep 0.1
    done
    port=$(cat "$T/$name/port")
}
plan() { printf '%s\n' "$@" >"$T/one/plan"; }
fresh() { rm -rf "$T"/one/[0-9]* "$T/one/log" "$T/one/plan" "$T/q"; }
kept() { ls "$T/${1:-one}" | grep -c '[0-9]\.\(pprof\|otlp\)$'; }
batches() { find "${1:-$T/q}" -name '*.batch' | wc -l; }
requests() { [ ! -e "$T/one/log" ] || awk '{ print $2 }' "$T/one/log" | paste -sd' '; }
ids() { python3 -c 'import glob, json, sys
print(len({json.load(open(f))["headers"]["Sxsprof-Batch"] for f in glob.glob(sys.argv[1] + "/*.json")}))' "$T/one"; }
serve one
to=http://127.0.0.1:$port
push() { # notes on the files of the sessions, which are not there, are left out of $err
    try timeout -k 5 60 "$SXS" push "$@"
    err=$(grep -v 'its functions have no names$' <<<"$err")
}

# ---- wrong input: status 2, and no request
refused() { # CLAIM "PART|PART" ARGUMENT...
    local claim=$1 parts
    IFS='|' read -ra parts <<<"$2"
    shift 2
    push "$@"
    is "$claim: status 2" 2 "$status"
    has "$claim: the message says what was expected" "$err" "${parts[@]}"
    is "$claim: nothing was sent or left behind" "" "$(requests)$(ls -A "$TMPDIR")"
}
refused "no address" "--server is missing|http://127.0.0.1:4040" "$T/s"
refused "no folder" "DIR is missing" --server "$to"
refused "a folder that is not there" "No such file|expected" --server "$to" "$T/none"
mkdir "$T/empty"
refused "a folder without a session" "no session" --server "$to" "$T/empty"
refused "an address of another kind" "http,https" --server ftp://127.0.0.1 "$T/s"
refused "an address without a host" "SCHEME://HOST:PORT" --server http:///x "$T/s"
refused "an address with a query" "without '?'" --server "$to/?x=1" "$T/s"
refused "an address with a wrong port" "1 to 65535" --server http://127.0.0.1:70000 "$T/s"
refused "a password in the address" "in a file" --server http://me:secret@127.0.0.1:1 "$T/s"
lacks "a password in the address is not repeated" "$err" secret
refused "an unknown format" "'xml'|pyroscope, ingest, otlp" --server "$to" --format xml "$T/s"
refused "a label without a value" "KEY=VALUE" --server "$to" --label a "$T/s"
refused "a label with a wrong key" "letters, digits" --server "$to" --label 'a{b=c' "$T/s"
refused "a label twice" "was given before" --server "$to" --label a=1 --label a=2 "$T/s"
refused "the name of the service as a label" "--service" --server "$to" --label service.name=x "$T/s"
refused "a wrong size" "256M" --server "$to" --queue-size 5X "$T/s"
refused "a wrong time" "30s or 5m" --server "$to" --timeout 0 "$T/s"
refused "data that cannot be pushed" "samples, alloc, native or locks" --server "$to" --data calls "$T/s"
refused "gathering without --follow" "--gather: --follow is missing" --server "$to" --gather 5m "$T/s"
refused "gathering for a server that takes one batch at a time" "--gather|expected clickhouse" --server "$to" --gather 5m --queue "$T/q0" --follow "$T/s"
refused "a wrong time to gather" "--gather: '0'|expected a time" --server "$to" --gather 0 --follow "$T/s"
refused "data that only ClickHouse takes" "--data|takes samples, alloc, native and locks only" --server "$to" --data live "$T/s"
refused "--follow without a queue" "--queue DIR is missing" --server "$to" --follow "$T/s"
refused "--follow and a folder" "expected one of them" --server "$to" --follow "$T/s" --queue "$T/q" "$T/s"
refused "a missing file of certificates" "--ca $T/none|cannot be read" --server "$to" --ca "$T/none" "$T/s"
refused "a token on the command line" "--token-file" --server "$to" --header 'Authorization: Bearer x' "$T/s"
refused "a header that is none" "'Name: value'" --server "$to" --header $'a\nb: c' "$T/s"
mkdir -m 777 "$T/open" && chmod 777 "$T/open"
refused "a queue that others may write to" "others may write" --server "$to" --queue "$T/open" "$T/s"

# ---- what arrives
for format in pyroscope ingest otlp; do
    push --server "$to" --format $format --period 1s --service shop --label service.version=1.2 --label team=a "$T/costs"
    is "$format: a session is sent" "0:" "$status:$err"
    mv "$T/one" "$T/$format" && mkdir "$T/one"
done
fact() { python3 -c "import glob, json, sys
facts = [json.load(open(f)) for f in sorted(glob.glob(sys.argv[1] + '/*.json'))]
print($2)" "$T/$1"; }
is "pyroscope: names of profiles" "memory mutex native_memory process_cpu" \
    "$(fact pyroscope '" ".join(sorted({f["labels"]["__name__"] for f in facts}))')"
is "pyroscope: labels" "shop 1.2 a false 1" "$(fact pyroscope 'facts[0]["labels"]["service_name"], facts[0]["labels"]["service_version"],
facts[0]["labels"]["team"], facts[0]["labels"]["__delta__"], len(set(f["labels"]["process_pid"] for f in facts))' | tr -d "(',)")"
is "pyroscope: no id occurs twice" True "$(fact pyroscope 'len({f["id"] for f in facts}) == len(facts)')"
has "ingest: the name of the application has the labels" "$(fact ingest 'facts[0]["query"]["name"]')" "shop{" "service_version=1.2" "team=a"
is "ingest: the period has whole seconds" "1700000001 1700000002" "$(fact ingest 'facts[0]["query"]["from"], facts[0]["query"]["until"]' | tr -d "(',)")"
is "another push of the same session has the same ids" True "$(
    push --server "$to" --period 1s --service shop --label service.version=1.2 --label team=a "$T/costs"
    python3 - "$T/one" "$T/pyroscope" <<'P'
import glob, json, sys
a, b = ({json.load(open(f))["id"] for f in glob.glob(d + "/*.json")} for d in sys.argv[1:])
print(a == b and len(a) > 6)
P
)"
official=/usr/share/gocode/src/github.com/google/pprof/proto
if [ -z "$python" ] || ! command -v protoc >/dev/null; then
    skip "decoding with the schemas" "no protoc or Python library protobuf here (Debian: protobuf-compiler, python3-protobuf)"
elif [ ! -f $official/profile.proto ]; then
    skip "decoding with the schemas" "no schema of pprof here (Debian: golang-github-google-pprof-dev)"
else
    protoc -I $official --descriptor_set_out="$T/pprof.set" profile.proto &&
        protoc -I cmd/push --descriptor_set_out="$T/own.set" otlp.proto || exit 1
    try "$python" tests/command/push_decode.py check "$T/own.set" tests/command/otlp_fields.tsv
    is "the fields of OTLP that are written are those of the official schema" "51" "$out"
    cp "$T/own.set" "$T/otlp.set"
    if [ -n "${OTLP_PROTO:-}" ]; then # a folder with the official schemas
        protoc --include_imports -I "$OTLP_PROTO" --descriptor_set_out="$T/otlp.set" \
            opentelemetry/proto/collector/profiles/v1development/profiles_service.proto || exit 1
        "$python" tests/command/push_decode.py fields "$T/otlp.set" >"$T/fields"
        grep -v '^#' tests/command/otlp_fields.tsv | cmp -s - "$T/fields"
        is "the list of official fields is that of OTLP_PROTO" 0 $?
    fi
    for format in pyroscope ingest otlp; do
        # sums of costs are rounded in each batch
        try "$python" tests/command/push_decode.py compare "$T/pprof.set" "$T/otlp.set" "$SXS" "$T/costs" "$T/$format" 7
        is "$format: stacks, functions and runtimes have the values of the report" "0" "$status$(grep -v ': equal$\|^runtimes' <<<"$out")"
    done
fi
fresh
push --server "$to/prefix/v1development/profiles/" --data samples "$T/s"
is "a path of the address chooses the format, and is kept" "0:/prefix/v1development/profiles:1" \
    "$status:$(fact one 'facts[0]["path"]'):$(kept)"
fresh
"$SXS" pack -o "$T/s.sxsprof" "$T/s" >/dev/null 2>&1
push --server "$to" "$T/s.sxsprof"
is "a packed session is sent" "0:1" "$status:$(kept)"

# ---- answers
fresh; plan 503 429 500
push --server "$to" "$T/s"
is "503, 429 and 500 are tried again" "0:503 429 500 200:1" "$status:$(requests):$(kept)"
is "what the server gets is said first" "carries: stacks with names of methods and files; no values" "$(head -1 "$T/out")"
has "and the first of each is reported" "$err" "HTTP status 503: as planned"
fresh; plan "503 Retry-After=2"
push --server "$to" "$T/s"
is "Retry-After is waited for" "0:503 200:1" "$status:$(requests):$(awk 'NR == 1 { a = $1 } END { print ($1 - a >= 2) }' "$T/one/log")"
fresh; plan cut
push --server "$to" "$T/s"
is "a cut connection is tried again" "0:cut 200:1" "$status:$(requests):$(kept)"
fresh; plan cut-after
push --server "$to" "$T/s"
is "an answer that is lost: sent twice with one id" "0:cut-after 200:2:1" "$status:$(requests):$(kept):$(ids)"
fresh; plan slow
push --server "$to" --timeout 1s "$T/s"
has "a slow server: time limit, then again" "$status:$(requests)" "0:slow 200"
fresh; plan 400
push --server "$to" --period 1s "$T/s"
is "400: not tried again; the others are sent" "1:400 200 200 200:3" "$status:$(requests):$(kept)"
has "400: the message has the answer" "$err" "HTTP status 400: as planned" "refused batches: 1"
for code in 401 403 404; do
    fresh; plan $code
    push --server "$to" --period 1s --queue "$T/q" "$T/s"
    is "$code: nothing more is sent, all is kept" "1:$code:0:4" "$status:$(requests):$(kept):$(batches)"
done
push --server "$to" --queue "$T/q"
is "a push without a session sends what was kept" "0:4:0" "$status:$(kept):$(batches)"
fresh; plan "307 Location=http://localhost:$port/push.v1.PusherService/Push"
push --server "$to" "$T/s"
is "a redirect to another host is not followed" "1:307:0" "$status:$(requests):$(kept)"
has "and the message names the address" "$err" "http://localhost:$port"
fresh; plan "307 Location=/other/push.v1.PusherService/Push"
push --server "$to" "$T/s"
is "a redirect on the same server is followed" "0:307 200:/other/push.v1.PusherService/Push" "$status:$(requests):$(fact one 'facts[0]["path"]')"
fresh; plan "302 Location=file:///etc/passwd"
push --server "$to" "$T/s"
is "a redirect to another scheme is not followed" "1:302" "$status:$(requests)"
fresh; plan partial
push --server "$to" --format otlp "$T/s"
is "OTLP: a partial success is not tried again" "1:partial" "$status:$(requests)"
has "OTLP: and is reported" "$err" "profiles refused: 2: too old"
fresh; plan 500
push --server "$to" --format otlp "$T/s"
is "OTLP: 500 is not tried again, as the protocol says" "1:500" "$status:$(requests)"
fresh
push --server http://127.0.0.1:1 --retry 1s "$T/s"
is "no server: status 1" 1 "$status"
has "no server: the message" "$err" "http://127.0.0.1:1: " "the rest was not sent"
printf 'X-Scope-OrgID: me\nX-Two: b\n' >"$T/headers"
printf 'se-cret\n' >"$T/token"
push --server "$to" --token-file "$T/token" --header @"$T/headers" --header 'X-Three: c' "$T/s"
is "a token and headers from files" "Bearer se-cret me b c" \
    "$(fact one '*(facts[0]["headers"].get(h) for h in ("Authorization", "X-Scope-OrgID", "X-Two", "X-Three"))')"
fresh; printf 'pass word\nnot this\n' >"$T/password"
push --server "$to" --user me --password-file "$T/password" "$T/s"
is "a user and a password" "Basic $(printf 'me:pass word' | base64)" "$(fact one 'facts[0]["headers"]["Authorization"]')"

fresh
try env http_proxy="$to" timeout -k 5 60 "$SXS" push --server http://profiles.invalid:4040 "$T/s"
is "a proxy of the environment" "0:http://profiles.invalid:4040/push.v1.PusherService/Push" "$status:$(fact one 'facts[0]["path"]')"
fresh
try env http_proxy=http://127.0.0.1:1 no_proxy=127.0.0.1 timeout -k 5 60 "$SXS" push --server "$to" "$T/s"
is "an exception from the proxy" "0:1" "$status:$(kept)"

# ---- TLS
certificate() { # NAME SUBJECT-ALT-NAME
    openssl req -newkey rsa:2048 -nodes -keyout "$T/$1.key" -out "$T/$1.csr" -subj "/CN=$1" 2>/dev/null &&
        openssl x509 -req -in "$T/$1.csr" -CA "$T/ca.pem" -CAkey "$T/ca.key" -CAcreateserial -days 2 -out "$T/$1.pem" \
            -extfile <(echo "subjectAltName=$2") 2>/dev/null
}
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$T/ca.key" -out "$T/ca.pem" -days 2 -subj /CN=test-ca 2>/dev/null &&
    certificate right IP:127.0.0.1 && certificate wrong DNS:other.example && certificate client DNS:client || exit 1
serve tls "$T/right.pem" "$T/right.key"
push --server "https://127.0.0.1:$port" --ca "$T/ca.pem" "$T/s"
is "TLS: a server with a certificate of --ca" "0:1" "$status:$(kept tls)"
push --server "https://127.0.0.1:$port" "$T/s"
is "TLS: an unknown authority is refused at once" "1:1" "$status:$(kept tls)"
has "TLS: and the message says so" "$err" "certificate"
serve name "$T/wrong.pem" "$T/wrong.key"
push --server "https://127.0.0.1:$port" --ca "$T/ca.pem" "$T/s"
is "TLS: a certificate of another name is refused" "1:0" "$status:$(kept name)"
serve mutual "$T/right.pem" "$T/right.key" "$T/ca.pem"
push --server "https://127.0.0.1:$port" --ca "$T/ca.pem" --retry 1s "$T/s"
is "TLS: without a client's certificate the server refuses" "1:0" "$status:$(kept mutual)"
push --server "https://127.0.0.1:$port" --ca "$T/ca.pem" --cert "$T/client.pem" --key "$T/client.key" "$T/s"
is "TLS: with a client's certificate" "0:1" "$status:$(kept mutual)"

# ---- the queue
fresh
push --server http://127.0.0.1:1 --retry 1s --period 1s --queue "$T/q" "$T/s"
is "without a server, all batches are kept" "1:4" "$status:$(batches)"
has "and the message says where" "$err" "wait in the queue $T/q: 4"
is "the queue is private" "700 600" "$(stat -c %a "$T/q" "$T/q"/*.batch | sort -ru | paste -sd' ')"
push --server "$to" --format otlp --queue "$T/q"
is "a queue of another format is refused" 2 "$status"
head -c -10 "$T/q/00000000000000000002.batch" >"$T/cut" && cp "$T/cut" "$T/q/00000000000000000002.batch"
push --server "$to" --queue "$T/q"
is "a damaged batch is dropped and reported" "1:3" "$status:$(kept)"
has "with its file" "$err" "00000000000000000002.batch: damaged"
push --server "$to" --period 1s --queue "$T/q" "$T/s"
is "what was sent is not sent again" "0:3" "$status:$(kept)"
fresh
push --server http://127.0.0.1:1 --retry 1s --period 1s --queue "$T/q" "$T/s"
limit=$(($(du -cb "$T/q"/*.batch | tail -1 | cut -f1) * 2 / 3))
fresh
push --server http://127.0.0.1:1 --retry 1s --period 1s --queue "$T/q" --queue-size $limit "$T/s"
has "a full queue: the oldest are dropped, and counted" "$err" "the queue is full" "dropped, because the queue is full or damaged:"
[ "$(du -cb "$T/q"/*.batch | tail -1 | cut -f1)" -le $limit ]
is "a full queue keeps its limit" 0 $?
fresh; echo '{' >"$T/state" && mkdir -m 700 "$T/q" && cp "$T/state" "$T/q/state"
push --server "$to" --queue "$T/q" "$T/s"
has "a damaged state is refused" "$status:$err" "2:" "\"state\" is damaged"
for positions in '[]' '{"a":"x"}' '{"a":-5}' 7; do
    echo "{\"version\":1,\"target\":\"pyroscope\",\"sent\":0,\"refused\":0,\"dropped\":0,\"positions\":$positions}" >"$T/q/state"
    push --server "$to" --queue "$T/q" "$T/s"
    has "a state with the positions $positions is refused" "$status:$err" "2:" "\"state\" is damaged"
done
rm "$T/q/state" && ln -s "$T/state" "$T/q/state"
push --server "$to" --queue "$T/q" "$T/s"
has "a state that is a link is refused" "$status:$err" "2:" "\"state\" is damaged"
fresh
flock_test() { # the lock is held as long as the command
    timeout 20 "$SXS" push --server "$to" --follow "$T/empty" --queue "$T/q" >/dev/null 2>&1 &
    local pid=$!
    for _ in $(seq 100); do [ -e "$T/q/state" ] && break; sleep 0.1; done
    push --server "$to" --queue "$T/q" "$T/s"
    kill $pid; wait $pid 2>/dev/null
}
flock_test
has "a queue that is in use is refused" "$status:$err" "2:" "another sxsprof push is using it"

mkdir "$T/small"
# The queue's disk has room for some of four batches; then the test gives it more.
full() {
    mount -t tmpfs -o size=12k none "$T/small" && mkdir -m 700 "$T/small/q" || exit 77
    "$SXS" push --server http://127.0.0.1:1 --retry 1s --period 1s --queue "$T/small/q" "$T/s" 2>"$T/full.err"
    echo "$?:$(batches "$T/small/q"):$(find "$T/small/q" -name '*.part' | wc -l)" >"$T/full.out"
    mount -o remount,size=4m "$T/small"
    "$SXS" push --server "$to" --period 1s --queue "$T/small/q" "$T/s" 2>/dev/null
    echo "$?" >>"$T/full.out"
}
fresh
export -f full batches && export T SXS to
if unshare -rm bash -c full >/dev/null 2>&1; then
    has "a full disk: status 1, only whole batches" "$(head -1 "$T/full.out")" "1:" ":0"
    has "a full disk: the message says so" "$(cat "$T/full.err")" "cannot be put into the queue: No space left on device"
    is "a full disk: with more room, the rest is sent, and nothing twice" "0:4:4" "$(tail -1 "$T/full.out"):$(kept):$(ids)"
else
    skip "a full disk" "no mount namespaces here"
fi

# ---- --follow: sessions that come, kill -9 in between
fresh; mkdir "$T/segments"
follow() {
    "$SXS" push --server "$to" --follow "$T/segments" --period 1s --queue "$T/q" >"$T/follow.out" 2>"$T/follow.err" &
    pid=$!
}
reached() { # N: until N requests were accepted
    for _ in $(seq 300); do [ "$(kept)" -ge "$1" ] && return; sleep 0.1; done
    return 1
}
follow
"$T/make_samples" "$T/new" known 11 && mv "$T/new" "$T/segments/a"
reached 4
is "follow: a session that comes is sent" "4 4" "$(kept) $(ids)"
kill -9 $pid; wait $pid 2>/dev/null
"$T/make_samples" "$T/new" known 12 && mv "$T/new" "$T/segments/b"
plan 503 200 503
follow
reached 5; kill -9 $pid; wait $pid 2>/dev/null
follow
reached 8
is "follow: after kill -9 in the middle, nothing is lost" "8" "$(ids)"
kill -INT $pid
wait $pid
is "follow: SIGINT ends it with status 0" "0:" "$?:$(cat "$T/follow.out" | grep -v 'batches sent')"
sends=$(kept)
[ "$sends" -le 9 ]
is "follow: at most the batch on its way was sent twice" 0 $?
follow; sleep 2.5; kill -TERM $pid; wait $pid
is "follow: what was sent is not sent again after a start" "0:$sends" "$?:$(kept)"
# a queue with batches of which the state knows nothing: killed between the two
push --server http://127.0.0.1:1 --retry 1s --period 1s --queue "$T/q2" "$T/segments/a"
python3 - "$T/q2/state" <<'P'
import json, sys
state = json.load(open(sys.argv[1]))
state["positions"] = {}
json.dump(state, open(sys.argv[1], "w"))
P
fresh
push --server "$to" --period 1s --queue "$T/q2" "$T/segments/a"
is "a batch in the queue says how far its session is sent" "0:4" "$status:$(kept)"
is "nothing is left behind" "" "$(ls -A "$TMPDIR")"
finish
