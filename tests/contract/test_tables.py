"""The tables of members in service/codec against the schemas that they are written for: names, types, what is required,
what may be null, bounds and words, of requests and of replies."""
import copy
import os
import pathlib
import re
import subprocess
import sys

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("PROVISOR_BUILD", ROOT / "build")).resolve()
sys.path.append(str(ROOT / "openapi"))
import bundle  # noqa: E402

SCHEMAS = yaml.load(bundle.bundle(), bundle.LOADER)["components"]["schemas"]
TYPES = {"number": "number", "count": "integer", "integer": "integer", "boolean": "boolean", "text": "string",
         "name": "string", "instant": "string", "id": "string", "word": "string", "labels": "object", "object": "object",
         "objects": "array", "range": "array", "words": "array"}


def read_tables(text):
    """[(request, reply, members)]; a member is a dict, its own members under `of`."""
    shapes, stack = [], []
    for line in text.splitlines():
        words = line.split()
        if words[0] == "shape":
            stack = [[]]
            shapes.append((words[1], words[2], stack[0]))
        elif words[0] == "member":
            name, kind, flags, *bounds = words[1:8]
            least, most, low, high = (None if b == "-" else float(b) for b in bounds)
            stack[-1].append({"name": name, "kind": kind, "flags": set(flags) - {"-"}, "least": least, "most": most,
                              "low": low, "high": high, "words": words[8:]})
        elif words[0] == "{":
            stack.append(stack[-1][-1].setdefault("of", []))
        elif words[0] == "}":
            stack.pop()
    return shapes


@pytest.fixture(scope="module")
def shapes():
    out = subprocess.run([str(BUILD / "tests" / "house" / "print_tables")], check=True, text=True, stdout=subprocess.PIPE)
    return read_tables(out.stdout)


def resolve(schema, schemas):
    """The schema without references, and whether it allows null: both spellings of `or null` are one."""
    null = False
    while True:
        if "$ref" in schema:
            found = schemas
            path = schema["$ref"].removeprefix("#/components/schemas/").split("/")
            for key in path:
                found = found[key]
            schema = found
        elif "oneOf" in schema and {"type": "null"} in schema["oneOf"]:
            null = True
            (schema,) = [s for s in schema["oneOf"] if s != {"type": "null"}]
        else:
            break
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    return schema, [k for k in kinds if k != "null"], null or "null" in kinds


def bound_faults(member, schema):
    kind, flags = member["kind"], member["flags"]
    want, found = {}, []
    if kind in ("count", "integer"):
        want = {"minimum": member["least"], "maximum": member["most"]}
    elif kind == "number":
        lower = "exclusiveMinimum" if "a" in flags else "minimum"
        want = {lower: member["low"], "maximum": member["high"]}
    elif kind == "name":
        want = {"minLength": 1, "maxLength": 255}
    elif kind == "text":
        want = {"minLength": member["least"] or None, "maxLength": member["most"]}
    elif kind == "objects":
        want = {"minItems": member["least"] or None, "maxItems": member["most"]}
    elif kind == "words":
        items = resolve(schema["items"], SCHEMAS)[0].get("enum")
        want = {"minItems": member["least"] or None, "maxItems": schema.get("maxItems")}
        found = [] if member["words"] == items and schema.get("uniqueItems") else ["words"]
    elif kind == "range":
        ends = {"kind": "number", "flags": flags, "low": member["low"], "high": member["high"]}
        want = {"minItems": 2, "maxItems": 2}
        found = bound_faults(ends, schema["items"])
    elif kind == "word":
        return [] if member["words"] == [w for w in schema.get("enum", []) if w] else ["words"]
    bounds = ("minimum", "maximum", "exclusiveMinimum", "minLength", "maxLength", "minItems", "maxItems")
    return found + ["%s is %s, the table has %s" % (b, schema.get(b), want.get(b)) for b in bounds
            if want and schema.get(b) != want.get(b)]


def faults(members, schema, schemas, way, path=""):
    """What differs between a table and a schema; way: `request` or `reply`."""
    schema, _, _ = resolve(schema, schemas)
    mine = [m for m in members if ("s" if way == "request" else "w") in m["flags"]]
    found = []
    if {m["name"] for m in mine} != set(schema.get("properties", {})):
        found.append("%s: members %s" % (path, sorted({m["name"] for m in mine} ^ set(schema.get("properties", {})))))
    if schema.get("additionalProperties") is not False:
        found.append("%s: allows members that the table refuses" % path)
    for member in mine:
        name, flags = path + "/" + member["name"], member["flags"]
        if member["name"] not in schema.get("properties", {}):
            continue
        inner, types, null = resolve(schema["properties"][member["name"]], schemas)
        required = "r" in flags if way == "request" else "o" not in flags
        nullable = "n" in flags and (way == "request" or not ("k" in flags or member["kind"] in ("boolean", "labels", "objects", "object")))
        if (member["name"] in schema.get("required", [])) != required:
            found.append("%s: required %s" % (name, required))
        if null != nullable:
            found.append("%s: null %s" % (name, nullable))
        if member["kind"] in TYPES and types != [TYPES[member["kind"]]]:
            found.append("%s: type %s" % (name, TYPES[member["kind"]]))
        if way == "request":
            found += ["%s: %s" % (name, fault) for fault in bound_faults(member, inner)]
            if member["kind"] == "boolean" and inner.get("default") not in (None, "t" in flags):
                found.append("%s: default" % name)
        if member.get("of"):
            part = inner["items"] if member["kind"] == "objects" else inner
            found += faults(member["of"], part, schemas, way, name)
    return found


def all_faults(shapes, schemas):
    found = []
    for request, reply, members in shapes:
        for way, name in (("request", request), ("reply", reply)):
            if name != "-":
                found += ["%s %s" % (name, f) for f in faults(members, schemas[name], schemas, way)]
    return found


def test_tables_are_their_schemas(shapes):
    assert len(shapes) >= 10
    assert all_faults(shapes, SCHEMAS) == []


def test_every_shape_with_a_schema_is_compared(shapes):
    """A shape that names a schema is in the list of print_tables."""
    sources = "\n".join(p.read_text() for p in (ROOT / "service" / "codec").rglob("*.c"))
    named = set(re.findall(r'\.(?:request|reply) = "(\w+)"', sources))
    assert named == {name for request, reply, _ in shapes for name in (request, reply)} - {"-"}


@pytest.mark.parametrize("schema,change", [
    ("ClusterPut", lambda s: s["properties"].pop("slots")),
    ("ClusterPut", lambda s: s["properties"].update(nodes={"type": "integer"})),
    ("ClusterPut", lambda s: s["properties"]["slots"].update(minimum=1)),
    ("ClusterPut", lambda s: s["properties"]["slot_s"].update(minimum=s["properties"]["slot_s"].pop("exclusiveMinimum"))),
    ("ClusterPut", lambda s: s["properties"]["slots"].update(type="integer")),
    ("ClusterPut", lambda s: s["properties"]["slots"].update(type=["number", "null"])),
    ("ClusterPut", lambda s: s.pop("additionalProperties")),
    ("Price", lambda s: s.update(required=["spot_per_executor_hour"])),
    ("Price", lambda s: s["properties"]["per_executor_hour"].pop("maximum")),
    ("Application", lambda s: s["required"].remove("runs")),
    ("Application", lambda s: s["properties"]["retention"]["properties"].pop("days")),
    ("Run", lambda s: s["required"].remove("jobs")),
    ("RunRecord", lambda s: s["properties"]["succeeded"].update(default=False)),
    ("RunRecord", lambda s: s["properties"].pop("nodes_excluded")),
])
def test_a_difference_is_found(shapes, schema, change):
    schemas = copy.deepcopy(SCHEMAS)
    change(schemas[schema])
    assert all_faults(shapes, schemas) != all_faults(shapes, SCHEMAS)
