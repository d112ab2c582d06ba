"""Rules of the contract's shapes that no linter knows: one type for a name, one envelope of lists, one style of words."""
import collections
import pathlib
import re
import sys

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "openapi"))
import bundle  # noqa: E402

DOCUMENT = bundle.load()

# Members whose name has more than one JSON type (null aside), each with the reason.
UNIONS = {
    "action": {"object", "string"},  # of a decision; of an audit record its name
    "applications": {"array", "number"},  # of a plan; of a size of heaps how many fit
    "candidates": {"array", "number"},  # of models, plans and searches; of a round of a search how many
    "cluster": {"string", "object"},  # GivenCluster: the name of a registered one, or its size
    "completion_over_longest_task": {"number", "object"},  # one percentile; of a class of jobs three
    "completion_s": {"number", "object"},  # of a job; of many jobs their percentiles
    "concurrency": {"array", "number"},  # of a scheduler; of a search the values to try
    "contention": {"object", "boolean"},  # of advice: who meets the deadlines; of a step: whether there is any
    "copies": {"array", "number"},  # of a copy plan; of a simulation how many there were
    "epsilon": {"number", "string"},  # of PingAn: a number or "auto"
    "error": {"object", "string"},  # problem details; of an attempt to deliver an event the words alone
    "executors": {"number", "array"},  # how many; of quota loops and their samples: each of them
    "groups": {"array", "number"},  # groups of workers that are listed; how many; of a search the values to try
    "id": {"string", "number"},  # resources have UUIDs, stages of a run their numbers
    "jobs": {"array", "number"},  # the jobs of a request; of a run how many it had
    "level_count": {"number", "string"},  # of eSplash: how many, or "auto"
    "memory": {"object", "boolean"},  # of advice: of the executors; of a best load: whether memory is its limit
    "met": {"array", "boolean"},  # the jobs that meet their deadlines; of a job whether it does
    "model": {"string", "object"},  # the kind; of advice what the prediction is based on
    "nodes": {"array", "number"},  # of a run or a decision on copies each of them; of a slot plan how many
    "observations": {"array", "number"},  # of a fit's request; of its quality how many there were
    "order": {"array", "string"},  # of a plan of slots the names of jobs; a word
    "overhead": {"number", "string"},  # a share of a task's time; of a job from history how it was found
    "probes_per_task": {"array", "number"},  # of a scheduler; of a search the values to try
    "processing": {"array", "object"},  # a list of speeds of operations; in copy plans also an object by operation
    "progress": {"object", "number"},  # of an operation; of a running job the share that is done
    "queues": {"array", "number"},  # of a scheduler of slots its queues, or how many
    "reserved_share": {"array", "number"},  # of a scheduler; of a search the values to try
    "running": {"array", "number"},  # of advice: jobs beside it; of a memory plan how many start
    "slowdown": {"number", "object"},  # of a job; of many jobs their percentiles
    "speculation": {"string", "object"},  # of a scheduler of slots: which copies it makes; of its outcome what became of them
    "status": {"string", "number"},  # of an operation, a model; of a problem the status of HTTP (RFC 9457)
    "task": {"string", "number"},  # of a copy plan its id; of a schedule its place within the stage
    "tasks": {"array", "number"},  # the tasks; of a stage how many
    "utilization": {"array", "number"},  # of a copy plan by cluster; of a schedule the share
    "weight": {"array", "number", "string"},  # a number; of short tasks to long ones also "infinite"; of a search the values to try
    "weights": {"array", "string"},  # of eSplash two numbers; of a fit how observations are weighted
    "workers": {"array", "number"},  # of quota loops each of them; of a scheduler how many
    "workload": {"object", "string"},  # of workflows to be drawn; the id of a stored one
}
# Words of enumerations that are not in snake_case, as their papers or formats write them.
WORDS = re.compile(r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$")
# Types of events have dots: what it is about, and what became of it.
EVENTS = re.compile(r"^(provisor\.)?[a-z]+\.[a-z]+$")
FOREIGN = {"1.0", "application/json",  # CloudEvents
           "eff-reli", "reli-eff", "eff-eff", "reli-reli", "2mass", "1.5", "1.6", "spark-submit", "spark-defaults", "emr-serverless", "k8s-apache",
           "It", "IIt", "IIIt", "IIIt,1", "IIIt,2", "IVt", "Is", "IIs", "IIIs", "IIIs,1", "IIIs,2", "IVs"}

# Kubernetes names their members.
OF_OTHERS = ("/components/schemas/AdmissionReviewRequest", "/components/schemas/AdmissionReviewAnswer")


def resolve(schema):
    while "$ref" in schema:
        node = DOCUMENT
        for part in schema["$ref"][2:].split("/"):
            node = node[part.replace("~1", "/").replace("~0", "~")]
        schema = node
    return schema


def types_of(schema):
    schema = resolve(schema)
    if "type" in schema:
        declared = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return {"number" if t == "integer" else t for t in declared}
    for key in ("oneOf", "anyOf", "allOf"):
        if key in schema:
            return set().union(*(types_of(inner) for inner in schema[key]))
    for key in ("const", "enum"):
        if key in schema:
            values = schema[key] if key == "enum" else [schema[key]]
            return {"boolean" if isinstance(v, bool) else "string" if isinstance(v, str) else "number" for v in values if v is not None}
    return {"object"} if "properties" in schema else set()


def schemas(node=DOCUMENT, path=""):
    """(path, schema) of every schema of ours, wherever it stands; references are not followed."""
    if path in OF_OTHERS:
        return
    if isinstance(node, dict):
        is_members = path.endswith("/properties")
        if not is_members and ("/components/" in path or "/schema" in path):
            yield path, node
        for key, inner in node.items():
            if is_members or key not in ("example", "examples", "default", "required"):
                yield from schemas(inner, path + "/" + str(key))
    elif isinstance(node, list):
        for i, inner in enumerate(node):
            yield from schemas(inner, path + "/" + str(i))


def members():
    """(name, schema, path) of every member of every object."""
    for path, schema in schemas():
        if not path.endswith("/properties") and isinstance(schema.get("properties"), dict):
            for name, inner in schema["properties"].items():
                yield name, inner, path


def test_a_member_name_has_one_json_type():
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for name, schema, path in members():
        for kind in types_of(schema) - {"null"}:
            found[name][kind].append(path)
    assert len(found) > 300
    wrong = {name: {k: v[:3] for k, v in kinds.items()} for name, kinds in found.items()
             if len(kinds) > 1 and set(kinds) != UNIONS.get(name)}
    assert not wrong, wrong
    assert not {name for name in UNIONS if set(found[name]) != UNIONS[name]}, "of one type by now"


def test_every_list_has_the_same_envelope():
    lists = 0
    for template, item in DOCUMENT["paths"].items():
        get = item.get("get")
        names = {resolve(p)["name"] for p in item.get("parameters", []) + (get or {}).get("parameters", [])}
        if get is None or "cursor" not in names:
            continue
        lists += 1
        assert "limit" in names, template
        reply = resolve(resolve(get["responses"]["200"])["content"]["application/json"]["schema"])
        assert {"items", "next_cursor"} <= set(reply["required"]), template
        assert types_of(reply["properties"]["items"]) == {"array"}, template
        assert reply["properties"]["next_cursor"] == {"$ref": "#/components/schemas/NextCursor"}, template
        assert "Link" in get["responses"]["200"]["headers"], template
    assert lists >= 9
    for path, schema in schemas():
        if isinstance(schema.get("properties"), dict) and "next_cursor" in schema["properties"]:
            assert "items" in schema["properties"], path


def test_words_of_enumerations_are_snake_case():
    seen = set()
    for path, schema in schemas():
        words = schema.get("enum", [schema["const"]] if "const" in schema else [])
        seen |= {w for w in words if isinstance(w, str)}
    assert len(seen) > 100
    assert not {w for w in seen if not WORDS.match(w) and not EVENTS.match(w)} - FOREIGN


def test_problem_types_and_codes_of_faults_are_snake_case():
    with open(ROOT / "docs" / "problems.yaml") as f:
        types = list(yaml.safe_load(f))
    codes = set()
    for source in (ROOT / "service").rglob("*.c"):
        text = source.read_text()
        codes |= set(re.findall(r"codec_fault(?:_member)?\([^;\"]*(?:\"[^\"]*\",\s*)?\"([^\"\s/]+)\",\s*\"", text))
        codes |= set(re.findall(r"pv_fault\(\s*\w+,\s*PV_PLACE_\w+,[^;]*?,\s*\"([^\"\s/]+)\",\s*\"", text))
    assert len(types) > 20 and {"required", "duplicate", "out_of_range", "not_allowed"} <= codes
    assert not [w for w in types + sorted(codes) if not WORDS.match(w)]
    assert "unknown_value" not in codes, "not_allowed is the word"


@pytest.mark.parametrize("shape", [{"type": ["string", "null"]}, {"oneOf": [{"type": "string"}, {"type": "null"}]}, {"const": "x"}])
def test_the_type_of_a_schema_is_found(shape):
    assert types_of(shape) - {"null"} == {"string"}


LISTS_OF_FINDINGS = {"reasons", "warnings", "findings", "causes", "procedure"}


def test_a_finding_has_one_shape():
    """{code, message, evidence?}, wherever something is said about a result."""
    lists = 0
    for name, schema, path in members():
        if name in LISTS_OF_FINDINGS and "/ModelPredictRequest" not in path:
            schema = resolve(schema)
            item = resolve(schema["items"])
            assert "array" in types_of(schema) and set(item["required"]) in ({"code", "message"}, {"code", "message", "evidence"}), path
            assert set(item["properties"]) <= {"code", "message", "evidence"}, path
            lists += 1
    assert lists > 15
    for path, schema in schemas():
        inner = schema.get("properties")
        if path.endswith("/properties") or not isinstance(inner, dict) or not {"code", "message"} <= set(inner):
            continue
        # A simulation's best policy is named along with the finding that says why.
        assert set(inner) <= {"code", "message", "evidence"} or {"name", "margin_percent"} <= set(inner), path
