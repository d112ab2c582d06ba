"""Data frames of results: what becomes of each member, by the contract's own words and by values that are hard to keep."""
import datetime
import json
import pickle
import re
import subprocess
import sys
import tracemalloc
import uuid

import numpy
import pandas
import pytest

import provisor
from provisor import schemas
from provisor.exports import ExportedRuns
from provisor.frames import ENTRIES_MAX, TOGETHER, frame, frame_of
from provisor.pages import Pages
from provisor.record import class_of
from conftest import INSTALLED, ROOT

sys.path.insert(0, str(ROOT / "openapi"))
sys.path.insert(0, str(ROOT / "clients" / "python" / "tools"))
import bundle  # noqa: E402
from methods import METHODS  # noqa: E402

DOCUMENT = bundle.load()
UTC = datetime.timezone.utc
HOSTILE = ["<script>alert(1)</script>", "$x$", "a\x00b", "\ud83d", "\u202eabc", "😀" * 64, "x" * 255, "", "nan", "None", "0", '"', "a.b", "labels.c"]


def run(**members):
    return {"id": "x", "application": "a", "problem_size": 8, "problem_size_given": True, "executors": 4, "cores_per_executor": 2, "duration_s": 9.5,
            "initialization_s": None, "started_at": "2026-01-05T02:00:00.25Z", "recorded_at": "2026-01-05T02:00:10+01:00", "succeeded": True,
            "advice_id": None, "labels": {}, "task_times_summarized": False, "stages": None, **members}


def of(*raws, columns=None, kind="Run"):
    return frame([class_of(kind).from_json(raw) for raw in raws], columns)


def pages(kind, *items, fields=None, size=2):
    """As a service gives them."""
    def fetch(cursor, limit):
        at = int(cursor or 0)
        return {"items": list(items[at:at + size]), "next_cursor": str(at + size) if at + size < len(items) else None}
    return Pages(fetch, class_of(kind).from_json, None, None, None, kind, fields)


def exported(*raws, together=7):
    lines = [json.dumps(raw).encode() for raw in raws]
    return ExportedRuns(iter([lines[at:at + together] for at in range(0, len(lines), together)]))


# --- columns by the contract ---


def resolve(node):
    while "$ref" in node:
        found = DOCUMENT
        for part in node["$ref"][2:].split("/"):
            found = found[part]
        node = {**found, **{k: v for k, v in node.items() if k != "$ref"}}
    return node


def kinds_of(node):
    kinds = node.get("type", [])
    return kinds if isinstance(kinds, list) else [kinds]


def leaves(schema, prefix="", missing=False):
    """(column, type) as documented, from the contract's text."""
    for member, node in schema["properties"].items():
        node, name = resolve(node), prefix + member
        may_miss = missing or member not in schema.get("required", [])
        branches = [resolve(b) for b in node.get("oneOf", node.get("anyOf", []))] if "properties" not in node else []
        if branches:
            may_miss = may_miss or any("null" in kinds_of(b) for b in branches)
            branches = [b for b in branches if kinds_of(b) != ["null"]]
            if all("enum" in b or "const" in b for b in branches):
                node = {"enum": ["of several"]}
            elif len(branches) == 1:
                node = branches[0]
        kinds = kinds_of(node)
        may_miss = may_miss or "null" in kinds or None in node.get("enum", [])
        kind = next((k for k in kinds if k != "null"), None)
        if {True, False} & {value for value in node.get("enum", []) if isinstance(value, bool)} or "const" in node and node["const"] in (True, False):
            kind = "boolean"
        if "properties" in node:
            yield from leaves(node, name + ".", may_miss)
        elif kind != "boolean" and ("enum" in node or "const" in node):
            yield name, "category"
        elif kind == "string" and node.get("format") == "date-time":
            yield name, "datetime64[ns, UTC]"
        elif kind == "object" and {"string", "number"} & set(kinds_of(resolve(node.get("additionalProperties") or {}))):
            continue  # columns of what is there
        else:
            yield name, {"integer": ("int64", "Int64"), "number": ("float64", "float64"), "boolean": ("bool", "boolean"),
                         None: ("object", "object")}.get(kind, ("object", "object"))[may_miss]


def page_schemas():
    """{class: schema} of the items of all lists."""
    named = {row.operation: getattr(provisor.Client, row.name).__annotations__["return"] for row in METHODS if row.kind == "pages"}
    found = {}
    for item in DOCUMENT["paths"].values():
        for operation in item.values():
            if isinstance(operation, dict) and operation.get("operationId") in named:
                page = resolve(resolve(operation["responses"]["200"])["content"]["application/json"]["schema"])
                kind = re.fullmatch(r"Pages\[(?:schemas|results)\.(\w+)\]", named[operation["operationId"]])[1]
                found[kind] = resolve(page["properties"]["items"]["items"])
    return found


SCHEMAS = {**page_schemas(), **{name: DOCUMENT["components"]["schemas"][name] for name in ("RunRecord", "Operation")}}


@pytest.mark.parametrize("kind", sorted(SCHEMAS))
def test_without_items_there_are_the_columns_of_the_contract(kind):
    made = frame_of(kind, [])
    assert len(made) == 0 and {name: str(made.dtypes[name]) for name in made} == dict(leaves(SCHEMAS[kind]))
    assert list(made) == [name for name, _ in leaves(SCHEMAS[kind])]


def test_every_list_has_a_frame(service, history, client, operator):
    client.advise("nightly-etl", deadline_s=90)
    client.create_webhook("https://example.com/hook", ["run.ingested"])
    team = [client.runs("nightly-etl"), client.past_advice(), client.apps(), client.audit(), client.webhooks(), client.clusters(), client.price_books(),
            client.accuracy_items("nightly-etl"), client.team_accuracy_items(), client.operations(), client.tokens(), client.ingestions()]
    for given in [*team, operator.teams()]:
        made = given.to_frame()
        types = dict(leaves(SCHEMAS[given._kind]))
        assert [name for name in made if name in types] == list(types), given._kind
        for name in types:  # a service of this version sends what the contract has
            assert str(made[name].dtype) in ({types[name], "category"} if types[name] == "object" else {types[name]}), (given._kind, name)
        assert len(made) > 0 or given._kind not in ("Run", "Advice", "Application", "AuditRecord", "Webhook", "Token", "Team")


def test_values_are_those_of_the_records(service, history, client):
    runs, made = list(client.runs("nightly-etl")), client.runs("nightly-etl", page_size=3).to_frame()
    assert len(made) == len(runs) > 10
    for name in ("id", "problem_size", "executors", "duration_s", "started_at", "succeeded"):
        assert list(made[name]) == [getattr(each, name) for each in runs]
    advice = list(client.past_advice())
    made = client.past_advice().to_frame(["recommendation.executors", "verdict", "created_at"])
    assert list(made) == ["recommendation.executors", "verdict", "created_at"]
    assert [None if value is pandas.NA else value for value in made["recommendation.executors"]] \
        == [a.recommendation.executors if a.recommendation else None for a in advice]
    lines = [json.loads(line) for line in client.export_lines("nightly-etl")]
    whole = client.export_runs("nightly-etl").to_frame()
    assert list(whole.id) == [line["id"] for line in lines] and "stages" not in whole and not any(name.startswith("spark_properties") for name in whole)
    chosen = client.export_runs("nightly-etl").to_frame(columns=["stages", "spark_properties", "executors"])
    assert list(chosen.stages) == [line["stages"] for line in lines] and list(chosen)[-1] == "executors"
    for key in {key for line in lines for key in line["spark_properties"]}:
        assert list(chosen["spark_properties." + key].astype(object).where(lambda s: s.notna(), None)) == [line["spark_properties"].get(key) for line in lines]


# --- types ---


def test_types_and_nulls():
    made = of(run(), run(executors=None, problem_size=None, started_at=None, application=None, labels={"zone": "b"}), run(executors=0))
    assert list(made.executors) == [4, pandas.NA, 0] and made.executors.dtype == "Int64" and made.executors.sum() == 4
    assert made.problem_size.isna().tolist() == [False, True, False] and made.problem_size.dtype == "float64"
    assert made.succeeded.dtype == bool and made.initialization_s.isna().all() and made.initialization_s.dtype == "float64"
    assert str(made.started_at.dtype) == "datetime64[ns, UTC]" and made.started_at[1] is pandas.NaT
    assert made.started_at[0] == datetime.datetime(2026, 1, 5, 2, 0, 0, 250000, UTC) and made.recorded_at[0] == datetime.datetime(2026, 1, 5, 1, 0, 10, tzinfo=UTC)
    assert made.application.tolist() == ["a", None, "a"] and made["labels.zone"].tolist() == [None, "b", None]


def test_nothing_that_is_required_may_still_be_missing():
    """A service that breaks its word is not corrected to 0 or False."""
    made = of(run(succeeded=None), run())
    assert made.succeeded.dtype == "boolean" and made.succeeded.isna().tolist() == [True, False]


def test_null_objects_are_rows_of_unknown_members():
    made = of({"id": "1", "recommendation": None}, {"id": "2", "recommendation": {"executors": 3, "interval_s": [1, None]}}, kind="Advice")
    assert list(made["recommendation.executors"]) == [pandas.NA, 3] and made["recommendation.executors"].dtype == "Int64"
    assert made["recommendation.interval_s"].tolist() == [None, [1, None]]


def test_texts_of_which_few_differ_are_categories():
    many = of(*[run(id=str(i), application="ab"[i % 2], labels={"branch": "main"} if i % 4 else {}) for i in range(60)])
    assert many.application.dtype == "category" and list(many.application.cat.categories) == ["a", "b"] and many.id.dtype == object
    assert many["labels.branch"].dtype == "category" and many["labels.branch"].isna().sum() == 15 and many.id.tolist() == [str(i) for i in range(60)]
    listed = of({"verdict": "met"}, {"verdict": "a newer one"}, kind="Advice")
    assert listed.verdict.dtype == "category" and listed.verdict.tolist() == ["met", "a newer one"]


def test_many_different_texts():
    made = of(*[run(id=str(i), application="app-%d" % (i % 3000), advice_id=None if i % 2 else str(i)) for i in range(5000)])
    assert made.id.tolist() == [str(i) for i in range(5000)] and made.application.tolist() == ["app-%d" % (i % 3000) for i in range(5000)]
    assert made.advice_id.tolist() == [None if i % 2 else str(i) for i in range(5000)]


@pytest.mark.parametrize("value", [2**53 + 1, 2**63 - 1, -2**63, 2**63, 2**64, -10**30])
def test_integers_are_exact(value):
    made = of(run(executors=1), run(executors=None), run(executors=value))
    assert [None if v is pandas.NA else v for v in made.executors] == [1, None, value]
    assert made.executors.dtype == ("Int64" if -2**63 <= value < 2**63 else object)


def test_numbers_that_no_float_holds():
    assert of(run(duration_s=1.5), run(duration_s=None), run(duration_s=10**400)).duration_s.tolist() == [1.5, None, 10**400]
    assert of(run(duration_s=True)).duration_s.tolist() == [True]  # not 1.0


@pytest.mark.parametrize("text, nanoseconds", [
    ("1969-12-31T23:59:59.999999Z", True), ("1900-01-01T00:00:00+05:30", True), ("1677-09-21T00:12:44Z", True), ("1677-09-21T00:12:43Z", False),
    ("2262-04-11T23:47:16.854775Z", True), ("2262-04-11T23:47:17Z", False), ("9999-12-31T23:59:59.999999Z", False), ("0001-01-01T00:00:00Z", False),
    ("0001-01-01T00:00:00+14:00", False)])
def test_instants_far_away(text, nanoseconds):
    records = [schemas_run.from_json(run(started_at=at)) for schemas_run in [class_of("Run")] for at in ("2026-01-05T02:00:00Z", None, text)]
    made = frame(records).started_at
    assert str(made.dtype) == ("datetime64[ns, UTC]" if nanoseconds else "object")
    assert [None if at is None or at is pandas.NaT else at for at in made] == [record.started_at for record in records]
    assert frame([records[2]]).started_at[0] == records[2].started_at  # by itself too


def test_what_is_no_instant_is_kept():
    made = of(run(started_at="2026-06-30T23:59:60Z"), run(started_at=7), run()).started_at
    assert made.tolist() == ["2026-06-30T23:59:60Z", 7, datetime.datetime(2026, 1, 5, 2, 0, 0, 250000, UTC)]


@pytest.mark.parametrize("member, value", [("executors", "4"), ("executors", 4.5), ("executors", True), ("executors", [4]), ("duration_s", "9"), ("duration_s", {}),
                                           ("succeeded", 1), ("succeeded", "true"), ("application", 7), ("labels", "x"), ("labels", [1]), ("labels", {"a": 7}),
                                           ("stages", {"a": 1}), ("started_at", {})])
def test_what_a_newer_service_may_send(member, value):
    """Values of another type are kept, and so are those of the other rows."""
    before = [run() for _ in range(TOGETHER + 1)]
    made = of(*before, run(**{member: value}), run())
    name = "labels.a" if value == {"a": 7} else member
    assert made[name].tolist()[-2] == (7 if value == {"a": 7} else value)
    assert type(made[name].tolist()[-2]) is (int if value == {"a": 7} else type(value))
    known = of(run())
    if member in known:
        assert made[member].tolist()[0] == made[member].tolist()[-1] == known[member].tolist()[0]


def test_objects_where_something_else_comes():
    made = of({"id": "1", "recommendation": "none"}, {"id": "2", "recommendation": {"executors": 3}}, kind="Advice")
    assert made.recommendation.tolist() == ["none", None] and list(made["recommendation.executors"]) == [pandas.NA, 3]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts(text):
    rows = [run(application=text, labels={text: text, "other": "x"}, advice_id=text) for _ in range(30)]
    made = of(*rows)
    assert made.application.tolist() == made.advice_id.tolist() == made["labels." + text].tolist() == [text] * 30
    alone = of(rows[0])
    assert alone.application[0] == alone["labels." + text][0] == text and repr(made) and pickle.loads(pickle.dumps(made)).equals(made)


# --- free names ---


def test_labels_that_come_later():
    """Their columns begin with unknown values, in whatever piece of the list they appear."""
    made = of(*[run() for _ in range(TOGETHER + 5)], run(labels={"z": "1", "a": "2"}), run(labels=None))
    assert [name for name in made if name.startswith("labels")] == ["labels.a", "labels.z"]
    assert made["labels.z"].notna().sum() == 1 and made["labels.z"].iloc[TOGETHER + 5] == "1"
    assert list(made).index("labels.a") == list(made).index("task_times_summarized") - 2


def test_more_labels_than_can_be_columns():
    rows = [run(labels={"number": str(i), "label-%d" % i: "x"}) for i in range(3 * TOGETHER)]
    made = of(*rows)
    assert made["labels"].tolist() == [row["labels"] for row in rows] and not any(name.startswith("labels.") for name in made)
    chosen = of(*rows, columns=["labels.number", "labels.never"])
    assert chosen["labels.number"].tolist() == [str(i) for i in range(3 * TOGETHER)] and chosen["labels.never"].isna().all()
    assert len(of(run(labels={str(i): "x" for i in range(ENTRIES_MAX)}), columns=["labels"]).columns) == ENTRIES_MAX


# --- what the contract does not know ---


def test_unknown_members_come_behind_the_known_ones():
    made = of(*[run() for _ in range(TOGETHER)], run(newer=[1, {"a": None}], labels={"b": "y"}, **{"labels.b": "not the label"}))
    assert list(made)[-1] == "newer" and made.newer.iloc[-1] == [1, {"a": None}] and made.newer.iloc[0] is None
    assert made["labels.b"].tolist()[-1] == "y" and list(made).count("labels.b") == 1
    inner = of({"id": "1", "recommendation": {"executors": 3, "newer": 1}}, kind="Advice")
    assert inner["recommendation.newer"].tolist() == [1]
    assert of(run(newer=1), columns=["newer", "id"]).newer.tolist() == [1]


def test_what_is_in_a_frame_is_nobody_elses():
    record = class_of("Run").from_json(run(stages=[{"id": 1}]))
    made = frame([record])
    made.stages[0][0]["id"] = 2
    assert record.to_dict()["stages"] == [{"id": 1}]
    made.loc[0, ["executors", "duration_s", "succeeded"]] = [7, 1.0, False]
    made["more"] = made.executors * 2
    assert made.more[0] == 14 and not made.succeeded[0] and len(pandas.concat([made, frame([record])])) == 2


# --- which columns ---


def test_columns_that_are_chosen():
    made = of(run(labels={"b": "1", "a": "2"}), columns=["succeeded", "labels", "id", "succeeded"])
    assert list(made) == ["succeeded", "labels.a", "labels.b", "id"]
    advice = {"id": "1", "recommendation": {"executors": 3}, "model": None}
    assert list(of(advice, columns=["recommendation.executors", "id"], kind="Advice")) == ["recommendation.executors", "id"]
    assert list(of(advice, columns="recommendation", kind="Advice"))[:2] == ["recommendation.executors", "recommendation.cores_per_executor"]
    assert of(run(), run(), columns=[]).shape == (2, 0)
    assert list(frame_of("Run", [], ["executors", "labels.a"])) == ["executors", "labels.a"]


@pytest.mark.parametrize("wrong", ["executor", "executors.x", "recommendation", "stages.id", "labels_", ""])
def test_a_column_that_there_is_not(wrong):
    with pytest.raises(ValueError, match="Run has no member %s$" % wrong):
        of(run(), columns=["id", wrong])
    with pytest.raises(ValueError, match="Run has no member"):
        frame_of("Run", [], [wrong])

    def endless():
        while True:
            yield [json.dumps(run()).encode()] * 1000
    with pytest.raises(ValueError, match="RunRecord has no member %s$" % wrong):
        ExportedRuns(endless()).to_frame([wrong])


def test_fields_are_the_columns(service, history, client):
    made = client.runs("nightly-etl", fields=["duration_s", "executors"]).to_frame()
    assert list(made) == ["executors", "duration_s"] and len(made) > 10
    assert list(client.runs("nightly-etl", fields="id,labels", since="2999-01-01T00:00:00Z").to_frame()) == ["id"]
    given = pages("Advice", {"recommendation": {"executors": 3}}, {"recommendation": None}, {"recommendation": None}, fields=["recommendation.executors"])
    assert list(given.to_frame()) == ["recommendation.executors"]


def test_records_without_members_that_fields_left_out():
    """What was not asked for is no column of unknown values."""
    assert list(of({"id": "1", "recommendation": {"executors": 3}}, {"id": "2", "recommendation": None}, kind="Advice")) \
        == ["id", "recommendation.executors"]


def test_secrets_are_no_columns():
    created = class_of("TokenCreated")
    names = list(frame_of(created, []))
    assert "token" not in names and "id" in names
    assert list(frame_of(created, [], ["token"])) == ["token"]


# --- lists, pages and exports ---


def test_lists_of_records():
    assert frame([]).shape == (0, 0) and list(frame([], ["a", "b"])) == ["a", "b"]
    assert frame(iter([schemas.Finding(code="c", message="m")])).code.tolist() == ["c"]
    with pytest.raises(TypeError, match="a frame of Finding has no place for Run"):
        frame([schemas.Finding(code="c", message="m"), class_of("Run").from_json(run())])
    with pytest.raises(TypeError):
        frame([{"id": 1}])


def test_pages_that_are_left():
    given = pages("Run", *[run(executors=i) for i in range(7)])
    assert next(given).executors == 0
    made = given.to_frame()
    assert made.executors.tolist() == [1, 2, 3, 4, 5, 6] and list(made.index) == list(range(6)) and given.to_frame().empty


def test_an_export():
    raws = [{"id": str(i), "duration_s": i / 2, "executors": i, "labels": {"a": "b"}, "stages": [{"id": 1}], "spark_properties": {"k": "v"}} for i in range(1203)]
    runs = exported(*raws)
    assert [next(runs).id, next(runs).id] == ["0", "1"]
    made = runs.to_frame()
    assert made.executors.tolist() == list(range(2, 1203)) and "stages" not in made and made["labels.a"].dtype == "category"
    assert list(exported(*raws).to_frame(["spark_properties.k", "stages"])) == ["spark_properties.k", "stages"]
    assert exported({"duration_s": 1, "newer": 2}).to_frame(["newer"]).newer.tolist() == [2]
    assert [each.executors for each in exported(*raws)] == list(range(1203))
    assert list(exported().to_frame()) == list(frame_of("RunRecord", [], None).drop(columns="stages")) and list(exported()) == []


@pytest.mark.parametrize("line", [b"<html>", b"[]", b'{"id":1},{"id":2}', b"7", b'{"id":', b'{"id":' + b"[" * 100000 + b"]" * 100000 + b"}"],
                         ids=lambda line: line[:20].decode())
def test_lines_that_are_no_runs(line):
    for use in (list, ExportedRuns.to_frame):
        with pytest.raises(provisor.InvalidReply):
            use(ExportedRuns(iter([[b'{"duration_s": 1}', line]])))


def test_a_frame_gives_up_the_connection_when_it_fails():
    ended = []

    def groups():
        try:
            yield [b'{"duration_s": 1}']
            yield [b"no"]
            yield [b"never"]
        finally:
            ended.append(True)
    with pytest.raises(provisor.InvalidReply):
        ExportedRuns(groups()).to_frame()
    assert ended == [True]


def test_memory_of_an_export():
    """What it takes beside the frame does not grow with the frame."""
    names = list(class_of("RunRecord")._names.values())

    def groups(count):
        for at in range(0, count, 50):
            yield [json.dumps({**dict.fromkeys(names), "id": str(uuid.UUID(int=i)), "duration_s": i / 7, "executors": i % 9, "started_at": "2026-01-05T02:00:00Z",
                               "spark_application_id": "app-%d" % i, "labels": {"branch": "main"}, "warnings": [], "stages": [{"id": 1}]}).encode()
                   for i in range(at, at + 50)]
    ExportedRuns(groups(50)).to_frame()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        made = ExportedRuns(groups(15000)).to_frame()
        most = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert len(made) == 15000 and most < 2 * made.memory_usage(deep=True).sum()


# --- pandas ---


def test_without_pandas(tmp_path):
    """pandas is looked for when a frame is asked for, and what is missing is said."""
    program = ("import sys; sys.path.insert(0, sys.argv[1]); import provisor, provisor.frames\n"
               "try: provisor.frames.frame([])\nexcept ImportError as error: print(error)")
    out = subprocess.run(["/usr/bin/python3", "-I", "-S", "-c", program, INSTALLED], text=True, stdout=subprocess.PIPE, check=True, timeout=60).stdout
    assert "pip install pandas" in out


def test_what_one_does_with_a_frame():
    made = of(*[run(executors=i % 3 + 1, duration_s=float(i), labels={"type": "ab"[i % 2]}) for i in range(40)])
    means = made.groupby(["labels.type", "executors"], observed=True).duration_s.mean()
    assert len(means) == 6 and not made.describe().empty and made.sort_values("started_at").duration_s.sum() == sum(range(40))
    assert numpy.isclose(made.executors.astype(float).corr(made.problem_size.astype(float) + made.executors.astype(float)), 1)
    assert "labels.type" in made.to_csv() and made.drop_duplicates("executors").executors.tolist() == [1, 2, 3]
