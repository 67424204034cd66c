# SPDX-License-Identifier: MIT
# Who is profiled, on real runtimes: pick x unpicked x order of arrival x preload. Every app works on
# faults and collections all the while, so a runtime left without its signals would show.
. "$(dirname "$0")/lib.sh"
need_real 3
set -- $versions
work="nre=30 div=30 gcs=5 loops=1 pool=30"

run_case() { # pick unpicked order preload
    dir=$tmp/out
    rm -rf "$dir"
    # shellcheck disable=SC2086
    timeout -k 5 60 "$sxsprof" run --pick "$1" --unpicked "$2" $4 -o "$dir" -- "$runsxs" $3 \
        --timeout 50 8 stress "$work" 9 stress "$work" 10.0.11 stress "$work" >"$tmp/log" 2>&1
    status=$?
    "$sxsprof" report --format json "$dir" >"$tmp/json" 2>>"$tmp/log" || status=99
}

expect() { # claim expression
    if [ $status -eq 0 ] && [ "$(jsonq "$tmp/json" "$2")" = True ]; then ok "$1"
    else cat "$tmp/json" >>"$tmp/log"; not_ok "$1 (status $status)" "$tmp/log"; fi
}

for order in /st ""; do for preload in "" --no-preload; do
    how="${order:+one after the other}${order:-at once}${preload:+, without preload}"
    how=$(echo "$how" | sed 's,one after the other/st,one after the other,')
    for unpicked in guard cancel; do
        left=$([ $unpicked = guard ] && echo guarded || echo cancelled)
        run_case all $unpicked "$order" "$preload"
        expect "all, $unpicked, $how: three are picked" \
            'len(r)==3 and all(x["state"]=="picked" and x["methods"]>0 and x["gcs"]>=5 and x["exceptions"]>=60 for x in r)'
        run_case first $unpicked "$order" "$preload"
        expect "first, $unpicked, $how: exactly one is picked, two are $left" \
            "sorted(x['state'] for x in r)==sorted(['picked','$left','$left'])"
        run_case one:9 $unpicked "$order" "$preload"
        expect "one:9, $unpicked, $how: 9 is picked, the others are $left and uncounted" \
            "len(r)==3 and all((x['state']=='picked' and x['methods']>0) if x['version'].startswith('9.') else (x['state']=='$left' and x['methods']==0) for x in r)"
    done
done; done
run_case "one:$PWD/$BUILD/runtimes/$1/libcoreclr.so" guard "" ""
expect "one:PATH picks the runtime loaded from that file" \
    "[x['version'] for x in r if x['state']=='picked']==['$1']"
finish
