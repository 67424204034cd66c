# SPDX-License-Identifier: MIT
"""json_schema.py - compares JSON documents of the command with the schemas in docs/formats.

json_schema.py FILE...  each file is one document, or has one on each line; prints a line for each file that differs
json_schema.py --lists  compares the list of documents in cmd/output/json_document.h with the schemas, and the schemas
                        with each other: a key has the same type in all of them
"""
import collections, glob, json, os, re, sys
import jsonschema

FOLDER = "docs/formats"
# Keys that may have different types: the version of a document is a number, that of a runtime a text; the data of a page
# of sxsprof serve are not described.
DIFFER = {"version", "data"}


def schemas():
    return {os.path.basename(p)[:-len(".schema.json")]: json.load(open(p, encoding="utf-8"))
            for p in sorted(glob.glob(FOLDER + "/*.schema.json"))}


def keys_of(value):
    if isinstance(value, dict):
        for key, v in value.items():
            yield key
            yield from keys_of(v)
    elif isinstance(value, list):
        for v in value:
            yield from keys_of(v)


def check(document, known):
    """Returns what is wrong with a document; None: nothing."""
    if list(document)[:2] != ["format", "version"]:
        return "it begins with %s, not with format and version" % list(document)[:2]
    name = document["format"][len("sxsprof-"):]
    if document["format"] != "sxsprof-" + name or name not in known:
        return "there is no schema of %s" % document["format"]
    errors = list(jsonschema.Draft202012Validator(known[name]).iter_errors(document))
    if errors:
        return "%s: at %s: %s" % (name, "/".join(str(p) for p in errors[0].absolute_path), errors[0].message[:300])
    shown = {k: v for k, v in document.items() if name != "serve-data" or k != "data"} # the page's own
    odd = [k for k in keys_of(shown) if not re.fullmatch("[a-z][a-z0-9]*(_[a-z0-9]+)*", k)]
    return "%s: these keys are not in snake_case: %s" % (name, odd[:5]) if odd else None


def read(path):
    text = open(path, encoding="utf-8").read()
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


def kind_of(schema):
    for one in schema.get("oneOf", []):
        if one.get("type") != "null":
            return kind_of(one)
    if "const" in schema:
        return "string" if isinstance(schema["const"], str) else "number"
    kinds = schema.get("type", "object" if "$ref" in schema else "any")
    kind = kinds if isinstance(kinds, str) else next(k for k in kinds if k != "null")
    return "number" if kind == "integer" else kind


def compare_lists(known):
    source = open("cmd/output/json_document.h", encoding="utf-8").read()
    written = {name: int(version) for name, version in re.findall(r'X\([A-Z_]+, "([a-z-]+)", (\d+)\)', source)}
    if set(written) != set(known):
        yield "written without a schema: %s; a schema of nothing: %s" % (sorted(set(written) - set(known)),
                                                                          sorted(set(known) - set(written)))
    kinds = collections.defaultdict(lambda: collections.defaultdict(list))
    for name, schema in known.items():
        jsonschema.Draft202012Validator.check_schema(schema)
        if schema["properties"]["version"]["const"] != written.get(name):
            yield "%s: the schema is of another version than what is written" % name
        for part, one in [("", schema), *schema.get("$defs", {}).items()]:
            if one.get("additionalProperties") is not False:
                yield "%s %s: further keys are allowed" % (name, part)
            for key, value in one["properties"].items():
                kinds[key][kind_of(value)].append("%s %s" % (name, part))
    for key, found in kinds.items():
        if len(found) > 1 and key not in DIFFER:
            yield "%s has several types: %s" % (key, dict(found))


known, wrong = schemas(), 0
if sys.argv[1:] == ["--lists"]:
    for line in compare_lists(known):
        print(line)
        wrong = 1
else:
    for path in sys.argv[1:]:
        try:
            problems = [check(document, known) for document in read(path)]
        except (OSError, ValueError) as error:
            problems = [str(error)]
        problem = next((p for p in problems if p), None if problems else "it has no document")
        if problem:
            print("%s: %s" % (os.path.basename(path), problem))
            wrong = 1
sys.exit(wrong)
