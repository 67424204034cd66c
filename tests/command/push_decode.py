# SPDX-License-Identifier: MIT
# push_decode.py - decodes profiles with given schemas, by Google's own library, and compares what was pushed
# with the reports of the session.
# usage: push_decode.py compare PPROF-SCHEMA OTLP-SCHEMA SXSPROF SESSION FOLDER [TOLERANCE]
#            FOLDER: what push_receiver.py has kept of one push. Values of each stack must be equal, or differ by
#            TOLERANCE at most. Prints a line for each kind of data, and differences.
#        push_decode.py fields OTLP-SCHEMA              prints the fields of a request: where, number, type, name
#        push_decode.py check OTLP-SCHEMA FIELDS.tsv    prints fields that are not in such a list
# A schema is a file made by protoc --include_imports --descriptor_set_out.
import collections, glob, gzip, json, subprocess, sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

REQUEST = "opentelemetry.proto.collector.profiles.v1development.ExportProfilesServiceRequest"
OWN_REQUEST = "sxs.otlp.Request"
PROFILES = "perftools.profiles.Profile"
KINDS = {("samples", "count"): "samples", ("cpu", "nanoseconds"): "samples", ("alloc_objects", "count"): "alloc",
         ("alloc_space", "bytes"): "alloc", ("contentions", "count"): "locks", ("delay", "nanoseconds"): "locks"}


def pool_of(path):
    pool, files = descriptor_pool.DescriptorPool(), descriptor_pb2.FileDescriptorSet()
    files.ParseFromString(open(path, "rb").read())
    for f in files.file:
        pool.Add(f)
    return pool


def message(pool, *names):
    for name in names:
        try:
            return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName(name))
        except KeyError:
            pass
    raise SystemExit("no message %s" % " or ".join(names))


def unknown(m):
    """True when a field was not in the schema."""
    if len(list(m.UnknownFields())):
        return True
    for field, value in m.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for v in value if field.label == field.LABEL_REPEATED else [value]:
                if unknown(v):
                    return True
    return False


def parse(cls, data):
    m = cls()
    m.ParseFromString(data)
    if unknown(m):
        raise SystemExit("a field that the schema does not have")
    return m


def read_pprof(cls, data, sums):
    p = parse(cls, gzip.decompress(data))
    text = p.string_table
    assert text[0] == "" and p.time_nanos > 0 and p.duration_nanos >= 0
    functions = {f.id: text[f.name] for f in p.function}
    locations = {l.id: [(functions[x.function_id], x.line) for x in l.line] for l in p.location}
    assert all(l.mapping_id in {m.id for m in p.mapping} for l in p.location)
    kinds = [(text[t.type], text[t.unit]) for t in p.sample_type]
    for s in p.sample:
        tid = [l.num for l in s.label if text[l.key] == "tid"][0]
        stack = tuple(line for i in s.location_id for line in locations[i])
        for kind, value in zip(kinds, s.value):
            sums[kind][tid, stack] += value
    return p


def read_otlp(cls, data, sums):
    m = parse(cls, data)
    d = m.dictionary
    # the first element of each table stands for none
    for table in (d.mapping_table, d.location_table, d.function_table, d.attribute_table, d.stack_table):
        assert table[0].ByteSize() == 0 and len({x.SerializeToString() for x in table}) == len(table)
    assert d.string_table[0] == "" and len(set(d.string_table)) == len(d.string_table)
    assert len(d.link_table[0].trace_id) == 16 and len(d.link_table[0].span_id) == 8

    def value(v):
        return getattr(v, v.WhichOneof("value"))

    def attributes(indices):
        pairs = [(d.string_table[d.attribute_table[i].key_strindex], value(d.attribute_table[i].value)) for i in indices]
        assert len(dict(pairs)) == len(pairs)
        return dict(pairs)

    def frame(i):
        l = d.location_table[i]
        assert len(l.lines) == 1
        f = d.function_table[l.lines[0].function_index]
        name, a = d.string_table[f.name_strindex], attributes(l.attribute_indices)
        kind, version = a.get("profile.frame.type"), a.get("process.runtime.version")
        if kind == "dotnet":
            name = "[%s] %s" % (version, name)
        elif kind == "native" and name != "[sxsprof]":
            file = d.string_table[d.mapping_table[l.mapping_index].filename_strindex].split("/")[-1]
            name = "[native] %s" % name if name == file + "!?" else "[native] %s!%s" % (file, name)
        elif not kind:
            name = "[%s] %s (type)" % (version, name) if version else "[native] %s" % name
        return name, l.lines[0].line

    frames, ids = {}, set()
    for resource in m.resource_profiles:
        for scope in resource.scope_profiles:
            assert scope.scope.name == "sxsprof"
            for p in scope.profiles:
                kind = tuple(d.string_table[i] for i in (p.sample_type.type_strindex, p.sample_type.unit_strindex))
                assert p.time_unix_nano > 0 and len(p.profile_id) == 16 and p.profile_id not in ids
                assert d.string_table[p.period_type.type_strindex]
                ids.add(p.profile_id)
                for s in p.samples:
                    stack = d.stack_table[s.stack_index].location_indices
                    for i in stack:
                        if i not in frames:
                            frames[i] = frame(i)
                    tid = attributes(s.attribute_indices)["thread.id"]
                    assert len(s.values) == 1
                    sums[kind][tid, tuple(frames[i] for i in stack)] += s.values[0]
    return {a.key: value(a.value) for a in m.resource_profiles[0].resource.attributes}


def new_sums():
    return collections.defaultdict(collections.Counter)


def by_function(stacks):
    """Self and total of each function."""
    own, total = collections.Counter(), collections.Counter()
    for (_, stack), value in stacks.items():
        own[stack[0][0] if stack else ""] += value
        for name in {n for n, _ in stack}:
            total[name] += value
    return own, total


def by_runtime(stacks):
    out = collections.Counter()
    for (_, stack), value in stacks.items():
        for name in {n.split("]")[0] for n, _ in stack if n.startswith("[")}:
            out[name] += value
    return out


def near(a, b, tolerance):
    return all(abs(a[k] - b[k]) <= tolerance for k in set(a) | set(b))


def check_json(sxsprof, session, sums):
    """Compares the types of locks, all of which are recorded, with the JSON report: exact."""
    report = json.loads(subprocess.run([sxsprof, "report", "--format", "json", session], check=True, capture_output=True).stdout)
    want = {("[%s] %s (type)" % (t["version"], t["type"]) if t["version"] else "[native] " + t["type"]): (t["waits"], t["wait_ns"]) for t in report.get("locks", [])}
    got = collections.defaultdict(lambda: [0, 0])
    for i, kind in enumerate((("contentions", "count"), ("delay", "nanoseconds"))):
        for (_, stack), value in sums[kind].items():
            got[stack[0][0]][i] += value
    ok = want == {k: tuple(v) for k, v in got.items()}
    print("locks by type as in JSON: %s" % ("equal" if ok and want else "different %s %s" % (want, dict(got))))
    return ok and bool(want)


def compare(pprof_schema, otlp_schema, sxsprof, session, folder, tolerance=0):
    profile = message(pool_of(pprof_schema), PROFILES)
    request = message(pool_of(otlp_schema), REQUEST, OWN_REQUEST)
    got, want = new_sums(), new_sums()
    for path in sorted(glob.glob(folder + "/*.pprof")):
        read_pprof(profile, open(path, "rb").read(), got)
    for path in sorted(glob.glob(folder + "/*.otlp")):
        read_otlp(request, open(path, "rb").read(), got)
    for data in "samples", "alloc", "native", "locks":
        run = subprocess.run([sxsprof, "report", "--format", "pprof", "--data", data, "-o", folder + "/report", session], capture_output=True)
        if run.returncode == 0:
            read_pprof(profile, open(folder + "/report", "rb").read(), want)
    for name in "objects", "space":  # OTLP has names of its own for native memory, and live objects are not pushed
        unit = "count" if name == "objects" else "bytes"
        if ("native_alloc_" + name, unit) in got:
            got["alloc_" + name, unit].update(got.pop(("native_alloc_" + name, unit)))
        want.pop(("inuse_" + name, unit), None)
    fine = set(got) == set(want)
    for kind in want:
        limit = 0 if KINDS.get(kind) != "alloc" else int(tolerance)
        a, b = want[kind], got[kind]
        a_self, a_total = by_function(a)
        b_self, b_total = by_function(b)
        same = near(a, b, limit) and (limit or (a_self == b_self and a_total == b_total and by_runtime(a) == by_runtime(b)))
        fine = fine and bool(same) and sum(a.values()) > 0
        print("%s %s: %s" % (*kind, "equal" if same else "different: %d and %d in %d and %d stacks" % (
            sum(a.values()), sum(b.values()), len(a), len(b))))
        if not same:
            for key in list(k for k in set(a) | set(b) if abs(a[k] - b[k]) > limit)[:3]:
                print("  %s: %d, pushed %d" % (key, a[key], b[key]))
    if ("contentions", "count") in want:
        fine = check_json(sxsprof, session, got) and fine
    print("runtimes: %s" % " ".join(sorted(k[1:] for k in by_runtime(got["cpu", "nanoseconds"]) if k[1:2].isdigit())))
    return 0 if fine else 1


def fields_of(pool):
    """The fields of a request and of everything in it, as (path of names, number, type, repeated)."""
    out, begin = set(), message(pool, REQUEST, OWN_REQUEST).DESCRIPTOR

    def walk(d, path):
        for f in d.fields:
            name = path + "." + f.name
            nested = f.type == f.TYPE_MESSAGE
            out.add((name.lstrip("."), f.number, "message" if nested else descriptor_pb2.FieldDescriptorProto.Type.Name(f.type)[5:].lower(),
                     "repeated" if f.label == f.LABEL_REPEATED else "single"))
            if nested and name.count(".") < 9 and not name.endswith(("array_value", "kvlist_value")):
                walk(f.message_type, name)

    walk(begin, "")
    return out


if sys.argv[1] == "compare":
    sys.exit(compare(*sys.argv[2:]))
fields = sorted(fields_of(pool_of(sys.argv[2])))
if sys.argv[1] == "fields":
    for f in fields:
        print("\t".join(map(str, f)))
else:
    known = {tuple(line.rstrip("\n").split("\t")) for line in open(sys.argv[3]) if line[0] != "#"}
    print(len(fields), *[f for f in fields if tuple(map(str, f)) not in known])
