# SPDX-License-Identifier: MIT
# pick.sh - checks which of three real runtimes are profiled.
# The runs are all combinations of --pick, --unpicked, order of arrival and preload. Every app causes faults
# and collections all the time, so that a runtime that does not get its signals fails.
. "$(dirname "$0")/lib.sh"
need_real 3
set -- $versions
work="nre=30 div=30 gcs=5 loops=1 pool=30"

run_case() { # pick unpicked order preload
    dir=$tmp/out
    rm -rf "$dir"
    # shellcheck disable=SC2086
    timeout -k 5 60 "$sxsprof" run --pick "$1" --unpicked "$2" $4 -o "$dir" -- "$runsxs" $3 \
        --timeout 50 8 stress "$work" 9 stress "$work" $net10 stress "$work" >"$tmp/log" 2>&1
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
        expect "--pick all, $unpicked, $how: all three runtimes are picked" \
            'len(r)==3 and all(x["state"]=="picked" and x["methods"]>0 and x["gcs"]>=5 and x["exceptions_thrown"]>=60 for x in r)'
        run_case first $unpicked "$order" "$preload"
        expect "--pick first, $unpicked, $how: exactly one runtime is picked, and two are $left" \
            "sorted(x['state'] for x in r)==sorted(['picked','$left','$left'])"
        run_case one:9 $unpicked "$order" "$preload"
        expect "--pick one:9, $unpicked, $how: .NET 9 is picked, and the others are $left and not counted" \
            "len(r)==3 and all((x['state']=='picked' and x['methods']>0) if x['version'].startswith('9.') else (x['state']=='$left' and x['methods']==0) for x in r)"
    done
done; done
run_case "one:$PWD/$BUILD/runtimes/$1/libcoreclr.so" guard "" ""
expect "--pick one:PATH picks the runtime that is loaded from the file PATH" \
    "[x['version'] for x in r if x['state']=='picked']==['$1']"
finish
