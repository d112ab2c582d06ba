"""Messages for people: each of the service and of the command line client is listed here and held to what can be
checked without reading it. They count right ("1 run", "2 runs"), write quantities through base/quantity_text.h, and the
text of a fault makes a sentence with the name of its place before it.

    python3 tests/house/test_messages.py      lists them all, to be read
"""
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
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
    "api/clusters/admissions.c": {"bytes"},
    "api/clusters/cluster_samples.c": {"operations"},
    "api/history/profile.c": {"runs"},
    "codec/geo/simulation_workload.c": {"tasks"},
    "codec/scheduling/slots_containers.c": {"sizes"},
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
    "core/scaling/history/history_models.c": {"runs"},
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


# --- all messages ---

# Function: the position of its format.
FAULTS = {"pv_fault": 4, "codec_fault": 2, "codec_fault_member": 3}
FINDINGS = {"finding_add": 2}
FAILURES = {"pv_fail": 2, "fail": 2, "fail_next": 1, "warn": 0}
CALL = re.compile(r"(?<!\w)(%s)\(" % "|".join(sorted({**FAULTS, **FINDINGS, **FAILURES}, key=len, reverse=True)))
MACRO = re.compile(r'"\s*PRI([diux])(?:64|32|MAX)\s*"')


def argument_ends(text, at):
    """Where the arguments of a call end, from the position behind its parenthesis."""
    depth, quote, ends = 1, "", []
    while depth:
        c = text[at]
        if quote:
            at += c == "\\"
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        else:
            depth += (c in "([{") - (c in ")]}")
            if depth == 0 or (c == "," and depth == 1):
                ends.append(at)
        at += 1
    return ends


def messages_of(source):
    """(function, message) of each literal among the formats of the calls in a source; of a choice, each."""
    for call in CALL.finditer(source):
        ends = [call.end() - 1] + argument_ends(source, call.end())
        position = {**FAULTS, **FINDINGS, **FAILURES}[call[1]]
        if position + 1 >= len(ends):
            continue
        written = MACRO.sub(r"ll\1", source[ends[position] + 1:ends[position + 1]])
        for literal in LITERAL.findall(re.sub(r'"\s*"', "", written)):
            if " " in literal:
                yield call[1], literal


def all_messages():
    for folder in (SERVICE, ROOT / "clients" / "cli"):
        for path in sorted(folder.rglob("*.c")):
            for function, message in messages_of(path.read_text()):
                yield str(path.relative_to(ROOT)), function, message


def verbs():
    """What a fault's text may begin with to follow its subject (base/fault_text.c)."""
    source = (SERVICE / "base" / "fault_text.c").read_text()
    return set(re.findall(r'"(\w+)"', re.search(r"verbs\[\] = \{(.*?)\}", source, re.S)[1]))


# Verbs that would stand without a subject: fault_text.c does not know them, so it writes a colon before them.
STRAY_VERB = re.compile(r"(are|asks|belongs|cannot|comes?|could|counts|divides|finds|gives|goes|lacks|leaves|lies|selects|shows|stands|was|were|will)\b")
RULES = {
    "a unit is written as %, through quantity_percent": lambda f, m: re.search(r"\bpercent\b(?!-encod)", m),
    "numbers are written by base/quantity_text.h": lambda f, m: re.search(r"%[-+ #0]*\d*(\.\d+)?[gGeE]", m),
    "the text ends where its sentence ends": lambda f, m: re.search(r"[\s,;]$", m),
    "a sentence of a finding that begins as one ends as one":
        lambda f, m: f in FINDINGS and m[0].isupper() and not re.search(r"([.?!]|%s)$", m),
    "a fault's text follows its subject": lambda f, m: f in FAULTS and STRAY_VERB.match(m),
    "a failure's words have a subject": lambda f, m: f in FAILURES and re.match(r"(is|must|has|needs|may)\b", m),
}


def broken_rules(function, message):
    return [rule for rule, broken in RULES.items() if broken(function, message)]


def test_every_message_keeps_the_rules():
    found = [(path, message, broken_rules(function, message)) for path, function, message in all_messages()]
    assert len(found) > 1000, "the messages are not found any more"
    assert [entry for entry in found if entry[2]] == []


def test_the_verbs_of_faults_are_used():
    first = {message.split()[0] for _, function, message in all_messages() if function in FAULTS}
    assert verbs() <= first, "a verb that no fault begins with"


@pytest.mark.parametrize("source, broken", [
    ('pv_fail(err, PV_E_LIMIT, "it takes %.3g percent");', 2),
    ('finding_add(to, "code", "It takes %s");', 0),
    ('finding_add(to, "code", "It takes long");', 1),
    ('codec_fault(node, "code", "stands beside nodes");', 1),
    ('codec_fault(node, "code", "must be %s", x);', 0),
    ('return fail(failure, EXIT_USAGE, "is empty, ");', 2),
    ('finding_add(to, "code", many ? "Two of %" PRId64 " runs." : "One, of %g.");', 1),
    ('x(pv_fault(err, PV_PLACE_POINTER, "/a", "code", "must be \\"%s\\", or a path", f(1, "x, y")));', 0),
])
def test_a_message_that_breaks_a_rule_is_found(source, broken):
    found = list(messages_of(source))
    assert found and sum(len(broken_rules(*entry)) for entry in found) == broken


if __name__ == "__main__":
    for entry in all_messages():
        print("%s\t%s\t%s" % entry)
