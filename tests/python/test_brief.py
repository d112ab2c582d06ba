"""Results in few words: `repr` is one short line, IPython's terminal gets several; nothing of a reply is fetched or lost for it."""
import json
import pickle

import pytest
from IPython.lib.pretty import pretty

from provisor import schemas
from provisor.brief import LINE_MAX, LINES_MAX
from provisor.pages import Pages
from provisor.record import class_of

ADVICE = {"application": "nightly-etl", "verdict": "met", "reasons": [{"code": "deadline_met", "message": "7 executors finish in time."}],
          "recommendation": {"executors": 7, "predicted_duration_s": 114.84, "interval_s": [96.1, 137.4]}}
HOSTILE = "\u202e a\nb\x1b[31m" + "y" * 300


def test_advice_is_one_line():
    assert repr(class_of("Advice").from_json(ADVICE)) == "<Advice nightly-etl: met, 7 executors, 1 min 55 s (1 min 36 s to 2 min 17 s)>"
    opened = {**ADVICE, "recommendation": {**ADVICE["recommendation"], "executors": 1, "interval_s": [1, None]}}
    assert repr(class_of("Advice").from_json(opened)) == "<Advice nightly-etl: met, 1 executor, 1 min 55 s>"
    unknown = {**ADVICE, "verdict": "unknown", "recommendation": None}
    assert repr(class_of("Advice").from_json(unknown)) == "<Advice nightly-etl: unknown, 1 reason>"


def test_other_records_are_one_line():
    run = schemas.Run.from_json({"id": "r", "application": "etl", "problem_size": 64, "executors": 16, "cores_per_executor": 4, "duration_s": 51.5587,
                                 "succeeded": True})
    assert repr(run) == "<Run etl: 16 executors, 51.56 s, id r, problem size 64, cores per executor 4, succeeded>"
    finding = schemas.Finding(code="few_runs", message="Only 2 runs could be replayed.")
    assert repr(finding) == "<Finding few_runs: Only 2 runs could be replayed.>"


@pytest.mark.parametrize("kind", sorted(schemas.TOPICS))
def test_every_schema_is_short(kind):
    """With the longest and strangest texts that its members may have."""
    made = class_of(kind)
    for value in (HOSTILE, 1.605347e-14, 10**15, True, [HOSTILE] * 500, {}, None):
        record = made.from_json({member: value for member in made._names.values()})
        said = repr(record)
        assert said.startswith("<" + kind) and len(said) <= LINE_MAX and said.isprintable() and "0x" not in said, said


def test_ipython_gets_several_lines():
    text = pretty(class_of("AdviceBatch").from_json({"cluster": "eu-1", "items": [ADVICE] * 100}))
    assert text.split("\n")[0].startswith("<AdviceBatch") and "  <Advice nightly-etl: met, 7 executors" in text
    assert 4 <= len(text.split("\n")) <= LINES_MAX + 1 and max(map(len, text.split("\n"))) <= LINE_MAX + 2


def test_long_lists_show_the_first():
    advice = schemas.Advice.from_json({**ADVICE, "alternatives": [{"executors": n} for n in range(1, 500)]})
    items = advice.alternatives
    assert len(items) == 499 and items == list(items) and isinstance(items, list) and json.dumps([a.executors for a in items])
    assert repr(items).startswith("[<AdviceAlternative: 1 executor>, ") and repr(items).endswith("\N{HORIZONTAL ELLIPSIS} 499 in all]") and len(repr(items)) < 300
    assert pretty(items).split("\n")[-2].strip() == "\N{HORIZONTAL ELLIPSIS} 479 more"
    assert pickle.loads(pickle.dumps(items)) == items
    assert repr(schemas.Advice.from_json({**ADVICE}).reasons) == "[<Finding deadline_met: 7 executors finish in time.>]"


def test_pages_fetch_nothing_to_be_shown():
    asked = []

    def fetch(cursor, size):
        asked.append(cursor)
        return {"items": [{"id": "r"}], "next_cursor": None}

    pages = Pages(fetch, class_of("Run").from_json, None, None, None, "Run", None)
    assert repr(pages) == "<Pages of Run: nothing fetched yet; iterate, list() or to_frame()>" == pretty(pages) and asked == []
    list(pages)
    assert "all pages fetched" in repr(pages) and asked == [None]
