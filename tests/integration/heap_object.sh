# SPDX-License-Identifier: MIT
# heap_object.sh - prints objects and static fields with known values of every kind, of 8, 9 and 10 alone and
# in one process, by sxsprof heap --object and --static; wrong names and addresses; requests that are garbage.
. "$(dirname "$0")/lib.sh"
need_real 3
[ -e "$BUILD/managed/objects/objects.dll" ] || skip_all "$0" "the managed apps are not built"
signal=59 # RTMAX-5

has_files() { local f; for f in "$@"; do [ -e "$f" ] || return 1; done; }
# start VERSION...: run the app objects in each version, with the options $options of the tool. Sets $pid and
# $waiting.
options=""
start() {
    local version files="" n=0 words=()
    rm -rf "$tmp/s" "$tmp"/ready.* "$tmp/until"
    for version in "$@"; do
        n=$((n + 1))
        files="$files $tmp/ready.$n"
        words+=("$version" objects "ready=$tmp/ready.$n until=$tmp/until")
    done
    timeout -k 5 280 "$sxsprof" run --quiet --tool "heap$options" -o "$tmp/s" -- "$runsxs" --timeout 270 "${words[@]}" \
        >"$tmp/log" 2>&1 &
    waiting=$!
    wait_until has_files $files
    pid=$(basename "$tmp"/s/*)
}
end() {
    : >"$tmp/until"
    wait $waiting
}
# heap ARGUMENTS...: ask the process. Addresses, versions, and threads' numbers vary: they become @, V and T.
heap() { timeout 100 "$sxsprof" heap --timeout 90 "$@" >"$tmp/out" 2>"$tmp/err"; }
plain() {
    sed -E 's/@0x[0-9a-f]+/@/; s/^0x[0-9a-f]+(, moved to 0x[0-9a-f]+)?: /@: /; s/(runtime [0-9]+, )[0-9]+\.0\.[0-9]+/\1V/
            s/thread [0-9]+\)/thread T)/; s/gen [012]\)/gen N)/' "$1"
}
# says CLAIM: whether the plain output is that on standard input.
says() {
    cat >"$tmp/expected"
    plain "$tmp/out" >"$tmp/plain"
    diff "$tmp/expected" "$tmp/plain" >"$tmp/diff" 2>&1
    check "$1" $? "$tmp/diff"
}
statics() { # NAME...: arguments that ask for static fields of Objects.Statics
    local name
    for name in "$@"; do echo "--static Objects.Statics.$name"; done
}
# address FIELD: the object that the field referred to, in the last output.
address() { sed -nE "s/^Objects.Statics.$1: .* @(0x[0-9a-f]+) \(runtime .*/\1/p" "$tmp/out" | head -n 1; }

# objects NAME...: ask for the objects that static fields refer to. Collections between two snapshots may move
# them, until they are old.
objects() {
    local try name arguments
    for try in 1 2 3 4 5 6; do
        heap $(statics "$@") "$pid" || return
        arguments=()
        for name in "$@"; do arguments+=(--object "$(address "$name")"); done
        heap "${arguments[@]}" "$pid" && return
    done
    return 1
}

everything() {
    cat <<'X'
@: Objects.Everything (runtime 1, V; 264 bytes; gen N)
inherited: System.String = "from the base" @ (of Objects.Base)
hidden: System.Int32 = 11 (of Objects.Base)
Int: System.Int32 = -2000000000
Text: System.String = "a \"text\"\n" @
Nothing: System.String = null
Boxed: System.Object = 99 @
BoxedPoint: System.Object = {X = 5, Y = 6} @
Numbers: System.Int32[] = System.Int32[3] {1, 2, 3} @
Texts: System.String[] = System.String[2] {"one", "two"} @
Points: Objects.Point[] = Objects.Point[1] {{X = 7, Y = 8}} @
Matrix: System.Int32[,] = System.Int32[2,2] {1, 2, 3, 4} @
List: System.Collections.Generic.List<System.String> = System.Collections.Generic.List<System.String> @
Ring: Objects.Node = Objects.Node @
Long: System.Int64 = -9000000000000000000
ULong: System.UInt64 = 18000000000000000000
Double: System.Double = -2.25
Native: System.IntPtr = 0x1234
Pointer: System.Int32* = 0x1000
UInt: System.UInt32 = 4000000000
Single: System.Single = 1.5
Access: Objects.Access = 3
Property: System.Int32 = 55
Letter: System.Char = 'x'
Short: System.Int16 = -16000
UShort: System.UInt16 = 60000
Yes: System.Boolean = true
Small: System.SByte = -8
Byte: System.Byte = 200
Color: Objects.Color = Green
NoName: Objects.Color = 77
Decimal: System.Decimal = 12.50
Has: System.Nullable<System.Int32> = 3
HasNot: System.Nullable<System.Int32> = null
Where: System.Nullable<Objects.Point> = {X = 1, Y = 2}
Named: Objects.Named
  Name: System.String = "inner" @
  Color: Objects.Color = Red
  At: Objects.Point
    X: System.Int32 = 3
    Y: System.Int32 = 4
X
}

for version in $versions; do
    start "$version"
    heap $(statics Number Text Point Named Maybe BoxedInt BoxedPoint BoxedColor Array Many Mixed Matrix Color Null \
        Property Inner.Deep) "$pid"
    check "$version: static fields are asked for" $? "$tmp/err"
    says "$version: static fields of every kind have the values of the program" <<'X'
Objects.Statics.Number: System.Int32 = 42 (runtime 1, V; 4 bytes)
Objects.Statics.Text: System.String = "static text" @ (runtime 1, V; 8 bytes)
Objects.Statics.Point: Objects.Point (runtime 1, V; 8 bytes)
      +0  X: System.Int32 = 1
      +4  Y: System.Int32 = -1
Objects.Statics.Named: Objects.Named (runtime 1, V; 24 bytes)
      +0  Name: System.String = "static" @
      +8  Color: Objects.Color = Green
     +12  At: Objects.Point
     +12    X: System.Int32 = 9
     +16    Y: System.Int32 = 8
Objects.Statics.Maybe: System.Nullable<System.Int32> = 17 (runtime 1, V; 8 bytes)
Objects.Statics.BoxedInt: System.Object = 1234 @ (runtime 1, V; 8 bytes)
Objects.Statics.BoxedPoint: System.Object = {X = 21, Y = 22} @ (runtime 1, V; 8 bytes)
Objects.Statics.BoxedColor: System.Object = Red @ (runtime 1, V; 8 bytes)
Objects.Statics.Array: System.Int32[] = System.Int32[2] {4, 5} @ (runtime 1, V; 8 bytes)
Objects.Statics.Many: System.Int32[] = System.Int32[1000] {0, 0, 0, 0, 0, 0, 0, 0, ...} @ (runtime 1, V; 8 bytes)
Objects.Statics.Mixed: System.Object[] = System.Object[4] {"first", null, 2, Objects.Node} @ (runtime 1, V; 8 bytes)
Objects.Statics.Matrix: System.String[,] = System.String[1,2] {"a", "b"} @ (runtime 1, V; 8 bytes)
Objects.Statics.Color: Objects.Color = Green (runtime 1, V; 1 bytes)
Objects.Statics.Null: Objects.Node = null (runtime 1, V; 8 bytes)
Objects.Statics.Property: System.Int32 = 66 (runtime 1, V; 4 bytes)
Objects.Statics+Inner.Deep: System.Int32 = 6 (runtime 1, V; 4 bytes)
X

    rva=$(sed -n 's/^.*rva \([0-9A-F]*\)$/\1/p' "$tmp/log" | head -n 1)
    heap --static "<PrivateImplementationDetails>.$rva" --static Objects.Unloadable.Number --static Objects.Unloadable.Text \
        --static Objects.Unloadable.Point --static Objects.Threads.Text "$pid"
    sed -i "s/$rva/RVA/" "$tmp/out"
    says "$version: static fields of threads, in the file of a module, and of an assembly that can be unloaded" <<'X'
<PrivateImplementationDetails>.RVA: <PrivateImplementationDetails>+__StaticArrayInitTypeSize=12_Align=4 = 0a 00 00 00 14 00 00 00 1e 00 00 00 (runtime 1, V; 12 bytes; in the file of its module)
Objects.Unloadable.Number: System.Int32 = 43 (runtime 1, V; 4 bytes)
Objects.Unloadable.Text: System.String = "can be unloaded" @ (runtime 1, V; 8 bytes)
Objects.Unloadable.Point: Objects.Point (runtime 1, V; 8 bytes)
      +0  X: System.Int32 = 31
      +4  Y: System.Int32 = 32
Objects.Threads.Text: System.String = "thread 7" @ (runtime 1, V; 8 bytes; thread T)
Objects.Threads.Text: System.String = "thread 8" @ (runtime 1, V; 8 bytes; thread T)
X
    heap --static Objects.Threads.Number "$pid"
    [ "$(grep -cE '= [78] \(.*; thread [0-9]+\)$' "$tmp/out")" = 2 ] && ! grep -vE '= [078] \(' "$tmp/out"
    check "$version: a number of each thread" $? "$tmp/out"

    objects Many Mixed Matrix BoxedPoint Text
    sed -i '/ \[\([2-9]\|[12][0-9]\|30\)\]: System.Int32 = 0$/d' "$tmp/out"
    says "$version: arrays, boxed values and strings by their addresses" <<'X'
@: System.Int32[] = [1000], the first 32: (runtime 1, V; 4024 bytes; gen N)
     +16  [0]: System.Int32 = 0
     +20  [1]: System.Int32 = 0
    +140  [31]: System.Int32 = 31
@: System.Object[] = [4] (runtime 1, V; 56 bytes; gen N)
     +16  [0]: System.Object = "first" @
     +24  [1]: System.Object = null
     +32  [2]: System.Object = 2 @
     +40  [3]: System.Object = Objects.Node @
@: System.String[,] = [1,2] (runtime 1, V; 56 bytes; gen N)
     +32  [0,0]: System.String = "a" @
     +40  [0,1]: System.String = "b" @
@: Objects.Point (runtime 1, V; 24 bytes; gen N)
      +8  X: System.Int32 = 21
     +12  Y: System.Int32 = 22
@: System.String = "static text" (runtime 1, V; 48 bytes; frozen)
X
    objects Everything
    cp "$tmp/out" "$tmp/object"
    at=$(sed -nE '1s/^(0x[0-9a-f]+, moved to )?(0x[0-9a-f]+): .*/\2/p' "$tmp/out")
    # The order of fields in memory is the runtime's choice: compare them without, and the long string apart.
    plain "$tmp/object" | sed -E 's/^ +\+[0-9]+  //' | grep -v '^Long300: ' | sort >"$tmp/fields"
    everything | sort | diff - "$tmp/fields" >"$tmp/diff"
    check "$version: all fields of an object, those of base classes and structs included" $? "$tmp/diff"
    grep -q "Long300: System.String = \"z\{64\}\"\.\.\.\[300\] @0x" "$tmp/object"
    check "$version: a long string is cut, and says so" $? "$tmp/object"
    python3 - "$tmp/object" >"$tmp/said" 2>&1 <<'E2'
import re, sys
sizes = {"Int64": 8, "UInt64": 8, "Double": 8, "Int32": 4, "UInt32": 4, "Single": 4, "Int16": 2, "UInt16": 2, "Char": 2,
         "Byte": 1, "SByte": 1, "Boolean": 1, "String": 8, "Object": 8}
end, n = 8, 0
for line in open(sys.argv[1]):
    m = re.match(r" +\+(\d+)  (\w+): System\.(\w+) =", line)
    if m and m[3] in sizes:
        at = int(m[1])
        assert at >= end and at % sizes[m[3]] == 0 and at + sizes[m[3]] <= 256, line
        end, n = at + sizes[m[3]], n + 1
assert n > 18, n
E2
    check "$version: the fields lie one behind the other in the object" $? "$tmp/said"

    # Addresses and names that are wrong.
    heap --object "$(printf '0x%x' $((at + 8)))" "$pid"
    [ $? -eq 2 ] && grep -q "is inside of the Objects.Everything at 0x" "$tmp/err" && [ ! -s "$tmp/out" ]
    check "$version: an address inside of an object is refused, and its object named" $? "$tmp/err"
    heap --object 10 "$pid"
    [ $? -eq 2 ] && grep -q "no object begins at 0x10" "$tmp/err" && grep -q "the nearest object is" "$tmp/err"
    check "$version: an address without an object is refused, and the nearest object named" $? "$tmp/err"
    heap $(statics Numbr Constant) --static Objects.Statix.Number "$pid"
    [ $? -eq 2 ] && grep -q "Objects.Statics has no static field Numbr; is Number meant?" "$tmp/err" &&
        grep -q "no type Objects.Statix is loaded; is Objects.Statics meant?" "$tmp/err" &&
        grep -q "Constant is a constant" "$tmp/err"
    check "$version: names that do not exist are refused, with the nearest ones" $? "$tmp/err"
    heap --static Objects.Generic.Value "$pid"
    [ $? -eq 0 ] && [ "$(grep -c 'does not tell where static fields of generic types are' "$tmp/out")" = 2 ]
    check "$version: static fields of generic types are said to be unknown" $? "$tmp/out"

    # The session has what was read.
    heap $(statics Number) "$pid"
    heap $(statics Number) --format json "$tmp/s"
    python3 -c 'import json,sys; v = json.load(sys.stdin)["heap_values"]; assert [(x["name"], x["what"], x["value"], x["size_bytes"]) for x in v] == [("Objects.Statics.Number", "static", "42", 4)], v' \
        <"$tmp/out" >"$tmp/said" 2>&1
    check "$version: a session has what was read for its snapshot, as JSON" $? "$tmp/said"
    if python3 -c 'import jsonschema' 2>/dev/null; then
        python3 -B tests/command/json_schema.py "$tmp/out" >"$tmp/said" 2>&1
        check "$version: which is as its schema says" $? "$tmp/said"
    fi
    heap $(statics Text) "$tmp/s"
    [ $? -eq 2 ] && grep -q "it was not read for heap snapshot" "$tmp/err"
    check "$version: what was not read is refused" $? "$tmp/err"
    end
    check "$version: the program ends as without" $? "$tmp/log"
done

# Three runtimes in one process.
start $versions
heap $(statics Number) "$pid"
[ "$(plain "$tmp/out" | sort)" = "$(for n in 1 2 3; do
    echo "Objects.Statics.Number: System.Int32 = 42 (runtime $n, V; 4 bytes)"; done)" ]
check "three runtimes: each has the static field" $? "$tmp/out"
heap --runtime 2 $(statics Text Number) "$pid"
[ "$(grep -c 'runtime 2' "$tmp/out")" = 2 ] && ! grep -q 'runtime [13]' "$tmp/out"
check "three runtimes: one of them is asked" $? "$tmp/out"
heap --runtime 2 --object "$(address Text)" "$pid" # a literal, which does not move
[ $? -eq 0 ] && grep -q '"static text" (runtime 2' "$tmp/out"
check "three runtimes: an object of one of them" $? "$tmp/out"

# Requests that are garbage: the program runs on, and snapshots are complete.
folder=$tmp/s/$pid
n=$(ls "$folder" | grep -c '^heap-[0-9]*$')
complete() { # NUMBER: whether that snapshot has ended
    [ -e "$folder/heap-$1" ] && python3 -c 'import struct,sys; sys.exit(0 if struct.unpack_from("<Q", open(sys.argv[1], "rb").read(64), 40)[0] else 1)' "$folder/heap-$1"
}
bad=0
for kind in noise long lines pipe link empty numbers; do
    case $kind in
    noise) head -c 4000 /dev/urandom >"$folder/heap-ask" ;;
    long) { echo "sxsprof heap-ask 1"; yes "object 0 7f0000000000" | head -c 40000; } >"$folder/heap-ask" ;;
    lines) { echo "sxsprof heap-ask 1"; for i in $(seq 60); do echo "static 0 A.B$i"; done; } >"$folder/heap-ask" ;;
    pipe) mkfifo "$folder/heap-ask" ;;
    link) ln -s /dev/zero "$folder/heap-ask" ;;
    empty) : >"$folder/heap-ask" ;;
    numbers) printf 'sxsprof heap-ask 1\nobject 0 8\nobject 0 ffffffffffffffff\nobject 0 7fffffffffff\nobject 99999 1\nstatic -1 A.B\nstatic 0 \nobject\nstatic 0 %s\n' \
        "$(head -c 600 /dev/zero | tr '\0' x)" >"$folder/heap-ask" ;;
    esac
    n=$((n + 1))
    kill -$signal "$pid"
    wait_until complete "$n" || bad=1
    [ -e "$folder/heap-ask" ] && bad=1
done
check "requests that are garbage are removed, and the snapshots are complete" $bad "$tmp/log"
[ "$(grep -c 'the request for values (heap-ask) is not valid' "$tmp/log")" = 5 ]
check "each of them gives one line" $? "$tmp/log"
end
check "three runtimes: the program ends as without" $? "$tmp/log"

# Without a collection nothing moves; with frames=on, objects come by callbacks.
for version in $versions; do
    for options in :collect=off :frames=on; do
        start "$version"
        heap $(statics Number) --static Objects.Threads.Text --static Objects.Unloadable.Text "$pid"
        says "$version, heap$options: static fields" <<'X'
Objects.Statics.Number: System.Int32 = 42 (runtime 1, V; 4 bytes)
Objects.Threads.Text: System.String = "thread 7" @ (runtime 1, V; 8 bytes; thread T)
Objects.Threads.Text: System.String = "thread 8" @ (runtime 1, V; 8 bytes; thread T)
Objects.Unloadable.Text: System.String = "can be unloaded" @ (runtime 1, V; 8 bytes)
X
        objects Mixed
        says "$version, heap$options: an object" <<'X'
@: System.Object[] = [4] (runtime 1, V; 56 bytes; gen N)
     +16  [0]: System.Object = "first" @
     +24  [1]: System.Object = null
     +32  [2]: System.Object = 2 @
     +40  [3]: System.Object = Objects.Node @
X
        end
        check "$version, heap$options: the program ends as without" $? "$tmp/log"
    done
done

# Values of assemblies that are unloaded meanwhile.
for version in $versions; do
    rm -rf "$tmp/s"
    timeout -k 5 100 "$sxsprof" run --quiet --tool heap -o "$tmp/s" -- "$runsxs" --timeout 90 \
        "$version" unloads "contexts=100 dynamic=100 threads=2" >"$tmp/log" 2>&1 &
    waiting=$!
    while kill -0 $waiting 2>/dev/null; do
        pid=$(ls "$tmp/s" 2>/dev/null)
        [ -n "$pid" ] && timeout 20 "$sxsprof" heap --timeout 10 --static Unloads.Plugin.none --static System.String.Empty \
            --static System.Array.none "$pid" >"$tmp/out" 2>&1
        sleep 0.05
    done
    wait $waiting
    check "$version: values while assemblies are unloaded: the program ends as without" $? "$tmp/log"
done

# Wrong options.
for words in "--object xyz" "--object 0" "--static Name" "--static .x" "--object 10 --type X" "--object 10 --format html"; do
    heap $words "$tmp/s"
    [ $? -eq 2 ] && [ -s "$tmp/err" ]
    check "$words: refused" $? "$tmp/err"
done
finish
