"""Messages for people count right: "1 run", "2 runs"."""
import pathlib
import re

import pytest

SERVICE = pathlib.Path(__file__).resolve().parents[2] / "service"

NUMBER = r"%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z|j)?[diufgeFGE]"
# A number and one or two words, the last one a plural as it stands: a noun behind "%s" or before it has PLURAL.
COUNTED = re.compile(NUMBER + r" ((?:[a-z]+ )?[a-z]+s)\b(?!%s)")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
# Bounds are not of one thing; a factor is "1 times as much".
BOUND = re.compile(r"(at most|may have|more than|longer than|deeper than|less than|window over 2\^|to|text,|within) ?$")
NO_NOUN = re.compile(r"(^| )(times|takes|makes|has|was|is|needs|shows|lies|prices|as|its|ms|this|process|less)$")
# These numbers are 2 or more.
MORE_THAN_ONE = {
    "api/clusters/cluster_samples.c": {"operations"},
    "api/history/profile.c": {"runs"},
    "codec/geo/simulation_workload.c": {"tasks"},
    "command/sample.c": {"event logs", "applications"},
    "compression/blocks.c": {"bytes"},
    "core/advice/advise_explain.c": {"executors"},
    "core/advice/label_group_explain.c": {"label groups"},
    "core/advice/predictor.c": {"runs"},
    "core/advice/unrelated_runs.c": {"runs", "stage graphs"},
    "core/diagnosis/bottleneck.c": {"cores", "tasks"},
    "core/diagnosis/explain.c": {"executor counts"},
    "core/diagnosis/slice.c": {"counts"},
    "core/scaling/experiments/region.c": {"executor counts"},
    "core/scaling/laws/combined.c": {"laws"},
    "core/scaling/laws/configurations.c": {"different pairs"},
    "core/scaling/laws/pooled.c": {"knots", "other sets"},
    "core/scaling/model/describe.c": {"executors"},
    "core/scaling/selection/selection.c": {"kinds"},
    "http/problem.c": {"faults"},
    "http/sweep.c": {"bytes"},
    "ingest/members.c": {"logs"},
}


def miscounted(text):
    """(noun, the message around it) of each number before a plural that stays one for 1."""
    text = re.sub(r'"\s*PRI[diux]64\s*"', "lld", text)
    for literal in LITERAL.findall(re.sub(r'"\s*"', "", text)):
        for match in COUNTED.finditer(literal):
            if not BOUND.search(literal[:match.start()]) and not NO_NOUN.search(match[1]):
                yield match[1], literal


@pytest.mark.parametrize("path", sorted(SERVICE.rglob("*.c")), ids=lambda path: str(path.relative_to(SERVICE)))
def test_nouns_follow_their_number(path):
    allowed = MORE_THAN_ONE.get(str(path.relative_to(SERVICE)), set())
    found = [(noun, message) for noun, message in miscounted(path.read_text()) if noun not in allowed]
    assert not found, "use PLURAL of base/plural.h"


@pytest.mark.parametrize("text, nouns", [
    ('"it has %zu runs"', ["runs"]),
    ('"it has %zu "\n    "stage graphs and %.3g cores"', ["stage graphs", "cores"]),
    ('"%" PRId64 " executors"', ["executors"]),
    ('"%zu run%s, at most %zu tasks, %.3g times as fast"', []),
])
def test_a_plural_that_stays_is_found(text, nouns):
    assert [noun for noun, _ in miscounted(text)] == nouns
