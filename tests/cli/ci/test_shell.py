"""clients/ci/shell/provisor-gate by itself, under the shells it may meet."""
import json
import re
import shutil
import subprocess

import pytest

import junit_format
from pipelines import CASES, CI, ROOT, case, machine  # noqa: F401
from ports import free_port

SCRIPT = CI / "shell" / "provisor-gate"
SHELL = {"dash": ["dash"], "bash": ["bash"], "bash as sh": ["bash", "--posix"]}


def variables(inputs):
    return {"PROVISOR_GATE_" + name.upper(): value for name, value in inputs.items()}


class Gate:
    def __init__(self, machine):
        self.machine = machine
        self.directory = machine.workspace / "provisor-gate"

    def __call__(self, inputs, shell=("dash",), system=None, status=0, **more):
        environment = self.machine.environment(system, **{"PROVISOR_URL": self.machine.url, "PROVISOR_TOKEN": self.machine.token,
                                                          **variables(inputs), **more})
        result = subprocess.run([shutil.which(shell[0]), *shell[1:], SCRIPT], cwd=self.machine.workspace, env=environment, text=True, timeout=120,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert status is None or result.returncode == status, result.stdout + result.stderr
        assert "not found" not in result.stderr, result.stderr
        assert self.machine.calls("mkdir"), "every call of a program is noted"
        self.machine.check_no_token(result.stdout, result.stderr)
        return result

    def json(self):
        return json.loads((self.directory / "gate.json").read_text())

    def dotenv(self):
        return dict(line.split("=", 1) for line in (self.directory / "gate.env").read_text().splitlines())


@pytest.fixture
def gate(machine):
    return Gate(machine)


USUAL = {"application": "nightly-etl", "size": "64", "deadline": "90s"}


def test_every_verdict_has_its_status_and_reports(gate, case):
    inputs, status, outcome, verdict = case
    result = gate(inputs, status=status)
    assert "Gate %s\n" % outcome in result.stdout
    answer = gate.json()
    assert (answer["gate"], answer["exit_status"], answer["advice"]["verdict"]) == (outcome, status, verdict)
    values = gate.dotenv()
    assert (values["PROVISOR_GATE"], values["PROVISOR_VERDICT"]) == (outcome, verdict)
    recommendation = answer["advice"]["recommendation"]
    assert values["PROVISOR_EXECUTORS"] == ("" if recommendation is None else str(recommendation["executors"]))
    failures = [name for name, result in junit_format.results(gate.directory / "gate.xml").items() if result == "failure"]
    assert bool(failures) == (outcome in ("failed", "warned"))
    assert (gate.directory / "gate.md").read_text().startswith("## provisor: gate %s\n" % outcome)
    assert not (gate.directory / "gate.annotations").exists(), "which are for GitHub"


@pytest.mark.parametrize("shell", sorted(SHELL))
@pytest.mark.parametrize("name", ["met", "at risk", "missed", "unknown"])
def test_in_every_shell_the_same(gate, shell, name):
    inputs, status, outcome, _ = CASES[name]
    gate({**USUAL, **inputs}, SHELL[shell], status=status)
    assert gate.json()["gate"] == outcome


def test_a_rise_of_cost(gate):
    more = {"arguments": "--min-executors=30\n"}
    gate({**USUAL, **more})
    rise = float(gate.dotenv()["PROVISOR_COST_CHANGE_PERCENT"])
    assert rise > 10
    gate({**USUAL, **more, "max_cost_rise": "%d%%" % (rise + 1)})
    assert junit_format.results(gate.directory / "gate.xml") == {"deadline": "passed", "cost": "passed"}
    result = gate({**USUAL, **more, "max_cost_rise": "%d%%" % (rise - 1)}, status=3)
    assert "cost: FAILED" in result.stdout
    assert junit_format.results(gate.directory / "gate.xml") == {"deadline": "passed", "cost": "failure"}


def test_the_service_is_away(gate):
    away = {"PROVISOR_URL": "http://127.0.0.1:%d" % free_port()}
    result = gate(USUAL, **away)
    assert "warning" in result.stderr and gate.json()["gate"] == "skipped" and gate.json()["advice"] is None
    assert junit_format.results(gate.directory / "gate.xml") == {"deadline": "skipped"}
    gate({**USUAL, "on_unavailable": "closed"}, status=1, **away)
    result = gate({**USUAL, "on_unavailable": "fail"}, status=1, **away)
    assert gate.json()["gate"] == "error" and gate.dotenv()["PROVISOR_GATE"] == "error"
    assert junit_format.results(gate.directory / "gate.xml") == {"deadline": "failure"}
    assert "onnect" in (gate.directory / "gate.md").read_text()


def test_a_wrong_token_is_an_error_unless_it_only_warns(gate):
    result = gate({**USUAL, "on_token_refused": "warn"}, PROVISOR_TOKEN="prv_nothing")
    assert "token" in result.stderr and gate.json()["gate"] == "skipped"
    result = gate({**USUAL, "on_unavailable": "warn"}, status=1, PROVISOR_TOKEN="prv_nothing")
    assert "token" in result.stderr and "prv_nothing" not in result.stdout + result.stderr
    assert gate.json()["gate"] == "error" and "token" in gate.json()["message"]


def test_an_application_without_history(gate):
    result = gate({**USUAL, "application": "never-ran"}, status=5)
    assert "provisor ingest" in result.stderr
    assert gate.json()["gate"] == "failed" and gate.dotenv()["PROVISOR_GATE"] == "failed"
    gate({**USUAL, "application": "never-ran", "allow": "unknown"})
    assert gate.json()["gate"] == "skipped"
    assert junit_format.results(gate.directory / "gate.xml") == {"deadline": "skipped"}


@pytest.mark.parametrize("inputs, words", [
    ({"deadline": "soon"}, "PROVISOR_GATE_DEADLINE: 'soon'"), ({"warn_only": "yes"}, "PROVISOR_GATE_WARN_ONLY"), ({"application": "--warn-only"}, "hyphen"),
    ({"application": None}, "set PROVISOR_GATE_APPLICATION"), ({"request_file": "no-such.json"}, "no-such.json"), ({"program": "no-such-program"}, "no-such-program"),
    ({"on_unavailable": "ajar"}, "PROVISOR_GATE_ON_UNAVAILABLE"), ({"arguments": "--no-such"}, "--no-such"),
    ({"on_missed": "wran"}, "PROVISOR_GATE_ON_MISSED: 'wran' is not one of"), ({"labels": "x"}, "PROVISOR_GATE_LABELS: 'x'"),
    ({"deadline": None}, "give PROVISOR_GATE_DEADLINE=90s, PROVISOR_GATE_MAX_COST_RISE=20% or PROVISOR_GATE_MAX_ERROR=25%; PROVISOR_GATE_NO_DEADLINE=true"),
    # Nothing to decide by: not given, or a variable that somebody misspelt.
    ({"deadline": None}, "neither a deadline nor a limit"), ({"deadline": "none"}, "neither a deadline nor a limit"), ({"deadline": ""}, "PROVISOR_GATE_DEADLINE is empty"),
    ({"deadline": "", "max_cost_rise": "20%"}, "PROVISOR_GATE_DEADLINE is empty"), ({"max_cost_rise": ""}, "PROVISOR_GATE_MAX_COST_RISE is empty"),
    ({"max_error": ""}, "PROVISOR_GATE_MAX_ERROR is empty"), ({"no_deadline": "true"}, "must not be given together"), ({"no_deadline": "yes"}, "PROVISOR_GATE_NO_DEADLINE")])
def test_what_is_wrong_is_said_and_reported(gate, inputs, words):
    result = gate({**USUAL, **inputs}, status=2)
    assert words in result.stderr
    assert gate.json()["gate"] == "error" and gate.json()["exit_status"] == 2 and gate.dotenv() == {"PROVISOR_GATE": "error"}
    assert junit_format.results(gate.directory / "gate.xml") == {"deadline": "failure"}


@pytest.mark.parametrize("inputs", [{"deadline": "", "no_deadline": "true"}, {"deadline": None, "no_deadline": "true"}, {"deadline": None, "max_error": "25%"}])
def test_a_gate_without_a_deadline_has_no_test_of_it(gate, inputs):
    gate({**USUAL, **inputs})
    assert list(junit_format.results(gate.directory / "gate.xml")) == ["history", *(["accuracy"] if "max_error" in inputs else [])]


@pytest.mark.parametrize("inputs, words", [
    ({"apply": "all"}, "PROVISOR_GATE_APPLY all must be"), ({"max_executors": "100000"}, "PROVISOR_GATE_MAX_EXECUTORS=100000 must be from 1 to 1000"),
    ({"cluster": "nowhere"}, "PROVISOR_GATE_CLUSTER nowhere: there is no")])
def test_what_the_service_refuses_is_said_and_reported(gate, inputs, words):
    assert words in gate({**USUAL, **inputs}, status=2).stderr
    assert words in (gate.directory / "gate.md").read_text() and words in (gate.directory / "gate.xml").read_text()


OPTIONS = re.compile(r"--(?!no-such)[a-z][a-z-]*")


@pytest.mark.parametrize("names, says", [("", "PROVISOR_GATE_MAX_EXECUTORS: 'many'"), ("kebab-case", "max-executors: 'many'"),
                                                   ("snake_case", "max_executors: 'many'"), ("camelCase", "maxExecutors: 'many'")])
def test_messages_have_the_names_of_the_inputs(gate, names, says):
    """GitHub's inputs are written otherwise than GitLab's; the options of the command line client are not known to who sets them."""
    assert says in gate({**USUAL, "max_executors": "many", "names": names}, status=2).stderr
    for inputs in ({"deadline": None}, {"deadline": ""}, {"deadline": "20s"}, {"size": "6400"}, {"application": None}, {"tolerance": "x"}, {"confidence": "2"}, {"allow": "all"},
                   {"cluster": "nowhere"}, {"warn_only": "no"}, {"max_cost_rise": ""}):
        result = gate({**USUAL, "names": names, **inputs}, status=None)
        texts = [result.stdout, result.stderr, *(path.read_text() for path in gate.directory.iterdir() if path.name in ("gate.md", "gate.xml", "gate.annotations"))]
        for text in texts:
            assert set(OPTIONS.findall(text)) <= {"--why"} and ("PROVISOR_GATE_" not in text or names == ""), text
    assert {path.name for path in gate.directory.iterdir()} <= {"gate.env", "gate.json", "gate.md", "gate.xml", "gate.annotations"}, "nothing else is left"


def test_reports_of_an_earlier_gate_do_not_stay(gate):
    gate(USUAL)
    gate({**USUAL, "deadline": "soon"}, status=2)
    assert gate.json()["gate"] == "error"


AWKWARD = ["$(touch made)", "`touch made`", "'; touch made; '", '"; touch made; "', "a b\tc", "*", "x\ntouch made", "\\", "$HOME", "%s%n", "ä ✓"]


@pytest.mark.parametrize("shell", sorted(SHELL))
@pytest.mark.parametrize("name", ["application", "size", "deadline", "confidence", "max_cost_rise", "max_error", "max_executors", "cluster", "tolerance", "no_deadline", "on_missed", "on_at_risk", "on_unknown", "on_token_refused",
                                  "allow", "warn_only", "on_unavailable", "request_file", "labels", "arguments", "program", "idempotency_key"])
def test_no_input_is_code(gate, shell, name):
    for text in AWKWARD:
        gate({**USUAL, name: text, "dry_run": "true"}, SHELL[shell], status=None, system="gitlab")
        assert not list(gate.machine.folder.rglob("made")), text
    for words in gate.machine.calls():
        assert words[0] == "gate"


def test_inputs_reach_the_client_as_they_are(gate):
    text = "a 'b' \"c\" $(d) `e` *"
    gate({**USUAL, "cluster": text, "labels": "env:%s, team:x\r\nzone:y" % text, "allow": "at-risk, unknown", "arguments": "--enforce=k=%s\n\n-c\n90%%" % text}, status=None)
    words, = gate.machine.calls()
    assert words[:words.index("-o")] == ["gate", "nightly-etl", "--size=64", "--deadline=90s", "--cluster=" + text, "--label=env:" + text, "--label=team:x",
                                         "--label=zone:y", "--allow=at-risk", "--allow=unknown", "--enforce=k=" + text, "-c", "90%"]


@pytest.mark.parametrize("shell", sorted(SHELL))
def test_a_list_names_no_files(gate, shell):
    (gate.machine.workspace / "file").write_text("")
    gate({**USUAL, "labels": "*", "allow": "*", "arguments": "*\nfil?"}, SHELL[shell], status=None)
    words, = gate.machine.calls()
    assert words[:words.index("-o")] == ["gate", "nightly-etl", "--size=64", "--deadline=90s", "--label=*", "--allow=*", "*", "fil?"]


def test_a_request_as_a_file(gate):
    (gate.machine.workspace / "request.json").write_text(json.dumps({"application": "nightly-etl", "problem_size": 64, "deadline_s": 90}))
    gate({"request_file": "request.json"})
    assert gate.json()["advice"]["deadline_s"] == 90


def test_a_token_that_may_only_read(gate, service):
    gate.machine.token = service.command("token", "create", "--team", "alpha", "--name", "reads", "--scopes", "read").strip()
    assert "PROVISOR_GATE_DRY_RUN=true stores nothing" in gate(USUAL, status=1).stderr
    gate({**USUAL, "dry_run": "true"})
    assert gate.json()["gate"] == "passed"


def key(words):
    found = [w.split("=", 1)[1] for w in words if w.startswith("--idempotency-key=")]
    return found[0] if found else None


@pytest.mark.parametrize("system, begins, attempt", [
    ("github", "github/octo/etl/9876543210/", {"GITHUB_RUN_ATTEMPT": "2"}), ("gitlab", "gitlab/data/etl/", {"CI_JOB_ID": "1234568"}),
    ("jenkins", "jenkins/jenkins-data-etl-PR-7-4", {"BUILD_TAG": "jenkins-data-etl-PR-7-43"})])
def test_a_repeated_build_gets_the_same_advice(gate, system, begins, attempt):
    ids = []
    for inputs, more in ((USUAL, {}), (USUAL, {}), ({**USUAL, "deadline": "91s"}, {}), (USUAL, attempt)):
        gate(inputs, system=system, **more)
        ids.append(gate.json()["advice"]["id"])
    keys = [key(words) for words in gate.machine.calls()]
    assert all(k.startswith(begins) for k in keys)
    assert keys[0] == keys[1] and ids[0] == ids[1]
    assert len(set(keys)) == 3 and len(set(ids)) == 3, "another question, or another attempt, is another advice"


def test_a_request_file_that_differs_is_another_question(gate):
    for deadline in (90, 91):
        (gate.machine.workspace / "request.json").write_text(json.dumps({"application": "nightly-etl", "problem_size": 64, "deadline_s": deadline}))
        gate({"request_file": "request.json"}, system="github")
        assert gate.json()["advice"]["deadline_s"] == deadline


def test_keys_are_what_the_client_takes(gate):
    gate(USUAL, BUILD_TAG='jenkins-"quoted\\' + 400 * "x")
    gate(USUAL, BUILD_TAG='jenkins-"quoted\\' + 400 * "x" + "-2")
    first, second = (key(words) for words in gate.machine.calls())
    assert re.fullmatch(r"[A-Za-z0-9._:/-]{1,250}", first) and first != second
    gate({**USUAL, "idempotency_key": "mine"}, system="github")
    gate(USUAL)
    assert [key(words) for words in gate.machine.calls()[2:]] == ["mine", None]


@pytest.mark.parametrize("fork", [{"CHANGE_FORK": "mona"}, {"PROVISOR_GATE_FORK": "true"},
                                  {"CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "5", "CI_MERGE_REQUEST_PROJECT_ID": "34"}])
def test_a_fork_without_a_token_is_not_gated(gate, fork):
    result = gate(USUAL, PROVISOR_TOKEN=None, **fork)
    assert "fork" in result.stderr and gate.machine.calls() == []
    assert gate.json() == {"gate": "skipped", "exit_status": 0, "message": "The job continues unchecked: a change from a fork gets no token.",
                           "checks": [], "advice": None}
    assert junit_format.results(gate.directory / "gate.xml") == {"deadline": "skipped"}
    gate(USUAL, **fork)
    assert gate.json()["gate"] == "passed", "with one it is"


def test_no_token_and_no_fork_is_an_error(gate):
    result = gate(USUAL, status=None, PROVISOR_TOKEN=None)
    assert result.returncode in (1, 2) and gate.json()["gate"] == "error"


def test_the_token_may_be_in_a_file(gate):
    where = gate.machine.folder.parent / ("token-of-" + gate.machine.folder.name)
    where.write_text(gate.machine.token + "\n")
    gate(USUAL, PROVISOR_TOKEN=None, PROVISOR_TOKEN_FILE=where)
    assert gate.json()["gate"] == "passed"


def test_options_of_the_script_are_options_of_the_client():
    """None was renamed or dropped there."""
    known = set(re.findall(r"--([a-z-]+)=?\"?", (ROOT / "clients/ci/shell/provisor-gate").read_text()))
    sources = "\n".join(p.read_text() for p in (ROOT / "clients/cli/commands").glob("*.c"))
    assert len(known) > 12
    assert {name for name in known if '{"%s"' % name not in sources} <= {"posix"}


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_what_asks_nothing_lets_no_job_go_on(gate, argument):
    gate({**USUAL, "arguments": argument}, status=1)
    assert gate.dotenv()["PROVISOR_GATE"] == "error"


@pytest.mark.parametrize("directory", ["a=b", "-n"])
def test_a_folder_that_reads_as_something_else(gate, directory):
    gate({**USUAL, "directory": directory})
    assert "PROVISOR_GATE=passed" in (gate.machine.workspace / directory / "gate.env").read_text()
