"""clients/ci/jenkins: the library step and the example, run by Groovy with the steps that they use."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import junit_format
from pipelines import CI, HERE, machine  # noqa: F401
from ports import free_port

USUAL = {"application": "nightly-etl", "size": "64", "deadline": "90s"}
CAMEL = {"max_cost_rise": "maxCostRise", "max_error": "maxError", "max_executors": "maxExecutors", "warn_only": "warnOnly", "dry_run": "dryRun", "no_deadline": "noDeadline"}


def literal(value):
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join(map(literal, value))
    if value is None:
        return "null"
    if isinstance(value, (bool, int)):
        return str(value).lower()
    return "'%s'" % value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")


@pytest.fixture
def build(machine):
    if not shutil.which("groovy"):
        pytest.skip("no groovy")

    def run(inputs=None, jenkinsfile=None, credentials=True, **environment):
        """What a build of a Jenkinsfile that calls the step comes to."""
        file, report = machine.folder / "Jenkinsfile", machine.temp / "report.json"
        if jenkinsfile is None:
            named = {CAMEL.get(k, k): v for k, v in {"url": machine.url, **inputs}.items()}
            jenkinsfile = "return provisorGate(%s)\n" % ", ".join("%s: %s" % (k, literal(v)) for k, v in named.items())
        file.write_text(jenkinsfile)
        java = pathlib.Path(shutil.which("java")).resolve().parents[1]
        env = machine.environment("jenkins", JAVA_HOME=java, CREDENTIAL_PROVISOR_TOKEN=machine.token if credentials else None, **environment)
        # Groovy itself is started with the tools of this machine; the build has only its own.
        env_of_java = {**env, "PATH": os.environ["PATH"], "JAVA_OPTS": "-XX:TieredStopAtLevel=1 -Xshare:auto"}
        program = machine.temp / "run.groovy"
        program.write_text((HERE / "jenkins_pipeline.groovy").read_text())
        result = subprocess.run(["groovy", program, file, CI / "jenkins" / "vars", machine.workspace, report],
                                env={**env_of_java, "BUILD_PATH": env["PATH"]}, text=True, timeout=120, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert result.returncode == 0, result.stdout
        made = json.loads(report.read_text())
        machine.check_no_token(made["console"], result.stdout)
        return made
    run.machine = machine
    return run


def archived(made):
    return next(call for call in made["calls"] if call.startswith("archived"))


def test_verdicts(build):
    for inputs, result, outcome, status, verdict in (
            ({}, "SUCCESS", "passed", 0, "met"),
            ({"deadline": "60s", "max_executors": 10, "unstableStatuses": [4, 5]}, "UNSTABLE", "failed", 4, "at_risk"),
            ({"size": "6400", "unstableStatuses": [5]}, "UNSTABLE", "failed", 5, "unknown"),
            ({"size": "6400", "onUnknown": "warn"}, "UNSTABLE", "warned", 0, "unknown"),
            ({"deadline": "20s", "onMissed": "warn"}, "UNSTABLE", "warned", 0, "missed"),
            ({"deadline": "", "no_deadline": True}, "SUCCESS", "passed", 0, "met"),
            ({"deadline": "20s", "warn_only": True}, "UNSTABLE", "warned", 0, "missed")):
        made = build({**USUAL, **inputs})
        assert made["result"] == result, made
        assert (made["returned"]["gate"], made["returned"]["exitStatus"], made["returned"]["verdict"]) == (outcome, status, verdict)
        assert made["returned"]["executors"] == str((json.loads((build.machine.workspace / "provisor-gate" / "gate.json").read_text())["advice"]["recommendation"] or {}).get("executors", ""))
        assert archived(made) == "archived gate.env gate.json gate.md gate.xml"
        junit_format.results(build.machine.workspace / "provisor-gate" / "gate.xml")


@pytest.mark.parametrize("inputs, status", [({"deadline": "20s"}, 3), ({"deadline": "60s", "max_executors": 10}, 4), ({"size": "6400"}, 5), ({"deadline": ""}, 2), ({"deadline": None}, 2), ({"deadline": "none"}, 2),
                                            ({"arguments": ["--min-executors=30"], "max_cost_rise": "5%"}, 3), ({"deadline": "soon"}, 2)])
def test_what_fails_ends_the_build(build, inputs, status):
    made = build({**USUAL, **inputs})
    assert made["result"] == "FAILURE" and re.search(r"ERROR: provisor: gate (failed|error), exit status %d$" % status, made["console"])
    assert "gate.xml" in archived(made), "reports are kept all the same"


def test_proposals_are_applied_by_request(build):
    def speculates(**inputs):
        assert build({**USUAL, **inputs})["result"] == "SUCCESS"
        return "spark.speculation" in json.loads((build.machine.workspace / "provisor-gate" / "gate.json").read_text())["advice"]["spark"]["properties"]
    assert not speculates() and speculates(apply=["memory", "speculation"]) and speculates(apply="speculation")
    assert "onMissed: 'wran' is not" in build({**USUAL, "onMissed": "wran"})["console"]


def test_the_service_is_away(build):
    url = "http://127.0.0.1:%d" % free_port()
    made = build({**USUAL, "url": url})
    assert made["result"] == "UNSTABLE" and made["returned"]["gate"] == "skipped" and "WARNING: provisor: gate skipped" in made["console"]
    assert build({**USUAL, "url": url, "onUnavailable": "fail"})["result"] == "FAILURE"


def test_a_refused_token(build, service):
    build.machine.token = "prv_wrong"
    assert build(USUAL)["result"] == "FAILURE"
    assert build({**USUAL, "onTokenRefused": "warn"})["result"] == "UNSTABLE"
    build.machine.token = service.command("token", "create", "--team", "alpha", "--name", "ends", "--scopes", "read,write", "--expires-in", "3d").strip()
    made = build(USUAL)
    assert made["result"] == "SUCCESS" and "provisor: WARNING: the token ends at %s" % made["returned"]["tokenExpiresAt"] in made["console"]


def test_a_fork_gets_no_token_and_is_not_gated(build):
    made = build(USUAL, CHANGE_FORK="mona")
    assert made["result"] == "SUCCESS" and made["returned"]["gate"] == "skipped"
    assert "withCredentials" not in made["calls"] and build.machine.calls() == []


def test_without_its_credentials_the_build_ends(build):
    made = build(USUAL, credentials=False)
    assert made["result"] == "FAILURE" and "credentials" in made["console"]


def test_an_unknown_option_is_named(build):
    made = build({**USUAL, "dedline": "1s"})
    assert made["result"] == "FAILURE" and "provisorGate has no option dedline; there are" in made["console"]


def test_no_input_is_code(build):
    text = "$(touch made) `touch made` '; touch made; ' \"; touch made; \" ${PROVISOR_TOKEN}"
    build({**USUAL, "application": text, "labels": ["a:" + text, "b:c"], "cluster": text, "dry_run": True, "arguments": ["--enforce=x=" + text]})
    assert not list(build.machine.folder.rglob("made"))
    words, = build.machine.calls()
    assert words[1] == text and "--label=a:" + text in words and "--label=b:c" in words and "--enforce=x=" + text in words


def test_every_option_is_a_variable_of_the_script():
    """And the README has each of them."""
    source, script = ((CI / path).read_text() for path in ("jenkins/vars/provisorGate.groovy", "shell/provisor-gate"))
    names = re.findall(r"'(\w+)'", re.search(r"List forwarded\(\) \{(.*?)\}", source, re.S)[1])
    assert len(names) > 15
    for name in names:
        assert re.search(r"\$\{PROVISOR_GATE_%s:?-" % re.sub("([A-Z])", r"_\1", name).upper(), script), name
        assert "`%s`" % name in (CI / "jenkins" / "README.md").read_text(), name


def test_the_example_runs(build):
    """With a spark-submit that only writes down its arguments."""
    build.machine.add("spark-submit", "/bin/true")
    text = (CI / "jenkins" / "examples" / "Jenkinsfile").read_text()
    made = build(jenkinsfile=text.replace("https://provisor.example", build.machine.url))
    assert made["result"] == "SUCCESS", made["console"]
    assert build.machine.calls("spark-submit") == [["--num-executors", made["returned"] or "6", "--class", "Main", "job.jar"]]
    made = build(jenkinsfile=text.replace("https://provisor.example", build.machine.url).replace("90s", "20s"))
    assert made["result"] == "FAILURE" and len(build.machine.calls("spark-submit")) == 1, "nothing is submitted"
