#!/bin/bash
# SPDX-License-Identifier: MIT
# serve.sh - checks the web server of sxsprof serve: who may ask, what it sends, and that no client stops it.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
command -v curl >/dev/null || { skip "serve" "curl is missing"; finish; }
for maker in samples events calls heap; do
    # shellcheck disable=SC2086
    $CC -std=gnu11 -D_GNU_SOURCE -g -O1 -I. "tests/profile/make_$maker.c" -o "$T/make_$maker" || exit 1
done
F=$T/folder
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; wait; rm -rf "$T"' EXIT
mkdir "$F" "$F/empty" "$F/.hidden" "$T/outside"
"$T/make_samples" "$F/first" known
"$T/make_samples" "$F/costs" costs
"$T/make_events" "$F/events"
"$T/make_heap" "$F/heap" 1 known
"$T/make_samples" "$F/a b%c" known
"$T/make_samples" "$T/outside/secret" known
"$T/make_samples" "$F/.hidden/s" known
ln -s "$T/outside/secret" "$F/link"
ln -s /etc/passwd "$F/passwd.sxsprof"
"$SXS" pack -o "$F/packed.sxsprof" "$F/first" >/dev/null
"$T/make_samples" "$F/damaged" known
printf 'no census' >"$F/damaged/4242/census"
truncate -s 3000 "$F/damaged/4242/samples"
"$T/make_samples" "$F/cut" known
truncate -s 9000 "$F/cut/4242/samples"

# start ARGUMENT...: starts a server. Sets server, url (with the final slash) and token.
start() {
    rm -f "$T/served"
    "$SXS" serve "$@" >"$T/served" 2>"$T/said" </dev/null &
    server=$!
    for _ in $(seq 600); do
        [ -s "$T/served" ] && break
        kill -0 "$server" 2>/dev/null || break
        sleep 0.05
    done
    url=$(sed 's/?.*//' "$T/served") token=$(sed 's/.*token=//' "$T/served")
}
# stop SIGNAL: ends the server. Sets status.
stop() {
    kill "-$1" "$server"
    wait "$server"
    status=$?
    server=
}
# get PATH [OPTION...]: asks for a page with the token. Sets code, and out to the body.
get() {
    code=$(curl -s -m 60 --path-as-is -o "$T/body" -D "$T/head" -w '%{http_code}' -H "Authorization: Bearer $token" "${@:2}" "$url$1")
    out=$(tr -d '\0' <"$T/body" 2>/dev/null)
}
# code_of OPTION...: the status of an answer to a client without the token.
code_of() { curl -s -m 60 --path-as-is -o /dev/null -w '%{http_code}' "$@"; }

start "$F"
case $url in
http://127.0.0.1:[1-9]*/) ok "the address of this machine alone, and any free port" ;;
*) not_ok "the address of this machine alone, and any free port" "$(cat "$T/served" "$T/said")" ;;
esac
is "the random token has 192 bits" 48 "${#token}"

# ---- who may ask ----
is "without the token: refused" "403 403 403 403" \
    "$(for p in "" sessions session/first/ session/first/data; do code_of "$url$p"; echo; done | paste -sd' ')"
is "what does not exist is refused in the same way" 403 "$(code_of "${url}session/none/data")"
is "a wrong token" "403 403 403" "$(code_of "$url?token=0$token") $(code_of "$url?token=${token%?}") $(code_of -H "Authorization: Bearer x" "$url")"
is "the token in the address is exchanged for a cookie" "303 $url" \
    "$(curl -s -o /dev/null -c "$T/jar" -w '%{http_code} %{redirect_url}' "$url?token=$token")"
has "the cookie is for this server's own pages" "$(curl -s -D - -o /dev/null "$url?token=$token")" "HttpOnly; SameSite=Strict"
lacks "the cookie is not the token" "$(cat "$T/jar")" "$token"
is "with the cookie" "200 200" "$(code_of -b "$T/jar" "$url") $(code_of -b "$T/jar" "${url}sessions")"
is "another server's cookie" 403 "$(code_of -b "sxsprof-1=$(awk '/sxsprof/ { print $7 }' "$T/jar")" "$url")"
is "a cookie that was changed" 403 "$(code_of -b "sxsprof-${url##*:}=0" "$url")"
is "only GET and HEAD" "405 405 405 405 200" \
    "$(for m in POST PUT DELETE OPTIONS; do get sessions -X $m; echo $code; done | paste -sd' ') $(code_of -I -b "$T/jar" "$url")"
get sessions -d "$(head -c 100000 /dev/zero | tr '\0' x)"
is "a body is refused" 405 "$code"
for host in example.org "example.org:80" 127.0.0.1.example.org localhost.example.org 10.0.0.1 "" "[::2]"; do
    get sessions -H "Host: $host"
    case $code in 403 | 400) ;; *) not_ok "another name of the server ($host) is refused" "$code" ;; esac
done
ok "other names of the server are refused"
for host in localhost "LOCALHOST:1" 127.0.0.1 "127.1.2.3:99" "[::1]:5"; do
    get sessions -H "Host: $host"
    [ "$code" = 200 ] || not_ok "the server's own name ($host)" "$code"
done
ok "the names of this machine, with any port, are its own"
is "another site's pages are refused, the own ones are not" "403 403 403 200 200" "$(for h in "Origin: http://example.org" "Origin: null" "Sec-Fetch-Site: cross-site" "Origin: ${url%/}" "Sec-Fetch-Site: same-origin"; do get sessions -H "$h"; echo "$code"; done | paste -sd' ')"
get ""
lacks "nothing is permitted to other sites" "$(cat "$T/head")" "Access-Control"
has "no frames, no guessing of types, no other code" "$(tr -d '\r' <"$T/head")" "X-Frame-Options: DENY" \
    "X-Content-Type-Options: nosniff" "default-src 'none'; script-src 'sha256-" "frame-ancestors 'none'"

# ---- paths ----
for path in session/link/data session/.hidden/data session/../outside/secret/data session/%2e%2e/data session/..%2f..%2foutside/data \
    session/%2e%2e%2foutside%2fsecret/data session/first%2f4242/data session/first/../first/data session/first%00/data \
    session/./data session//data session/first session/first/none session/first/data/ session/passwd.sxsprof/data \
    session/empty%2fx/data etc/passwd ../../etc/passwd %2e%2e/etc/passwd //example.org/ sessions/ "session/first/data?data=" \
    "session/first/data?none=1" "session/first/data?data=alloc&data=live" "session/first/report" "session/first/data?data=..%2f" \
    "session/first/report?format=elf" "session/fir%zzst/data" "session/first/data?data=ABC"; do
    get "$path"
    [ "$code" = 404 ] || not_ok "no such page: $path" "$code $out"
done
[ $failed = 1 ] || ok "paths lead to sessions of the folder only"
get "sessions?x=$(head -c 3000 /dev/zero | tr '\0' x)"
is "an address that is too long" 404 "$code"
get sessions -H "X: $(head -c 60000 /dev/zero | tr '\0' x)"
is "headers that are too large" 431 "$code"
get sessions
is "and the server goes on" 200 "$code"

# ---- what it sends ----
python3 - "$T/body" >"$T/said2" 2>&1 <<'E2'
import json, sys
top = json.load(open(sys.argv[1]))
rows = {s["name"]: s for s in top["sessions"]}
assert sorted(rows) == ["a b%c", "costs", "cut", "damaged", "events", "first", "heap", "packed.sxsprof"], sorted(rows)
assert rows["a b%c"]["link"] == "a%20b%25c"
assert rows["costs"]["recorded"][:2] == ["samples", "alloc"], rows["costs"]["recorded"]
assert rows["events"]["recorded"] == ["events"] and rows["heap"]["heaps"] == 1 and rows["packed.sxsprof"]["packed"]
assert rows["first"]["processes"][0]["pid"] == 4242 and not any(s["running"] for s in rows.values())
assert all(s["disk_bytes"] > 0 for s in rows.values())
E2
is "the list: names, processes, data, sizes" "" "$(cat "$T/said2")"
get "session/first/data"
python3 - "$T/body" >"$T/said2" 2>&1 <<'E2'
import json, sys
top = json.load(open(sys.argv[1]))
assert top["data"]["samples"] == 1020 and top["parts"] == ["samples"] and top["list"] and not top["running"], top["parts"]
assert top["name"] == "first" and top["data"]["parts"] == ["samples"]
E2
is "data: the samples of the session" "" "$(cat "$T/said2")"
get "session/costs/data?data=alloc"
is "data: another kind" "alloc" "$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["data"]["data"])' "$T/body")"
get "session/first/data?data=alloc"
is "data that the session does not have" "None" "$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["data"])' "$T/body")"
tag=$(sed -n 's/^ETag: \(.*\)\r$/\1/p' "$T/head")
get "session/first/data?data=alloc" -H "If-None-Match: $tag"
is "what is known is not sent again" 304 "$code"
get "session/a%20b%25c/data"
is "a name with other characters" 200 "$code"
get "session/packed.sxsprof/data"
is "a packed session" "200 1020" "$code $(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["data"]["samples"])' "$T/body")"
get "session/events/data"
has "a session without samples" "$code $(head -c 300 "$T/body")" "200 {\"format\": \"sxsprof-serve-data\", \"version\": 1,\"data\":{" '"samples":0'
for format in text json collapsed speedscope chrome firefox; do
    "$SXS" report --format $format -o "$T/expected" "$F/first" 2>/dev/null
    get "session/first/report?format=$format"
    [ "$code" = 200 ] && cmp -s "$T/expected" "$T/body" || not_ok "report: $format" "$code" "$(head -c 300 "$T/body")"
done
ok "reports are those of sxsprof report"
get "session/first/report?format=pprof&data=samples"
has "a report is a file with a name" "$code $(cat "$T/head")" "200" 'attachment; filename="first-samples.pb.gz"'
get "session/heap/heap"
has "the page of a heap snapshot" "$code $(cat "$T/head")" "200" "script-src 'sha256-"
get "session/first/heap"
has "a session without a heap snapshot" "$code $out" "404" "snapshot"
get "session/cut/data"
has "a session that is cut: what can be read, and what is wrong" "$code $(tail -c 400 "$T/body")" "200" '"messages":["'
get "session/damaged/data"
has "a damaged session: no data, and why" "$code $out" "200" '"data":null' '"messages":["'
get "session/empty/data"
has "an empty folder" "$code $out" "200" '"data":null'

# ---- a session that goes while it is served ----
get "session/costs/data"
mv "$F/costs" "$T/gone"
is "a session that was removed" "200 404 404" "$code $(get session/costs/data; echo "$code") $(get session/costs/; echo "$code")"
get sessions
mv "$T/gone" "$F/costs"
get "session/costs/data"
is "and comes back" 200 "$code"
"$T/make_samples" "$F/first" known 4343
get "session/first/data"
is "a session that has ended is read again when it has changed" 2040 \
    "$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["data"]["samples"])' "$T/body")"

# ---- clients that do not behave ----
port=${url##*:}
port=${port%/}
timeout 120 python3 - "$port" "$token" >"$T/said2" 2>&1 <<'E2'
import socket, sys, threading, time
port, token = int(sys.argv[1]), sys.argv[2]
def connect():
    s = socket.create_connection(("127.0.0.1", port), 100)
    return s
def ask(path="/sessions"):
    s = connect()
    s.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n".encode())
    got = b""
    while True:
        b = s.recv(65536)
        if not b: return got
        got += b
# 200 at once, of which all are answered
answers = []
def one(i):
    answers.append(ask("/session/first/data")[:12])
all_ = [threading.Thread(target=one, args=(i,)) for i in range(200)]
[t.start() for t in all_]; [t.join() for t in all_]
assert answers == [b"HTTP/1.1 200"] * 200, (len(answers), set(answers))
# garbage, half requests, and what is no HTTP
for text in [b"", b"\r\n\r\n", b"GET", b"GET / HTTP/1.1\r\nHost", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"\0" * 5000, b"GET / HTTP/9.9\r\n\r\n",
             b"GET http://example.org/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
             b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: example.org\r\n\r\n", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
             b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n", b"A" * 100000]:
    s = connect()
    try:
        s.sendall(text)
        s.shutdown(socket.SHUT_WR)
        got = s.recv(100)
        assert not got.startswith(b"HTTP/1.1 2"), (text[:60], got)
    except OSError:
        pass
    s.close()
assert ask().startswith(b"HTTP/1.1 200")
# as many as the server takes, which send a byte now and then: it ends them, and serves others again
slow = [connect() for _ in range(64)]
for s in slow: s.setblocking(False)
ended = set()
begin = time.time()
while len(ended) < len(slow) and time.time() - begin < 90:
    for i, s in enumerate(slow):
        if i in ended: continue
        try:
            s.send(b"G")
            if s.recv(10) == b"": ended.add(i)
        except BlockingIOError: pass
        except OSError: ended.add(i)
    time.sleep(0.5)
assert len(ended) == len(slow), len(ended)
assert ask().startswith(b"HTTP/1.1 200")
# clients that go before their answer is made
for i in range(20):
    s = connect()
    s.sendall(f"GET /session/costs/report?format=json&data=alloc HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
    s.close()
assert ask().startswith(b"HTTP/1.1 200")
print("good")
E2
is "200 clients at once, garbage, half requests, slow ones, ones that go" good "$(cat "$T/said2")"
get "session/first/data"
is "then all is as before" 200 "$code"
# An answer is made to its end, also when its client has gone.
for _ in $(seq 600); do [ -z "$(cat "/proc/$server/task/$server/children")" ] && break; sleep 0.1; done
is "no child process is left" "" "$(cat "/proc/$server/task/$server/children")"

# ---- the end ----
get "session/costs/report?format=firefox&data=alloc" &
stop INT
wait
is "SIGINT ends it" 0 "$status"
is "it has nothing to say" "" "$(cat "$T/said")"
is "no temporary file is left" "" "$(ls "$TMPDIR")"
start --listen 127.0.0.1:0 --token 0123456789abcdef "$F/first"
is "a token of the user's" "$token 200" "0123456789abcdef $(get session/first/data; echo "$code")"
is "one session: the others are not there" "404 200" "$(get session/costs/data; echo "$code") $(get session/first/; echo "$code")"
port=${url##*:}
port=${port%/}
try "$SXS" serve --listen "127.0.0.1:$port" "$F"
is "a port that is in use: exit status 2" 2 "$status"
has "a port that is in use: what was expected" "$err" "--listen: 127.0.0.1 port $port: Address already in use" "expected another port"
stop TERM
is "SIGTERM ends it" 0 "$status"
(umask 077 && echo 'fedcba9876543210.~' >"$T/token")
start --token-file "$T/token" --listen '[::1]:0' --host box "$F/packed.sxsprof"
if [ -n "$url" ]; then
    is "IPv6, a token from a file, a packed session" "fedcba9876543210.~ 200" "$token $(get session/packed.sxsprof/data -g; echo "$code")"
    is "a name that was added" "200 403" "$(get sessions -g -H "Host: box:80"; echo "$code") $(get sessions -g -H "Host: boxes"; echo "$code")"
    stop INT
else
    skip "IPv6" "$(cat "$T/said")"
fi
start --listen 0.0.0.0:0 "$F"
has "an address that others can reach: a warning" "$(cat "$T/said")" "other machines can reach this server" "unencrypted"
is "on all addresses, addresses in digits are its own" "200 403" "$(get sessions -H "Host: 10.1.2.3"; echo "$code") $(get sessions -H "Host: example.org"; echo "$code")"
stop INT

# shellcheck disable=SC2016
printf '#!/bin/sh\necho "$1" >"%s"\n' "$T/opened" >"$T/bin/xdg-open"
chmod +x "$T/bin/xdg-open"
PATH=$T/bin:$PATH start --open "$F"
for _ in $(seq 600); do [ -s "$T/opened" ] && break; sleep 0.05; done
lacks "--open: the browser's arguments do not have the token" "$(cat "$T/opened")" "$token"
is "--open: they have one that is taken once" "303 403 200" \
    "$(code_of "$(cat "$T/opened")") $(code_of "$(cat "$T/opened")") $(get sessions; echo "$code")"
stop INT

# ---- wrong input ----
# refused CLAIM PART ARGUMENT...
refused() {
    try timeout 20 "$SXS" serve "${@:3}"
    has "$1: refused" "$status:$err" "2:" "$2"
}
refused "a folder that does not exist" "none: No such file" "$T/none"
refused "a process that does not exist" "no such process" 4194399
refused "a process without a session" "records no session" $$
refused "no session and no folder" "expected a file made by sxsprof pack" "$T/token"
refused "a short token" "--token: expected 16" --token short "$F"
refused "a token with other characters" "--token: expected" --token "0123456789 abcdef" "$F"
refused "an empty file of a token" "--token-file" --token-file /dev/null "$F"
refused "two tokens" "exclude each other" --token 0123456789abcdef --token-file "$T/token" "$F"
refused "a wrong address" "--listen: 'example.org:80'" --listen example.org:80 "$F"
refused "a wrong port" "--listen: '127.0.0.1:99999'" --listen 127.0.0.1:99999 "$F"
refused "a wrong name" "--host: 'a:1'" --host a:1 "$F"
refused "an address of another machine" "--listen: 192.0.2.1 port 0" --listen 192.0.2.1 "$F"
refused "two folders" "one more" "$F" "$F"
finish
