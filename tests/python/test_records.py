"""Results as objects, and values of Python as JSON: without a service."""
import array
import collections
import copy
import dataclasses
import datetime
import json
import pathlib
import pickle
import subprocess
import sys

import pytest

import provisor
from conftest import INSTALLED
from provisor import schemas
from provisor.encode import json_bytes, plain, query_text
from provisor.record import _classes, class_of, instant

UTC = datetime.timezone.utc
ADVICE = {"id": "x", "verdict": "met", "feasible": True, "last_run": None, "model": None, "reasons": [], "warnings": [{"code": "c", "message": "m"}],
          "created_at": "2026-01-05T02:00:00.25Z", "alternatives": [{"executors": 3}],
          "recommendation": {"executors": 4, "cores_per_executor": 2, "interval_s": [1, None]}}


@pytest.mark.parametrize("text, wanted", [
    ("2026-01-05T02:00:00Z", datetime.datetime(2026, 1, 5, 2, tzinfo=UTC)),
    ("2026-01-05t02:00:00.5z", datetime.datetime(2026, 1, 5, 2, 0, 0, 500000, UTC)),
    ("2026-01-05T02:00:00.123456789+01:30", datetime.datetime(2026, 1, 5, 0, 30, 0, 123456, UTC)),
    ("2026-06-30T23:59:60Z", "2026-06-30T23:59:60Z"), ("yesterday", "yesterday"), (7, 7)])
def test_instants(text, wanted):
    assert instant(text) == wanted


def test_a_record_is_a_dataclass_over_its_json():
    advice = schemas.Advice.from_json(ADVICE)
    assert advice.recommendation is advice.recommendation and advice.recommendation.interval_s == [1, None]
    assert isinstance(advice.warnings[0], schemas.Finding) and advice.alternatives[0].executors == 3
    assert dataclasses.is_dataclass(advice) and "verdict" in {f.name for f in dataclasses.fields(advice)} and "verdict" in dir(advice)
    assert advice.stages is None and advice.reply is None and repr(advice) == "<Advice x: met, created at 2026-01-05T02:00:00.25Z, feasible, 1 alternative, 1 warning>"
    changed = advice.to_dict()
    changed["warnings"][0]["code"] = "d"
    assert advice.warnings[0].code == "c" and advice != schemas.Advice.from_json(changed)
    for same in (copy.copy(advice), copy.deepcopy(advice), pickle.loads(pickle.dumps(advice)), schemas.Advice.from_json(json.loads(json.dumps(ADVICE)))):
        assert same == advice and same.created_at == advice.created_at
    with pytest.raises(TypeError, match="unhashable"):
        hash(advice)
    with pytest.raises(AttributeError):
        del advice.verdict
    assert not hasattr(advice.recommendation, "cost") and not hasattr(advice, "no_such_member")


def test_a_record_can_be_made_of_members():
    finding = schemas.Finding(code="c", message="m")
    advice = schemas.Advice(id="x", created_at=datetime.datetime(2026, 1, 5, tzinfo=UTC), warnings=[finding])
    assert advice.to_dict() == {"id": "x", "created_at": "2026-01-05T00:00:00.000000Z", "warnings": [{"code": "c", "message": "m"}]}
    assert advice.warnings == [finding]
    transfer = schemas.CopyPlanSourcesTransfer(from_="eu")  # a word of Python
    assert transfer.from_ == "eu" and transfer.to_dict() == {"from": "eu"}
    with pytest.raises(TypeError, match="has no member verdikt"):
        schemas.Advice(verdikt="met")


def test_secrets_are_not_shown():
    for made in (schemas.TokenCreated(id="x", token="prv_secret"), schemas.WebhookCreated(id="x", secret="whsec_secret")):
        assert "_secret" not in repr(made) and "<hidden>" in repr(made)


def test_a_class_with_methods_takes_the_place_of_the_one_that_is_made():
    before = class_of("Recommendation")
    try:
        class Recommendation(schemas.Recommendation):
            def cores(self):
                return self.executors * self.cores_per_executor

        advice = schemas.Advice.from_json(ADVICE)
        assert isinstance(advice.recommendation, Recommendation) and advice.recommendation.cores() == 8
    finally:
        _classes["Recommendation"] = before
    assert provisor.Operation.__mro__[1] is schemas.Operation


class Scalar:
    """As numpy's."""

    def __init__(self, value):
        self.value = value

    def item(self):
        return self.value


def test_values_as_json():
    finding = schemas.Finding(code="c", message="m")
    local = datetime.datetime(2026, 1, 5, 2, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
    value = {"a": (1, 2.5), "b": Scalar(7), "c": array.array("d", [1, 2]), "d": finding, "e": local, "f": {"x"}, "g": collections.OrderedDict(h=None),
             "i": pathlib.PurePosixPath("/x"), "j": (n for n in (1, 2)), "k": datetime.timedelta(minutes=1)}
    assert json.loads(json_bytes(value)) == {"a": [1, 2.5], "b": 7, "c": [1, 2], "d": {"code": "c", "message": "m"}, "e": "2026-01-05T00:00:00.000000Z",
                                             "f": ["x"], "g": {"h": None}, "i": "/x", "j": [1, 2], "k": 60}
    for bad in (float("nan"), float("inf")):
        with pytest.raises(ValueError):
            json_bytes({"x": bad})
    with pytest.raises(TypeError, match="object cannot be sent as JSON"):
        plain(object())
    names = ["name-%d" % i for i in range(100)]
    assert plain(set(names)) == plain(frozenset(names)) == sorted(names) and plain(dict.fromkeys("ba").keys()) == ["b", "a"]
    with pytest.raises(TypeError):
        plain({"a", 1})
    assert repr(provisor.UNSET) == "UNSET"


def test_values_as_parameters():
    assert query_text({}, {}) == query_text({"a": None}, {"b": None}) == ""
    single = {"a": True, "b": [1, 2.5], "c": "x&y", "d": datetime.datetime(2026, 1, 5, tzinfo=UTC)}
    assert query_text(single, {"label": {"k": "v w"}}) == "?a=true&b=1%2C2.5&c=x%26y&d=2026-01-05T00%3A00%3A00.000000Z&label=k%3Av%20w"
    assert query_text({}, {"label": "k:v"}) == "?label=k%3Av" and query_text({}, {"label": ["a:b", "c:d"]}) == "?label=a%3Ab&label=c%3Ad"


def test_what_names_nothing_is_refused():
    client = provisor.Client("http://127.0.0.1:9", token="x")
    for call in (client.workload, client.delete_workload, client.operation, client.workload_from_runs):
        with pytest.raises(TypeError, match="is None|not iterable|list of applications"):
            call(None)
    for text in ("nightly", b"nightly"):
        with pytest.raises(TypeError, match="a list of applications is needed, not one text"):
            client.workload_from_runs(text)
    with pytest.raises(ValueError, match="is empty"):
        client.workload("")


@pytest.mark.parametrize("first", ["from provisor.schemas.deadlines import Feasibility", "from provisor.schemas import Feasibility", "import provisor.results.deadlines"])
def test_a_result_has_its_methods_whatever_was_imported_before(first):
    program = "import sys; sys.path.insert(0, sys.argv[1])\n%s\nfrom provisor.record import class_of; print(class_of('Feasibility').plot.__module__)" % first
    made = subprocess.run([sys.executable, "-B", "-c", program, str(INSTALLED)], stdout=subprocess.PIPE, text=True, check=True)
    assert made.stdout == "provisor.results.deadlines\n"
