# SPDX-License-Identifier: MIT
# web.sh - ASP.NET Core under load: two seconds of wrk with 16 connections. Every answer must be a good one, however long it
# takes on a busy machine. The tools here run without the profiler.
tool() { env -u LD_PRELOAD -u CORECLR_ENABLE_PROFILING "$@"; }
cd "$HOSTS_TMP" || exit 2
tool mkfifo in
dotnet "$HOSTS_BUILD/managed/guestweb/guestweb.dll" <in >out 2>err &
pid=$!
exec 3>in
url=
for _ in $(tool seq 300); do
    url=$(tool sed -n 's/^listening on //p' out)
    [ -n "$url" ] && break
    tool sleep 0.1
done
tool wrk -t 2 -c 16 -d 2 --timeout 60s "$url/" >wrk 2>&1
if tool grep -q 'requests in' wrk && ! tool grep -Eq 'Non-2xx|Socket errors' wrk; then
    echo "right: every request was answered"
else
    echo "WRONG: $(tool paste -sd' ' wrk)"
fi
exec 3>&-
wait $pid
status=$?
tool grep -v '^listening' out
tool cat err >&2
echo "right: the service ended with status $status"
exit $status
