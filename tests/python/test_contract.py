"""The client against the contract: every call has a method, and parameters and members are neither missing nor extra.

This reads the wheel's classes and the contract's text, not the generator, so that a mistake of the generator shows.
"""
import inspect
import keyword
import re
import sys

import pytest

import provisor
from provisor import requests, schemas
from provisor.calls import CALLS
from provisor.record import class_of
from conftest import ROOT

sys.path.insert(0, str(ROOT / "openapi"))
sys.path.insert(0, str(ROOT / "clients" / "python" / "tools"))
import bundle  # noqa: E402
from methods import HEADER_NAMES, METHODS, PATH_NAMES  # noqa: E402

DOCUMENT = bundle.load()

# Parameters of methods that are none of the contract.
OWN = {"progress", "page_size", "log", "runs", "csv", "body", "trace"}
# Headers that a method makes from what it sends.
MADE = {"X-Log-Source"}
# Set by the method itself, or by another one of the same call.
LEFT_OUT = {"contract_yaml": set(), "operation_events": {"last_event_id"}}


def resolve(node):
    while "$ref" in node:
        found = DOCUMENT
        for part in node["$ref"][2:].split("/"):
            found = found[part.replace("~1", "/")]
        node = {**found, **{k: v for k, v in node.items() if k != "$ref"}}
    return node


def operations():
    for path, item in DOCUMENT["paths"].items():
        for verb, operation in item.items():
            if verb != "parameters":
                yield path, verb.upper(), operation, [resolve(p) | {"_ref": p.get("$ref", "")} for p in item.get("parameters", []) + operation.get("parameters", [])]


OPERATIONS = {operation["operationId"]: (path, verb, operation, parameters) for path, verb, operation, parameters in operations()}


def spelled(name):
    return name + "_" if keyword.iskeyword(name) else name


def test_every_call_has_a_method_and_no_method_has_no_call():
    assert {row.operation for row in METHODS} == set(OPERATIONS) == set(CALLS)
    assert len({row.name for row in METHODS}) == len(METHODS)
    public = {name for name, value in inspect.getmembers(provisor.Client, inspect.isfunction) if not name.startswith("_")}
    beyond = {"close", "wait", "export_lines", "export_to_file"}
    assert public - beyond == {row.name for row in METHODS}


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_call(operation):
    path, verb, about, parameters = OPERATIONS[operation]
    call = CALLS[operation]
    assert (call.method, call.template, call.secured) == (verb, path, about.get("security") != [])
    keyed = any(p["name"] == "Idempotency-Key" for p in parameters)
    assert (call.repeat == "key") == keyed
    if call.repeat == "always":
        computes = {"checkFeasibility", "planStages", "shareCores", "planMemory", "planPigeon", "decideSlot", "planSlots", "summarizeSlowdowns",
                    "decideSpeculation", "planCopies", "previewNameRules", "fitModel", "predictFromModel"}
        assert verb in ("GET", "PUT", "DELETE") or operation in computes or operation == "sampleQuotaLoop", "whose sequence shows a repetition"


def one_object(schema):
    """A body that may be one of several objects as one: it must have what all of them must have."""
    if "oneOf" not in schema or "properties" in schema:
        return schema
    bodies = [resolve(branch) for branch in schema["oneOf"]]
    return {"additionalProperties": any(body["additionalProperties"] for body in bodies),
            "properties": {name: inner for body in bodies for name, inner in body["properties"].items()},
            "required": sorted(set.intersection(*(set(body["required"]) for body in bodies)))}


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_parameters(operation):
    """All methods of a call together have its parameters; each has no other ones and all members of the body."""
    path, verb, about, parameters = OPERATIONS[operation]
    body = resolve(about.get("requestBody", {})).get("content", {}).get("application/json", {}).get("schema")
    schema = one_object(resolve(body)) if body else {}
    members = {spelled(m) for m in schema.get("properties", {})} if schema.get("additionalProperties") is False else set()
    names = set()
    for parameter in parameters:
        if parameter["name"] in MADE:
            continue
        own = HEADER_NAMES.get(parameter["name"], parameter["name"])
        better = PATH_NAMES.get(parameter["_ref"].rsplit("/", 1)[-1], own) if parameter["in"] == "path" else own
        names.add(spelled(own if better in members else better))
    found = set()
    for row in METHODS:
        if row.operation != operation:
            continue
        signature = inspect.signature(getattr(provisor.Client, row.name))
        has = set(signature.parameters) - {"self"} - (OWN - names - members)
        if row.kind != "written":
            assert members <= has, "%s lacks %s" % (row.name, members - has)
            required = {spelled(m) for m in schema.get("required", [])} & members
            assert {n for n in members if signature.parameters[n].default is inspect.Parameter.empty} == required
        assert has <= names | members, "%s has %s, which the contract has not" % (row.name, has - names - members)
        found |= has | set(row.fixed)
    # operation_events always sends the header, which takes precedence over the parameter of the same name.
    assert names - found == set(), "no method has them"


def objects():
    """(name of the class, schema) of the named schemas that a class stands for."""
    for name, schema in DOCUMENT["components"]["schemas"].items():
        if "properties" in schema:
            yield name, schema


@pytest.mark.parametrize("name", [n for n, _ in objects() if n in schemas.TOPICS])
def test_members_of_results(name):
    check_record(class_of(name), DOCUMENT["components"]["schemas"][name])


def parts(schema):
    """The schemas of objects of which a value may be, however many lists and alternatives are around them."""
    schema = resolve(schema)
    if "properties" in schema:
        yield schema
        return
    for key in ("oneOf", "anyOf"):
        for branch in schema.get(key, []):
            yield from parts(branch)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from parts(schema[key])


def check_record(made, schema, seen=None):
    """Members, which of them must be there, which may be null, and the same of what is inside."""
    seen = seen if seen is not None else set()
    if made.__name__ in seen:
        return
    seen.add(made.__name__)
    assert set(made._names.values()) == set(schema["properties"]), made.__name__
    assert made._required == set(schema.get("required", []))
    types = {}
    for base in reversed(made.__mro__):
        types.update(getattr(base, "__annotations__", {}))
    for attribute, member in made._names.items():
        inner = resolve(schema["properties"][member])
        null = "null" in (inner.get("type") or []) or {"type": "null"} in inner.get("oneOf", []) + inner.get("anyOf", []) or None in inner.get("enum", [])
        for branch in inner.get("oneOf", []) + inner.get("anyOf", []):
            null = null or "null" in (resolve(branch).get("type") or [])
        may = null or member not in schema.get("required", [])
        text = types[attribute]
        assert text == "Any" or text.startswith("Optional[") == may, "%s.%s: %s" % (made.__name__, attribute, text)
        wanted = list(parts(inner))
        if wanted:
            found = [class_of(n) for n in re.findall(r"(?:\w+\.)?(\w+)", text) if n in schemas.TOPICS]
            assert len(found) == len(wanted), "%s.%s: %s" % (made.__name__, attribute, text)
            for one, two in zip(found, wanted):
                check_record(one, two, seen)
            assert attribute in made._converters


def test_every_object_of_a_reply_has_a_class():
    missing = set()
    for path, verb, about, _ in operations():
        for response in about["responses"].values():
            for media in resolve(response).get("content", {}).values():
                for schema in (media.get("schema", {}), media.get("schema", {}).get("contentSchema", {})):
                    name = schema.get("$ref", "").rsplit("/", 1)[-1]
                    if name and "properties" in DOCUMENT["components"]["schemas"][name] and name not in schemas.TOPICS:
                        missing.add(name)
    # What Databricks and EMR read comes as text (advise_as).
    assert missing == {"DatabricksCluster", "EmrServerlessJob", "EmrStep"}


def test_members_of_requests():
    checked = 0
    for name, schema in objects():
        made = getattr(requests, name, None)
        if made is None:
            continue
        checked += 1
        assert set(made.__annotations__) == set(schema["properties"]), name
        if all(not keyword.iskeyword(m) for m in schema["properties"]):
            assert made.__required_keys__ == set(schema.get("required", [])), name
    assert checked > 20


def test_methods_are_documented():
    for row in METHODS:
        assert inspect.getdoc(getattr(provisor.Client, row.name)), row.name
