"""advise, gate and submit against the live service and the sample's history."""
import json
import math
import re
import subprocess
import time
import xml.etree.ElementTree

import pytest
import yaml

from conftest import PROVISOR, plain
from stub import problem, stub

MET = ("nightly-etl", "--size", "64", "--deadline", "90s")
AT_RISK = ("nightly-etl", "--size", "64", "--deadline", "60s", "--max-executors", "10")
MISSED = ("nightly-etl", "--size", "64", "--deadline", "20s")
UNKNOWN = ("nightly-etl", "--size", "6400", "--deadline", "90s")
DEARER = ("nightly-etl", "--size", "128", "--deadline", "90s")
NEVER_RAN = ("no-such-application", "--deadline", "90s")


@pytest.fixture(autouse=True)
def with_history(history):
    return history


def advices(history):
    return history.get("/v1/advice?limit=200").json()["items"]


# --- advise ---


def test_advice_is_stored_and_a_dry_run_is_not(cli, history):
    before = len(advices(history))
    made = json.loads(cli("advise", *MET, "-o", "json").out)
    assert made == history.get("/v1/advice/" + made["id"]).json()
    assert len(advices(history)) == before + 1
    cli("advise", *MET, "-n")
    assert len(advices(history)) == before + 1


def test_every_form_of_an_advice(cli, history):
    for form in ("spark-submit", "spark-defaults", "k8s", "databricks", "emr", "markdown"):
        shown = cli("advise", *MET, "--format", form, "-o", "json=kept.json")
        id = json.loads((cli.home / "kept.json").read_text())["id"]
        assert shown.out == history.get("/v1/advice/%s?format=%s" % (id, form)).text.rstrip("\n") + "\n", form
    assert yaml.safe_load(cli("advise", *MET, "-o", "yaml").out)["recommendation"]["executors"] == 6
    header, row = cli("advise", *MET, "-o", "csv").out.splitlines()
    assert dict(zip(header.split(","), row.split(",")))["verdict"] == "met"
    cli("advise", *UNKNOWN, "--format", "spark-submit", status=5)


def test_options_are_members_of_the_request(cli):
    advice = json.loads(cli("advise", "nightly-etl", "-n", "-s", "8GiB", "-d", "1m30s", "-c", "90%", "--objective", "min_time", "--max-executors", "20",
                            "--cores", "2", "--price", "0.5", "--include", "memory", "--enforce", "spark.speculation=false", "-o", "json").out)
    assert (advice["problem_size"], advice["deadline_s"], advice["confidence"], advice["objective"]) == (64, 90, 0.9, "min_time")
    assert advice["recommendation"]["cores_per_executor"] == 2 and advice["recommendation"]["executors"] <= 20
    assert advice["pricing"]["price_per_executor_hour"] == 0.5
    assert "memory" in advice and "spark" in advice and "alternatives" in advice
    assert advice["spark"]["properties"].get("spark.speculation") in (None, "false")


def test_a_request_from_a_file(cli):
    (cli.home / "request.json").write_text(json.dumps({"application": "nightly-etl", "problem_size": 64, "deadline_s": 90}))
    assert json.loads(cli("advise", "--request", "request.json", "-n", "-o", "json").out)["recommendation"]["executors"] == 6
    # A flag wins over the file.
    assert json.loads(cli("advise", "--request", "request.json", "-n", "-d", "20s", "-o", "json").out)["verdict"] == "missed"
    (cli.home / "request.json").write_text("{\n nonsense")
    assert "line 2" in cli("advise", "--request", "request.json", status=2).err


def test_faults_of_the_request_are_named(cli):
    result = cli("advise", *MET, "--confidence", "2", status=2)
    assert "is not a share" in result.err
    result = cli("advise", *MET, "--enforce", "spark.executor.cores=x", "--min-executors", "5", "--max-executors", "2", status=2)
    assert "--min-executors 5 is larger than --max-executors" in result.err


def test_a_token_that_may_only_read(service, make_cli, with_history):
    cli = make_cli(service.base_url, service.token("alpha", "read"))
    assert "--dry-run" in cli("advise", *MET, status=1).err
    cli("advise", *MET, "--dry-run")
    cli("gate", *MET, "--dry-run")


def test_a_change_within_the_tolerance_is_not_proposed(cli, history):
    def asked(tolerance):
        cli("advise", *MET, "--tolerance", tolerance, "-o", "json=kept.json")
        advice = json.loads((cli.home / "kept.json").read_text())
        return advice["recommendation"]["executors"], advice
    before = len(advices(history))
    assert asked("10%")[0] == 6
    executors, advice = asked("60%")
    assert executors == 16 and advice["verdict"] == "met"
    assert "spark.executor.instances" not in [c["key"] for c in advice["spark"]["changes"]]
    assert len(advices(history)) == before + 2  # one each
    assert "within the tolerance" in re.sub(r"\s+", " ", cli("advise", *MET, "--tolerance", "60%").out)
    # What the last run had does not meet the deadline: then the change stands, however small.
    assert json.loads(cli("advise", "nightly-etl", "-s", "128", "-d", "90s", "--tolerance", "100%", "-n", "-o", "json").out)["recommendation"]["executors"] > 16


def test_a_terminal_is_coloured_and_a_pipe_is_not(cli):
    assert "\x1b[32mmet\x1b[0m" in cli.terminal("advise", *MET)
    assert "\x1b[" not in cli.terminal("advise", *MET, env={"NO_COLOR": "1"})
    assert "\x1b[" not in cli.terminal("advise", *MET, env={"TERM": "dumb"})
    assert "\x1b[" not in cli("advise", *MET).out
    assert "\x1b[" in cli("advise", *MET, "--color", "always").out


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_terminal_is_not_overflown(cli, columns):
    shown = plain(cli.terminal("advise", *MET, "--why", columns=columns))
    assert [line for line in shown.splitlines() if len(line) > columns] == []


# --- gate ---


@pytest.mark.parametrize("words, status, outcome", [
    (MET, 0, "passed"), (MISSED, 3, "failed"), (AT_RISK, 4, "failed"), (UNKNOWN, 5, "failed"), (NEVER_RAN, 5, None),
    ((*MET, "--max-cost-rise", "0%"), 0, "passed"), ((*MET, "--max-error", "1%"), 5, "failed"), ((*MET, "--max-error", "10%"), 0, "passed"),
    (("nightly-etl", "-s", "128", "-d", "90s", "--max-cost-rise", "20%"), 3, "failed"),
    (("nightly-etl", "-s", "128", "-d", "90s", "--max-cost-rise", "80%"), 0, "passed"),
    # At risk, and dearer: the graver of both.
    (("nightly-etl", "-s", "64", "-d", "55s", "--max-executors", "24", "-c", "99.9999%", "--max-cost-rise", "0%"), 3, "failed"),
    ((*AT_RISK, "--allow", "at-risk"), 0, "warned"), ((*AT_RISK, "--allow", "unknown"), 4, "failed"), ((*UNKNOWN, "--allow", "unknown"), 0, "warned"),
    ((*MISSED, "--warn-only"), 0, "warned"), ((*MISSED, "--on-missed", "warn"), 0, "warned"), ((*MISSED, "--on-missed", "fail"), 3, "failed"),
    ((*AT_RISK, "--on-at-risk", "warn"), 0, "warned"), ((*AT_RISK, "--on-missed", "warn", "--on-unknown", "warn"), 4, "failed"),
    ((*UNKNOWN, "--on-unknown", "warn"), 0, "warned"), ((*UNKNOWN, "--on-unknown", "fail", "--allow", "unknown"), 0, "warned"),
    # A limit that is passed fails, whatever is done by the verdict.
    ((*MET, "--max-error", "1%", "--on-unknown", "warn"), 5, "failed"), ((*MET, "--max-error", "1%", "--warn-only"), 0, "warned"),
    ((*DEARER, "--max-cost-rise", "20%", "--on-missed", "warn"), 3, "failed"), ((*DEARER, "--max-cost-rise", "20%", "--warn-only"), 0, "warned"),
    # What fails decides, and not what warns.
    ((*AT_RISK, "--on-at-risk", "warn", "--max-error", "1%"), 5, "failed")])
def test_the_exit_status_of_a_gate(cli, words, status, outcome):
    result = cli("gate", *words, "-o", "json", status=status)
    if outcome:
        gate = json.loads(result.out)
        assert gate["gate"] == outcome and gate["exit_status"] == status
        assert gate["advice"]["application"] == "nightly-etl"
        assert {c["result"] for c in gate["checks"]} <= {"passed", "failed", "warned", "skipped"}
        assert ("warned" in {c["result"] for c in gate["checks"]}) >= (outcome == "warned")


def test_a_cost_that_no_count_has_fails_the_gate(cli):
    gate = json.loads(cli("gate", *MET, "--price", "1", "--max-cost", "0.001", "-o", "json", status=3).out)
    assert (gate["gate"], gate["exit_status"], gate["advice"]) == ("failed", 3, None)
    assert "the least cost is " in gate["checks"][0]["message"]


# --- a gate needs a question ---


@pytest.mark.parametrize("words", [("nightly-etl",), ("nightly-etl", "-s", "64"), ("nightly-etl", "--confidence", "99%", "--max-executors", "4"),
                                   ("nightly-etl", "--warn-only"), ("nightly-etl", "--allow", "unknown"), ("nightly-etl", "--tolerance", "10%")])
def test_a_gate_without_a_question_is_an_error(cli, spark, words):
    """It could stop nothing: a typo in a variable would disable it for ever."""
    before = cli("gate", *words, status=2)
    assert "neither a deadline nor a limit" in before.err and "--deadline 90s" in before.err and "--no-deadline" in before.err
    assert "neither a deadline" in cli("submit", "--gate", *words, "--", "spark-submit", "job.jar", status=2).err
    assert not (cli.home / "given").exists()


@pytest.mark.parametrize("words, checks", [
    (("--max-cost-rise", "20%"), ["history", "cost"]), (("--max-error", "25%"), ["history", "accuracy"]), (("--no-deadline",), ["history"]),
    (("--no-deadline", "--max-cost-rise", "20%", "--max-error", "25%"), ["history", "cost", "accuracy"])])
def test_a_gate_without_a_deadline_has_no_check_of_it(cli, words, checks):
    result = cli("gate", "nightly-etl", "-s", "64", *words, "-o", "json", "-o", "junit=gate.xml")
    assert [c["name"] for c in json.loads(result.out)["checks"]] == checks
    suite = xml.etree.ElementTree.parse(cli.home / "gate.xml").getroot().find("testsuite")
    assert [case.get("name") for case in suite] == checks
    gate = json.loads(cli("gate", "nightly-etl", "-s", "6400", *words, "-o", "json", status=5).out)
    assert gate["checks"][0] == {"name": "history", "result": "failed", "message": gate["message"]}


def test_a_deadline_of_the_request_is_a_question(cli):
    def asked(request, *words, status=0):
        (cli.home / "request.json").write_text(json.dumps({"application": "nightly-etl", "problem_size": 64, **request}))
        return cli("gate", "--request", "request.json", *words, status=status)
    asked({"deadline_s": 90})
    asked({"deadline_s": None}, status=2)
    asked({}, status=2)
    asked({"constraints": {"max_cost": 100, "price_per_executor_hour": 1}})
    assert "must not be given together" in asked({"deadline_s": 90}, "--no-deadline", status=2).err
    assert "must not be given together" in cli("gate", *MET, "--no-deadline", status=2).err


@pytest.mark.parametrize("option", ["--deadline", "--max-cost-rise", "--max-error", "--confidence", "--on-missed", "--on-token-refused"])
def test_an_empty_value_is_an_error_that_names_the_option(cli, option):
    for words in ((option + "=",), (option, ""), (option, " ")):
        assert option in cli("gate", "nightly-etl", *words, "--max-cost-rise=20%", status=2).err


@pytest.mark.parametrize("option", ["--max-cost-rise=20%", "--max-error=25%", "--no-deadline", "--warn-only", "--allow=unknown"])
def test_what_limits_a_gate_is_refused_without_one(cli, option):
    result = cli("submit", "nightly-etl", option, "--", "spark-submit", "job.jar", status=2)
    assert "%s is allowed only with --gate" % option.split("=")[0] in result.err


def test_reports_of_a_gate(cli, history):
    result = cli("gate", *AT_RISK, "--max-error", "1%", "-o", "table", "-o", "junit=gate.xml", "-o", "dotenv=gate.env", "-o", "github=notes",
                 "-o", "markdown=summary.md", "-o", "yaml=gate.yaml", status=4)
    assert "Gate failed" in result.out
    suite = xml.etree.ElementTree.parse(cli.home / "gate.xml").getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    assert [case.get("name") for case in suite] == ["deadline", "accuracy"]
    assert all("%" in case.find("failure").get("message") for case in suite)
    env = dict(line.split("=", 1) for line in (cli.home / "gate.env").read_text().splitlines())
    assert env["PROVISOR_VERDICT"] == "at_risk" and env["PROVISOR_GATE"] == "failed" and env["PROVISOR_EXECUTORS"] == "10"
    notes = (cli.home / "notes").read_text().splitlines()
    assert len(notes) == 2 and all(re.fullmatch(r"::error title=provisor%3A (deadline|accuracy) failed::[^\n]*%25[^\n]*", n) for n in notes)
    summary = (cli.home / "summary.md").read_text()
    assert summary.startswith("## provisor: gate failed") and history.get("/v1/advice/%s?format=markdown" % env["PROVISOR_ADVICE_ID"]).text in summary
    assert yaml.safe_load((cli.home / "gate.yaml").read_text())["gate"] == "failed"


@pytest.mark.parametrize("words, status, remedies", [
    (AT_RISK, 4, ["a deadline of DEADLINE", "up to this many executors: MAX_EXECUTORS"]), (MISSED, 3, ["a deadline of DEADLINE"]),
    ((*MISSED, "--on-missed", "warn"), 0, ["a deadline of DEADLINE"]), ((*AT_RISK, "--max-error", "1%"), 4, ["a deadline of DEADLINE"]),
    (UNKNOWN, 5, ["Needed: 1 more run: ", "on 16 executors"])])
def test_what_helps_is_in_every_report(cli, words, status, remedies):
    """A person reads the test report of a merge request, or the annotation, and nothing else."""
    made = json.loads(cli("gate", *words, "-o", "json", "-o", "junit=gate.xml", "-o", "github=notes", "-o", "markdown=summary.md", status=status).out)
    limits = made["advice"].get("remedies", {})
    shortest = limits.get("deadline_s", 0)
    failures = [case.find("failure") for case in xml.etree.ElementTree.parse(cli.home / "gate.xml").getroot().iter("testcase")]
    note = (cli.home / "notes").read_text().splitlines()[0]
    assert [f.text is not None for f in failures] == [True] + [False] * (len(failures) - 1), "only the verdict has remedies"
    for says in remedies:
        says = says.replace("MAX_EXECUTORS", str(limits.get("max_executors"))).replace("DEADLINE", "%.1f s" % (math.ceil(shortest * 10) / 10))
        assert says in failures[0].text and says in note, (says, failures[0].text, note)
    assert ("more run" in failures[0].text) == ("More runs needed" in (cli.home / "summary.md").read_text())


def test_what_helps_without_an_answer_is_in_every_report(cli):
    said = cli("gate", *NEVER_RAN, "-o", "junit=gate.xml", "-o", "github=notes", "-o", "markdown=summary.md", status=5).err.splitlines()[1].strip()
    assert said in xml.etree.ElementTree.parse(cli.home / "gate.xml").getroot().find(".//failure").text
    assert said in (cli.home / "notes").read_text() and said in (cli.home / "summary.md").read_text()


def test_a_name_that_is_markup(cli, history, name):
    evil = name + '<b>&"x"|`'
    history.post("/v1/applications", {"name": evil}, status=201)
    cli("gate", evil, "-d", "90s", "-o", "junit=gate.xml", "-o", "markdown=s.md", status=5)
    case = xml.etree.ElementTree.parse(cli.home / "gate.xml").getroot().find("testsuite/testcase")
    assert case.get("classname") == "provisor." + evil
    assert "<b>" not in (cli.home / "s.md").read_text()


def test_a_service_that_is_away_lets_the_job_go_on_visibly(make_cli):
    cli = make_cli("http://127.0.0.1:9", "prv_x")
    result = cli("gate", *MET, "--retries", 0, "-o", "json")
    assert "warning" in result.err and "continues unchecked" in result.err
    gate = json.loads(result.out)
    assert gate["gate"] == "skipped" and gate["advice"] is None
    for word in ("closed", "fail"):
        assert cli("gate", *MET, "--retries", 0, "--on-unavailable", word, status=1).out == ""
        (cli.home / "config").write_text("[default]\non_unavailable = %s\n" % word)
        cli("gate", *MET, "--retries", 0, "--config", "config", status=1)
    for word in ("open", "warn"):
        cli("gate", *MET, "--retries", 0, "--config", "config", "--on-unavailable", word)
        (cli.home / "other").write_text("[default]\non_unavailable = %s\n" % word)
        cli("gate", *MET, "--retries", 0, "--config", "other")
    (cli.home / "other").write_text("[default]\non_unavailable = ajar\n")
    assert "on_unavailable cannot be 'ajar'" in cli("gate", *MET, "--config", "other", status=2).err


@pytest.mark.parametrize("answer, status, warned, refused", [
    (problem(503, "busy"), 0, 0, 1), (problem(429, "busy"), 0, 0, 1), (problem(401, "no"), 1, 1, 1), (problem(500, "oops"), 1, 1, 1),
    (problem(403, "not yours"), 1, 1, 1)])
def test_what_counts_as_away(make_cli, spark, answer, status, warned, refused):
    """Of a gate, of one that lets a job pass while the service is away, and of one that does not."""
    with stub(answer) as server:
        cli = make_cli(server.url, "prv_x")
        for words, wanted in (((), status), (("--on-unavailable", "warn"), warned), (("--on-unavailable", "fail"), refused)):
            cli("gate", *MET, "--retries", 0, *words, status=wanted)
            cli.env["PATH"] = spark.path
            cli("submit", *MET, "--retries", 0, *words, "--", "spark-submit", "job.jar", status=wanted or 7)


# --- the token ---


def test_a_refused_token_is_an_option(service, make_cli, spark):
    """It fails, of a gate and of a job; `warn` lets the job run as it is. An invalid request fails all the same."""
    cli = make_cli(service.base_url, "prv_wrong")
    cli.env["PATH"] = spark.path
    warn = ("--on-token-refused", "warn")
    for words, status in ((("gate", *MET), 1), (("submit", *MET, "--", "spark-submit", "job.jar"), 1), (("submit", "--gate", *MET, "--", "spark-submit", "job.jar"), 1)):
        assert "PROVISOR_TOKEN" in cli(*words, status=status).err and not (cli.home / "given").exists()
    result = cli("gate", *MET, *warn, "-o", "json")
    assert json.loads(result.out)["gate"] == "skipped" and "the token is not valid" in result.err
    for gate in ((), ("--gate",)):
        result = cli("submit", *gate, *MET, *warn, "--", "spark-submit", "job.jar", status=7)
        assert "runs as it is" in result.err and (cli.home / "given").read_text() == "job.jar\n"
    with stub(problem(422, "a fault")) as server:
        other = make_cli(server.url, "prv_x")
        other("gate", *MET, *warn, status=2)


@pytest.mark.parametrize("where, says", [
    ("variable", "the token is from PROVISOR_TOKEN: set a new one there; `provisor login` does not change it"),
    ("flag", "FILE (--token-file): set a new one there; `provisor login` does not change it"),
    ("file of the environment", "FILE (PROVISOR_TOKEN_FILE): set a new one there; `provisor login` does not change it"),
    ("configuration", "FILE (token_file of the configuration): set a new one there; `provisor login` does not change it"),
    ("login", "the token is from CREDENTIALS: `provisor login` stores another one")])
def test_the_hint_names_the_place_of_the_token(service, make_cli, where, says):
    cli = make_cli()
    file, config, credentials = cli.home / "token", cli.home / "config", cli.home / "credentials"
    config.write_text("[default]\nurl = %s\n" % service.base_url)
    words = ["gate", *MET, "--config", str(config)]
    env = {"PROVISOR_TOKEN": ""}
    if where == "variable":
        env["PROVISOR_TOKEN"] = "prv_wrong"
    elif where == "login":
        credentials.write_text("[default]\nurl = %s\ntoken = prv_wrong\n" % service.base_url)
        credentials.chmod(0o600)
    else:
        file.write_text("prv_wrong\n")
    if where == "flag":
        words += ["--token-file", str(file)]
    elif where == "file of the environment":
        env["PROVISOR_TOKEN_FILE"] = str(file)
    elif where == "configuration":
        config.write_text("[default]\nurl = %s\ntoken_file = %s\n" % (service.base_url, file))
    assert says.replace("FILE", str(file), 1).replace("CREDENTIALS", str(credentials)) in cli(*words, status=1, env=env).err


def test_the_list_of_tokens_marks_what_has_ended_or_ends_soon(service, make_cli):
    cli = make_cli(service.base_url, service.token("alpha", "read,write,admin"))
    ids = {n: json.loads(cli("tokens", "create", "--name", "n%s" % n, "--scopes", "read", *(("--expires", n) if n else ()), "-o", "json").out)["id"]
           for n in (None, "2s", "20h", "30h", "13d", "15d", "16d")}
    cli("tokens", "revoke", ids["16d"])
    time.sleep(2.1)
    rows = [line.split(",") for line in cli("tokens", "-o", "csv", "--limit", 200).out.splitlines()]
    states = {row[rows[0].index("id")]: row[rows[0].index("state")] for row in rows[1:]}
    wanted = {None: "", "2s": "expired", "20h": "ends in less than a day", "30h": "ends in 1 day", "13d": "ends in 12 days", "15d": "", "16d": "revoked"}
    assert {n: states[id] for n, id in ids.items()} == wanted
    items = json.loads(cli("tokens", "-o", "json", "--limit", 200).out)
    assert not [t for t in items if "state" in t], "which is of the table"
    shown = cli.terminal("tokens", "--limit", 200, columns=80)
    assert "expired" in shown and "ends in 12 days" in shown


SOON = "2026-12-12T08:00:00Z"


def ends(answer, instant=SOON):
    status, headers, body = answer
    return status, {**headers, "Provisor-Token-Expires": instant}, body


def test_a_token_that_ends_soon_is_announced_once(make_cli):
    import test_faults
    with stub(ends(test_faults.advice(verdict="met", id="x", deadline_s=90))) as server:
        cli = make_cli(server.url, "prv_x")
        result = cli("gate", "x", "-d", "90s", "--tolerance", "5%", "-o", "json", "-o", "github=notes", "-o", "junit=g.xml", "-o", "dotenv=e", "-o", "markdown=s.md")
        assert result.err.count("warning") == 1 and "the token from PROVISOR_TOKEN ends at %s" % SOON in result.err
        assert json.loads(result.out)["token_expires_at"] == SOON
        assert "::warning title=provisor%%3A token ends soon::The token ends at %s." % SOON in (cli.home / "notes").read_text()
        assert SOON in xml.etree.ElementTree.parse(cli.home / "g.xml").getroot().find("testsuite/system-out").text
        assert "PROVISOR_TOKEN_EXPIRES_AT=%s\n" % SOON in (cli.home / "e").read_text() and SOON in (cli.home / "s.md").read_text()
        assert cli("gate", "x", "-d", "90s", "--quiet", "-o", "dotenv=e").err == "" and SOON in (cli.home / "e").read_text()
    with stub(ends(problem(503, "busy"))) as server:
        assert SOON in make_cli(server.url, "prv_x")("gate", "x", "-d", "90s", "--retries", 0).err


@pytest.mark.parametrize("instant", ["", "soon", "2026-12-12<b>", "::error::x"])
def test_an_end_that_is_no_instant_is_not_repeated(make_cli, instant):
    import test_faults
    with stub(ends(test_faults.advice(verdict="met", id="x", deadline_s=90), instant)) as server:
        result = make_cli(server.url, "prv_x")("gate", "x", "-d", "90s", "-o", "json")
    assert result.err == "" and "token_expires_at" not in json.loads(result.out)


@pytest.mark.parametrize("url, status, says", [
    (None, 1, "PROVISOR_URL is not set"), ("", 1, "PROVISOR_URL is not set"), ("https://HOST", 1, "may not speak TLS"), ("http://HOST/nowhere", 1, "no resource has this path"),
    ("ftp://HOST", 2, "is not the URL of a service"), ("http://127.0.0.1:9", 0, "the job continues unchecked"), ("http://no-host.invalid", 0, "the job continues unchecked")])
def test_a_wrong_address_is_no_service_that_is_away(service, make_cli, spark, url, status, says):
    """The table of docs/pipelines.md."""
    cli = make_cli()
    env = {"PROVISOR_TOKEN": "prv_x", "PATH": spark.path, **({} if url is None else {"PROVISOR_URL": url.replace("HOST", service.base_url.partition("//")[2])})}
    assert says in cli("gate", *MET, "--retries", 0, status=status, env=env).err.replace("\n          ", " ")
    cli("submit", *MET, "--retries", 0, "--", "spark-submit", "job.jar", status=status or 7, env=env)


def test_a_message_without_an_address_says_what_to_set(make_cli):
    """The default is for who tries the service out; a pipeline forgot its variable."""
    err = make_cli()("apps", "--retries", 0, status=1).err
    assert "(the default, because PROVISOR_URL is not set)" in err and "set PROVISOR_URL to the address of the service" in err


# --- submit ---


@pytest.fixture
def spark(cli):
    """A spark-submit that writes what it was given, and ends with 7."""
    path = cli.home / "bin"
    path.mkdir()
    (path / "spark-submit").write_text('#!/bin/sh\nprintf "%s\\n" "$@" > "$HOME/given"\nexit 7\n')
    (path / "spark-submit").chmod(0o755)
    cli.env["PATH"] = "%s:%s" % (path, cli.env["PATH"])
    def given():
        return (cli.home / "given").read_text().splitlines()
    given.path = cli.env["PATH"]
    return given


def test_the_advised_properties_are_put_in(cli, spark, history):
    result = cli("submit", *MET, "--", "spark-submit", "--class", "Main", "job.jar", "--conf", "arg of the job", status=7)
    given = spark()
    assert given[-5:] == ["--class", "Main", "job.jar", "--conf", "arg of the job"]
    conf = dict(given[i + 1].split("=", 1) for i in range(0, given.index("--class"), 2))
    assert conf["spark.executor.instances"] == "6" and conf["spark.executor.cores"] == "4"
    advice = history.get("/v1/advice/" + conf.pop("spark.provisor.adviceId")).json()
    assert advice["spark"]["properties"] == conf
    assert "97.3 %" in result.err and result.out == ""


def test_what_the_caller_sets_stays(cli, spark):
    for words, key, value in [(["--conf", "spark.executor.cores=2"], "spark.executor.cores", "2"), (["--executor-cores", "2"], "spark.executor.cores", "2"),
                              (["--executor-cores=2"], "spark.executor.cores", "2"), (["-c", "spark.executor.instances=3"], "spark.executor.instances", "3"),
                              (["--num-executors", "3"], "spark.executor.instances", "3"), (["--conf=spark.speculation=false"], "spark.speculation", "false")]:
        cli("submit", *MET, "--", "spark-submit", *words, "job.jar", status=7)
        given = spark()
        own = given[len(given) - len(words) - 1:]
        added = dict(w.split("=", 1) for w in given[1:len(given) - len(words) - 1:2])
        assert own == [*words, "job.jar"] and key not in added, given
        if words == ["--executor-cores", "2"]:  # the advice goes with it: as many cores, so more executors
            assert added["spark.executor.instances"] == "12"


@pytest.fixture
def with_instances(history, shared):
    """A job with dynamic allocation, of 1 to 20 executors, and with 10 instances, set where spark-submit cannot unset them."""
    for log in sorted((shared / "cases" / "41-instances-above-max").glob("eventlog*")):
        history.post("/v1/eventlogs", data=log.read_bytes(), status=(200, 201), headers={"Content-Type": "application/octet-stream"})
    return ("da-with-instances", "-d", "120s")


def added_to(given, own):
    return dict(word.split("=", 1) for word in given[1:len(given) - len(own) - 1:2])


def test_instances_are_set_to_the_initial_executors(cli, spark, with_instances):
    cli("submit", *with_instances, "--", "spark-submit", "job.jar", status=7)
    added = added_to(spark(), [])
    assert [added["spark." + key] for key in ("executor.instances", "dynamicAllocation.initialExecutors", "dynamicAllocation.maxExecutors")] == ["2", "2", "2"]


@pytest.mark.parametrize("words, initial", [(["--num-executors", "10"], "10"), (["--num-executors", "10", "--conf", "spark.dynamicAllocation.initialExecutors=12"], "12")])
def test_instances_under_dynamic_allocation_are_initial_executors(cli, spark, with_instances, words, initial):
    own = [*words, "--conf", "spark.dynamicAllocation.enabled=true"]
    cli("submit", *with_instances, "--", "spark-submit", *own, "job.jar", status=7)
    added = added_to(spark(), own)
    assert added["spark.dynamicAllocation.maxExecutors"] == initial and "spark.executor.instances" not in added


@pytest.mark.parametrize("words", [["--num-executors", "3"], ["--num-executors=3"], ["--conf", "spark.executor.instances=3"], ["--num-executors", "3", "--executor-cores", "2"]])
def test_a_job_with_dynamic_allocation_keeps_it(cli, spark, with_instances, words):
    """Spark reads the option as the initial executors if the job's properties enable dynamic allocation."""
    result = cli("submit", *with_instances, "--", "spark-submit", *words, "job.jar", status=7)
    added = added_to(spark(), words)
    assert added["spark.dynamicAllocation.enabled"] == "true" and int(added["spark.dynamicAllocation.maxExecutors"]) >= 3
    assert added["spark.dynamicAllocation.initialExecutors"] == "3" and "the 3 executors that the command sets are the initial ones" in result.err
    for fixed in (["--dynamic-allocation", "false"], []):
        own = [*words, *([] if fixed else ["--conf", "spark.dynamicAllocation.enabled=false"])]
        result = cli("submit", *with_instances, *fixed, "--", "spark-submit", *own, "job.jar", status=7)
        assert "spark.dynamicAllocation.maxExecutors" not in added_to(spark(), own) and "initial ones" not in result.err


def test_the_application_is_that_of_the_command(cli, spark):
    for words in (["--name", "nightly-etl"], ["--name=nightly-etl"], ["--conf", "spark.app.name=nightly-etl"]):
        cli("submit", "-s", 64, "-d", "90s", "--", "nice", "-n", "1", "spark-submit", *words, "job.jar", status=7)
        assert "spark.executor.instances=6" in spark()


def test_a_dry_run_prints_and_stores_nothing(cli, spark, history):
    before = len(advices(history))
    result = cli("submit", "-n", *MET, "--", "spark-submit", "--conf", "spark.x=it's", "job.jar")
    assert "spark.executor.instances=6" in result.out and "adviceId" not in result.out
    assert len(advices(history)) == before and not (cli.home / "given").exists()
    subprocess.run(["sh", "-c", result.out], env=cli.env, check=False)
    assert spark()[-3:] == ["--conf", "spark.x=it's", "job.jar"]


def test_a_gate_before_the_command(cli, spark):
    for words, status in ((MISSED, 3), (AT_RISK, 4), (UNKNOWN, 5), (NEVER_RAN, 5)):
        cli("submit", "--gate", *words, "--", "spark-submit", "job.jar", status=status)
        assert not (cli.home / "given").exists()
    result = cli("submit", *MISSED, "--", "spark-submit", "job.jar", status=7)
    assert "warning" in result.err and spark() == ["job.jar"]  # no count is in time: none is put in
    cli("submit", *AT_RISK, "--", "spark-submit", "job.jar", status=7)
    assert "spark.executor.instances=10" in spark()


def test_what_is_done_can_be_chosen_without_a_gate(cli, spark):
    """The same options as of a gate, with other defaults."""
    for words, option, status in ((MISSED, "--on-missed", 3), (AT_RISK, "--on-at-risk", 4), (UNKNOWN, "--on-unknown", 5), (NEVER_RAN, "--on-unknown", 5)):
        cli("submit", *words, option, "fail", "--", "spark-submit", "job.jar", status=status)
        assert not (cli.home / "given").exists()
        cli("submit", "--gate", *words, option, "warn", "--", "spark-submit", "job.jar", status=7)
        assert spark()[-1] == "job.jar"
        (cli.home / "given").unlink()


def test_no_advice_runs_the_command_as_it_is(cli, spark, make_cli):
    for words in ((), ("--force",), ("--gate", "--on-unknown", "warn")):
        result = cli("submit", *UNKNOWN, *words, "--", "spark-submit", "job.jar", status=7)
        assert spark() == ["job.jar"] and "runs as it is" in result.err and ("--gate would" in result.err) == ("--gate" not in words), "without an id, because no number was advised"
    for env in ({"PROVISOR_URL": "http://127.0.0.1:9"},):
        result = cli("submit", *MET, "--retries", 0, "--", "spark-submit", "job.jar", status=7, env=env)
        assert spark() == ["job.jar"] and "runs as it is" in result.err
        cli("submit", *MET, "--retries", 0, "--on-unavailable", "closed", "--", "spark-submit", "other.jar", status=1, env=env)
        assert spark() == ["job.jar"]


def test_a_command_that_cannot_be_run(cli):
    assert "cannot be run" in cli("submit", *MET, "--", "/nowhere/spark-submit", "job.jar", status=127).err
    (cli.home / "spark-submit").write_text("x")
    cli("submit", *MET, "--", "./spark-submit", "job.jar", status=126)


def test_the_run_is_compared_with_the_advice(cli, spark, history, sample, name):
    """The property of the submitted job is in its event log, by which the run names the advice."""
    cli("submit", *MET, "--", "spark-submit", "job.jar", status=7)
    id = next(w for w in spark() if "adviceId" in w).split("=", 1)[1]
    log = next(p for p in sorted((sample / "nightly-etl").iterdir()) if p.is_file()).read_text()
    assert '"Spark Properties":{' in log
    log = re.sub(r'"Spark Properties":\{', '"Spark Properties":{"spark.provisor.adviceId":"%s",' % id, log, count=1)
    own = re.search(r'"App ID":"([^"]+)"', log)[1]
    log = log.replace(own, own + name[-6:])
    run = history.post("/v1/applications/nightly-etl/eventlogs", data=log.encode(), status=(200, 201), headers={"Content-Type": "application/octet-stream"}).json()
    assert run["advice_id"] == id
    history.delete("/v1/applications/nightly-etl/runs/" + run["id"])  # others count the sample's runs


# --- speed ---


@pytest.mark.release_build
def test_a_gate_is_quick(cli):
    """Under 30 ms in all and 10 of them the client's own; the bound leaves room for a busy machine."""
    best_gate, best_own = 1.0, 1.0
    for _ in range(15):
        began = time.monotonic()
        subprocess.run([PROVISOR, "gate", *MET, "-q", "-n"], env=cli.env, stdout=subprocess.DEVNULL, check=True)
        middle = time.monotonic()
        subprocess.run([PROVISOR, "--version"], env=cli.env, stdout=subprocess.DEVNULL, check=True)
        best_gate, best_own = min(best_gate, middle - began), min(best_own, time.monotonic() - middle)
    assert best_gate < 0.060 and best_own < 0.020, (best_gate, best_own)


def test_environment_of_a_fork(make_cli, service):
    """No secret is there: the variable is set and empty."""
    result = make_cli(service.base_url, PROVISOR_TOKEN="")("gate", *MET, status=1)
    assert "no token was given" in result.err


def test_a_summary_that_cannot_be_had_changes_no_decision(make_cli):
    import test_faults
    met = test_faults.advice(verdict="met", id="x")
    with stub(met, problem(503, "busy")) as server:
        result = make_cli(server.url, "prv_x")("gate", "x", "-d", "90s", "--retries", 0, "-o", "table", "-o", "markdown=s.md", "-o", "dotenv=e")
    assert "Gate passed" in result.out and "not in the summary" in result.err


def test_a_name_that_xml_does_not_have(make_cli):
    import test_faults
    with stub(test_faults.advice(application="bad\uffff\ufffe", id="x")) as server:
        cli = make_cli(server.url, "prv_x")
        cli("gate", "x", "-d", "90s", "-o", "junit=g.xml", status=5)
    assert xml.etree.ElementTree.parse(cli.home / "g.xml").getroot().find("testsuite/testcase").get("classname") == "provisor.bad??"


def test_nothing_of_the_client_is_open_in_the_command(cli, spark):
    (cli.home / "bin" / "spark-submit").write_text('#!/bin/sh\nls -l /proc/self/fd > "$HOME/given"\n')
    cli("submit", *MET, "--", "spark-submit", "job.jar")
    assert "socket:" not in "\n".join(spark())
    assert "standard input" in cli("submit", *MET, "--token-file", "-", "--", "spark-submit", "job.jar", status=2).err


def test_properties_that_are_none(make_cli):
    import test_faults
    with stub(test_faults.advice(verdict="met", id="x", spark={"properties": {"spark.executor.cores": "2", "spark.x y": "1", "a": "2", "spark.z": "1\n2"},
                                                              "changes": []})) as server:
        result = make_cli(server.url, "prv_x")("submit", "x", "-n", "--", "spark-submit", "job.jar")
    assert result.out == "spark-submit --conf spark.executor.cores=2 job.jar\n" and result.err.count("is left out") == 3


def test_closed_descriptors(cli):
    """Words go nowhere, and not into a file that was opened since."""
    for closed in (">&-", "<&- >&- 2>&-"):
        result = subprocess.run(["sh", "-c", "exec '%s' apps -o json %s" % (PROVISOR, closed)], env=cli.env, stderr=subprocess.PIPE, text=True)
        assert result.returncode == 1
