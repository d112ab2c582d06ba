"""Every call of the contract is reachable from the terminal: by a command of its own, or by `provisor call`."""
import csv
import io
import json
import re
import sys

import pytest
import yaml

from conftest import ROOT
from stub import JSON, stub

sys.path.append(str(ROOT / "openapi"))
import bundle  # noqa: E402

CONTRACT = bundle.load()
METHODS = ("get", "post", "put", "patch", "delete")
CALLS = {item[method]["operationId"]: (method.upper(), path, item[method]) for path, item in CONTRACT["paths"].items() for method in METHODS if method in item}
ID = "01a210ce-8c30-7732-99ba-b11b0a9d16ee"
# Words for the placeholders of a usage line, and options without which a command does nothing.
WORDS = {"APPLICATION": "x", "APPLICATION...": "x", "FILE": "body.json", "FORMAT": "pigeon", "PATH...": "body.log"}
OPTIONS = {"admit": ["--cluster", "c", "--cores", "1", "--deadline", "1m"], "admissions extend": ["--until", "1h"],
           "tokens create": ["--name", "n", "--scopes", "read"], "runs correct": ["--size", "1"], "operations cancel": [],
           "price-books put": ["--currency", "EUR"]}
# Calls that a command makes with other words than those its usage needs.
OTHERWISE = {"createAdvice": ["advise", "x"], "ingestEventLog": ["ingest", "body.log", "--application", "x"], "listTeamAccuracy": ["accuracy"], "ingestNamedEventLog": ["ingest", "body.log"],
             "redeliverWebhook": ["webhooks", "redeliver", ID, "--since", "1d"], "redeliverWebhookDelivery": ["webhooks", "redeliver", ID, ID],
             "getRunOfApplication": ["runs", "show", "x", ID], "listRuns": ["runs", "x"], "listAccuracy": ["accuracy", "x"]}


@pytest.fixture(scope="module")
def listed(tmp_path_factory):
    from conftest import Cli
    return {row["operation"]: row for row in json.loads(Cli(tmp_path_factory.mktemp("home"))("call", "--list", "-o", "json").out)}


def test_the_lists_of_calls_are_the_same(listed):
    assert {name: (row["method"], row["path"]) for name, row in listed.items()} == {name: call[:2] for name, call in CALLS.items()}


def test_every_call_has_a_command(listed):
    """A call that is new in the contract gets a row in clients/cli/commands/command_of_call.c."""
    assert [name for name, row in listed.items() if row["command"] is None] == []


def test_the_table_has_no_other_calls():
    source = (ROOT / "clients/cli/commands/command_of_call.c").read_text()
    rows = re.findall(r'^    \{"(\w+)", ', source, re.M)
    assert len(rows) == len(set(rows)) and set(rows) == set(CALLS)


def words_of(cli, command):
    """The words with which a command does something, by its usage."""
    usage = cli(*command.split(), "--help").out.splitlines()[0].removeprefix("Usage: provisor " + command).split()
    return command.split() + [WORDS.get(word, ID) for word in usage if word[0] != "["] + OPTIONS.get(command, [])


def answer_all(handler):
    """What lets every command come to its call: an empty page, a run, an operation that has ended."""
    text = json.dumps({"id": ID, "application": "x", "status": "succeeded", "items": [], "next_cursor": None, "url": "https://x", "token": "prv_x"})
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(text)))
    handler.end_headers()
    handler.wfile.write(text.encode())


BY_COMMAND = [name for name, line in re.findall(r'^    \{"(\w+)", (.*)', (ROOT / "clients/cli/commands/command_of_call.c").read_text(), re.M) if "BY_CALL" not in line]


@pytest.mark.parametrize("operation", BY_COMMAND)
def test_the_command_makes_the_call(make_cli, listed, operation):
    method, path, _ = CALLS[operation]
    with stub(answer_all) as server:
        cli = make_cli(server.url, "prv_x")
        (cli.home / "body.json").write_text('{"jobs": []}')
        (cli.home / "body.log").write_text('{"Event": "SparkListenerLogStart", "Spark Version": "3.5.1"}\n')
        words = OTHERWISE.get(operation) or words_of(cli, listed[operation]["command"])
        if method == "DELETE" and "--yes" in cli(*words, "--help").out:
            words = [*words, "--yes"]
        cli(*words, status=None, timeout=20)
        made = [(asked, where.split("?")[0]) for asked, where, _, _ in server.requests]
    pattern = re.compile(re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(path)))
    assert any(asked == method and pattern.fullmatch(where) for asked, where in made), (words, made)


def examples_of(operation):
    """Bodies that the contract shows."""
    media = CALLS[operation][2]["requestBody"]["content"]["application/json"]
    return [example["value"] for example in media.get("examples", {}).values()] or ([media["example"]] if "example" in media else [])


SHOWN = {"planStages": "stage-plan", "planPigeon": "pigeon-plan", "summarizeSlowdowns": "slowdowns", "simulateControl": "control", "shareCores": "contention",
         "planMemory": "memory", "planCopies": "copies", "fitModel": "models fit", "predictFromModel": "models predict"}


@pytest.mark.parametrize("operation", SHOWN)
def test_a_command_shows_members_that_the_reply_has(cli, client, history, operation):
    """The columns of a table are members of the reply, so that none is empty for a slip of the pen."""
    path, shown = CALLS[operation][1], 0
    for body in examples_of(operation):
        reply = client.post(path, body)
        if reply.status_code != 200:
            continue
        (cli.home / "body.json").write_text(json.dumps(body))
        assert json.loads(cli(*SHOWN[operation].split(), "body.json", "-o", "json").out) == reply.json()
        rows = list(csv.DictReader(io.StringIO(cli(*SHOWN[operation].split(), "body.json", "-o", "csv").out)))
        assert rows and any(rows[0].values())
        markdown = cli(*SHOWN[operation].split(), "body.json", "-o", "markdown").out
        for table in re.findall(r"^\| .*\n\|[-:|]+\n((?:\|.*\n)+)", markdown, re.M):
            cells = [line.strip("|\n").split("|") for line in table.splitlines()]
            assert any(cell.strip() != "-" for row in cells for cell in row), table
        shown += 1
    assert shown


PLAIN = [name for name, (method, path, call) in CALLS.items() if method == "GET" and "{" not in path and "application/json" in
         call["responses"].get("200", {}).get("content", {}) and path.startswith("/v1/")]


@pytest.mark.parametrize("operation", PLAIN)
def test_a_call_is_the_reply(cli, client, history, operation):
    if operation == "listTeams":  # of the operator's team alone
        assert "only the operator's team may do this" in cli("call", operation, status=1).err
        return
    assert json.loads(cli("call", operation).out).keys() == client.get(CALLS[operation][1]).json().keys()


def test_a_call_with_parameters_and_a_body(cli, client, history):
    body = {"application": "nightly-etl", "problem_size": 64, "deadline_s": 90}
    (cli.home / "question.yaml").write_text(yaml.safe_dump(body))
    made = json.loads(cli("call", "createAdvice", "--file", "question.yaml").out)
    assert json.loads(cli("call", "getAdvice", "id=" + made["id"]).out) == client.get("/v1/advice/" + made["id"]).json()
    assert yaml.safe_load(cli("call", "getAdvice", "id=" + made["id"], "fields=verdict", "-o", "yaml").out) == {"verdict": made["verdict"]}
    one = json.loads(cli("call", "listAdvice", "limit=1").out)
    assert len(one["items"]) == 1
    lines = cli("call", "exportRuns", "name=nightly-etl").out.splitlines()
    assert len(lines) == 12 and all(json.loads(line) for line in lines)
    assert cli("call", "getContract").out == client.get("/openapi.yaml").text


def test_a_key_makes_a_repetition_harmless(cli):
    words = ("call", "createAdvice", "Idempotency-Key=\"again\"", "--file", "-")
    body = json.dumps({"application": "nightly-etl", "problem_size": 64, "deadline_s": 90})
    first, second = (json.loads(cli(*words, input=body).out) for _ in range(2))
    assert first["id"] == second["id"]


@pytest.mark.parametrize("words, said", [
    (("getAdvise",), "did you mean getAdvice?"), ((), "needs an operation"), (("getAdvice",), "needs id=VALUE"), (("getAdvice", "id="), "needs id=VALUE"),
    (("getAdvice", "id=x", "nmae=y"), "'nmae=y' is not a PARAMETER=VALUE"), (("listAdvice", "limit"), "its parameters are: "),
    (("listAdvice", "--file", "x"), "takes no body"), (("decideSlot", "--content-type", "text/csv", "--file", "x"), "takes application/json application/x-ndjson"),
    (("deleteApplication", "name=nightly-etl"), "add --yes to do it")])
def test_what_is_no_call(cli, words, said):
    assert said in cli("call", *words, status=2).err


def test_a_segment_is_encoded(make_cli):
    with stub((200, JSON, "{}")) as server:
        make_cli(server.url, "prv_x")("call", "getApplication", "name=a b/../c")
        assert server.requests[0][1] == "/v1/applications/a%20b%2F..%2Fc"


@pytest.mark.parametrize("operation, words", [("getApplication", ["name=a", "name=b"]), ("getApplication", ["name=a", "name=a"]),
                                              ("putCluster", ["name=a", "If-Match=x", "If-Match=y"])])
def test_a_place_that_takes_one_value_is_given_once(cli, operation, words):
    assert "%s is given twice" % words[-1].split("=")[0] in cli("call", operation, *words, status=2).err


@pytest.mark.parametrize("header", ["If-Match", "If-None-Match", "Idempotency-Key", "Prefer"])
def test_a_header_holds_no_line_end(cli, header):
    """It would begin a request of its own."""
    operation = {"If-Match": "putCluster", "If-None-Match": "getCluster", "Idempotency-Key": "createRun", "Prefer": "simulate"}[header]
    for end in ("\r\n", "\n", "\x01"):
        error = cli("call", operation, "%s=x%sX-Other: 1" % (header, end), status=2).err
        assert "must not hold control characters" in error and header in error


def test_changes_of_direction_are_shown_by_their_code(make_cli):
    """To people, in tables and messages; programs read the name as it is."""
    page = '{"items": [{"name": "a\\u202eb", "latest_run": null}], "next_cursor": null}'
    with stub((200, JSON, page)) as server:
        people = make_cli(server.url, "prv_x")("apps").out
        assert "a\\u202eb" in people and "\u202e" not in people
        assert make_cli(server.url, "prv_x")("apps", "--names").out == "a\u202eb\n"
    fault = '{"type": "about:blank", "title": "x", "status": 404, "detail": "there is no application \\"a\\u202eb\\""}'
    with stub((404, {"Content-Type": "application/problem+json"}, fault)) as server:
        error = make_cli(server.url, "prv_x")("apps", status=None).err
        assert "a\\u202eb" in error and "\u202e" not in error
