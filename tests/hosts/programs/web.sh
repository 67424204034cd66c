# SPDX-License-Identifier: MIT
# web.sh - an ASP.NET Core service under load: two seconds of wrk with 16 connections. Every answer
# must be right. The helper tools run without the profiler.
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
tool wrk -t 2 -c 16 -d 2 "$url/" >wrk 2>&1
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
