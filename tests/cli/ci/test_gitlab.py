"""clients/ci/gitlab: the template's header and job, and its script run as a runner runs it."""
import json
import re

import pytest
import yaml

import junit_format
from gitlab_pipeline import Refused, Template, check_input, dotenv_of, run
from pipelines import CI, case, machine  # noqa: F401
from ports import free_port

FILE = CI / "gitlab" / "templates" / "provisor-gate" / "template.yml"
USUAL = {"image": "example/provisor:1", "application": "nightly-etl", "size": "64", "deadline": "90s"}


def typed(inputs):
    """As a pipeline writes them: truth is no text."""
    return {name: value == "true" if name in ("warn_only", "dry_run", "no_deadline") else value for name, value in inputs.items()}


@pytest.fixture
def pipeline(machine):
    template = Template(FILE.read_text())

    def go(inputs, token=True, inherited=None, settings=None, **environment):
        (name, job), = template.interpolate({**USUAL, **typed(inputs)}).items()
        project = {"PROVISOR_URL": machine.url, "PROVISOR_TOKEN": machine.token if token else None, **(settings or {})}
        made = run(job, machine.environment("gitlab", CI_PROJECT_DIR=machine.workspace, **environment), machine.workspace, inherited,
                   {k: v for k, v in project.items() if v is not None})
        machine.check_no_token(made.log)
        return made
    go.machine = machine
    return go


def test_every_verdict_has_its_status_and_reports(pipeline, case):
    inputs, status, outcome, verdict = case
    made = pipeline(inputs)
    assert (made.exit_status, made.status) == (status, "success" if status == 0 else "failed")
    assert (made.dotenv["PROVISOR_GATE"], made.dotenv["PROVISOR_VERDICT"]) == (outcome, verdict)
    assert ("failure" in junit_format.results(made.junit).values()) == (outcome in ("failed", "warned"))
    assert "::" not in re.sub(r"spark\.\S+", "", made.log), "annotations are GitHub's"


def test_proposals_are_applied_by_request(pipeline):
    def speculates(**inputs):
        assert pipeline(inputs).status == "success"
        return "spark.speculation" in json.loads((pipeline.machine.workspace / "provisor-gate" / "gate.json").read_text())["advice"]["spark"]["properties"]
    assert not speculates() and speculates(apply="memory,speculation")
    assert "apply nonsense must be one of" in pipeline({"apply": "nonsense"}).log


def test_a_rise_of_cost(pipeline):
    made = pipeline({"max_cost_rise": "5%"}, inherited={"PROVISOR_GATE_ARGUMENTS": "--min-executors=30"})
    assert made.status == "failed" and made.exit_status == 3 and float(made.dotenv["PROVISOR_COST_CHANGE_PERCENT"]) > 5


@pytest.mark.parametrize("codes, status", [([5], "failed"), ([4, 5], "warning"), ([255], "failed")])
def test_which_statuses_only_warn_is_an_input(pipeline, codes, status):
    assert pipeline({"deadline": "60s", "max_executors": "10", "allow_failure_exit_codes": codes}).status == status


def test_the_service_is_away(pipeline):
    away = {"PROVISOR_URL": "http://127.0.0.1:%d" % free_port()}
    made = pipeline({}, settings=away)
    assert made.status == "success" and made.dotenv["PROVISOR_GATE"] == "skipped" and "warning" in made.log
    assert junit_format.results(made.junit) == {"deadline": "skipped"}
    assert pipeline({"on_unavailable": "closed"}, settings=away).status == "failed"
    made = pipeline({"on_unavailable": "fail"}, settings=away)
    assert made.status == "failed" and made.exit_status == 1 and made.dotenv["PROVISOR_GATE"] == "error"


def test_a_wrong_token(pipeline):
    made = pipeline({}, settings={"PROVISOR_TOKEN": "prv_wrong"})
    assert made.status == "failed" and made.exit_status == 1 and "token" in made.log and "prv_wrong" not in made.log
    made = pipeline({"on_token_refused": "warn"}, settings={"PROVISOR_TOKEN": "prv_wrong"})
    assert made.status == "success" and made.dotenv["PROVISOR_GATE"] == "skipped" and "token" in made.log


@pytest.mark.parametrize("inputs, inherited, words", [
    ({"deadline": "none"}, {}, "give deadline=90s, max_cost_rise=20%"), ({"deadline": ""}, {}, " deadline is empty"),
    ({"deadline": "", "max_cost_rise": "20%"}, {}, " deadline is empty"), ({"max_cost_rise": ""}, {}, " max_cost_rise is empty"),
    ({}, {"PROVISOR_GATE_DEADLINE": ""}, " deadline is empty")])
def test_a_gate_without_a_question_is_an_error(pipeline, inputs, inherited, words):
    """An input that was left out has its default, one that is empty was meant to hold something."""
    made = pipeline(inputs, inherited=inherited)
    assert made.status == "failed" and made.exit_status == 2 and words in made.log and made.dotenv == {"PROVISOR_GATE": "error"}


def test_inputs_that_are_left_out_are_no_question():
    (_, job), = Template(FILE.read_text()).interpolate({"image": "example/provisor:1", "application": "nightly-etl"}).items()
    for limit in ("DEADLINE", "MAX_COST_RISE", "MAX_ERROR"):
        assert job["variables"]["PROVISOR_GATE_" + limit]["value"] == "none"


def test_a_fork_without_a_token(pipeline):
    made = pipeline({}, token=False, CI_MERGE_REQUEST_SOURCE_PROJECT_ID="5")
    assert made.status == "success" and made.dotenv == {"PROVISOR_GATE": "skipped"} and pipeline.machine.calls() == []
    assert pipeline({}, token=False).status == "failed", "in the project itself it is an error"


def test_an_earlier_job_gives_the_size(pipeline):
    made = pipeline({}, inherited={"PROVISOR_GATE_SIZE": "6400"})
    assert made.exit_status == 5 and made.status == "failed"


def test_reports_and_inputs_do_not_meet(pipeline):
    """The report of a gate is inherited by the next gate, which must ask its own question."""
    first = pipeline({"deadline": "20s"})
    assert pipeline({}, inherited=first.dotenv).dotenv["PROVISOR_GATE"] == "passed"


@pytest.mark.parametrize("name", ["application", "size", "deadline", "confidence", "max_cost_rise", "max_error", "max_executors", "cluster", "labels", "tolerance",
                                  "request_file"])
def test_no_input_is_code(pipeline, name):
    for text in ("$(touch made)", "`touch made`", '"; touch made; "', "$PROVISOR_TOKEN", "${PROVISOR_TOKEN}", "# x", "{a: b}", "- x", "*", "\\", "a: b"):
        made = pipeline({name: text, "dry_run": "true"})
        assert not list(pipeline.machine.folder.rglob("made"))
        assert "begins with a hyphen" in made.log if (name, text) == ("application", "- x") else text in " ".join(pipeline.machine.calls()[-1]), "it arrived as it is"
    for text in ("'; touch made; '", "x'\n  script: [touch made]\n  stage: 'x", "a\nb", "a\r"):
        with pytest.raises(Refused):
            pipeline({name: text})


@pytest.mark.parametrize("inputs", [{"warn_only": "perhaps"}, {"allow": "missed"}, {"on_unavailable": "ajar"}, {"on_missed": "skip"}, {"on_token_refused": "open"}, {"no_deadline": "true"}, {"no_such": "x"}, {"image": "a b"},
                                    {"allow_failure_exit_codes": 5}, {"allow_failure_exit_codes": []}, {"rules": []}, {"rules": [{"when": "soon"}]},
                                    {"job_name": "a'b"}, {"stage": "a'b"}])
def test_wrong_inputs_make_no_pipeline(inputs):
    with pytest.raises(Refused):
        Template(FILE.read_text()).interpolate({**USUAL, **inputs})


def test_the_image_is_needed():
    with pytest.raises(Refused):
        Template(FILE.read_text()).interpolate({"application": "nightly-etl"})


def test_the_job_as_a_document():
    (name, job), = Template(FILE.read_text()).interpolate({**USUAL, "job_name": "gate of the night", "stage": "build",
                                                           "rules": [{"if": "$CI_COMMIT_BRANCH == 'main'"}]}).items()
    assert name == "gate of the night" and job["stage"] == "build" and job["rules"] == [{"if": "$CI_COMMIT_BRANCH == 'main'"}]
    assert job["script"] == ["provisor-gate"], "no input in it"
    assert job["allow_failure"] == {"exit_codes": [255]} and job["artifacts"]["when"] == "always"
    for variable, what in job["variables"].items():
        assert variable in ("PROVISOR_GATE_DIRECTORY", "PROVISOR_GATE_NAMES") or what["expand"] is False


def test_every_input_is_used_and_described():
    template, readme = Template(FILE.read_text()), (CI / "gitlab" / "README.md").read_text()
    for name in template.inputs:
        assert "inputs.%s " % name in template.body and "`%s`" % name in readme, name


def test_examples_use_what_the_template_has(pipeline):
    found = 0
    for text in re.findall(r"^```yaml\n(.*?)^```$", (CI / "gitlab" / "README.md").read_text(), re.M | re.S):
        for entry in yaml.safe_load(text)["include"]:
            inputs = {k: v for k, v in entry["inputs"].items()}
            assert entry.get("file", "/templates/provisor-gate").strip("/").endswith(("templates/provisor-gate/template.yml", "templates/provisor-gate"))
            assert pipeline(inputs).status == "success"
            found += 1
    assert found >= 2


# --- this runner -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["A=1\n\nB=2\n", "# words\n", "A B=1\n", "1A=2\n", "A\n", "A=1", "".join("A%d=\n" % i for i in range(21)), "A=%s\n" % (5000 * "x")])
def test_a_dotenv_report_that_gitlab_refuses(tmp_path, text):
    (tmp_path / "x.env").write_text(text)
    with pytest.raises(AssertionError):
        dotenv_of(tmp_path / "x.env")


@pytest.mark.parametrize("what, value", [({"type": "number"}, "1"), ({"type": "boolean"}, "true"), ({}, 64), ({"type": "array"}, "x"), ({"options": ["a"]}, "b")])
def test_inputs_of_another_type_are_refused(what, value):
    with pytest.raises(Refused):
        check_input("x", what, value)


@pytest.mark.parametrize("change", [("script:", "skript:"), ("exit_codes:", "exit_code:"), ("dotenv:", "sarif:"), ("when: always", "when: sometimes"),
                                    ("inputs.size", "inputs.sise"), ("expand: false", "expand: 'false'")])
def test_a_template_with_unknown_words_is_refused(change):
    text = FILE.read_text()
    assert change[0] in text
    header, _, body = text.partition("\n---\n")
    with pytest.raises(Refused):
        Template(header + "\n---\n" + body.replace(*change)).interpolate(USUAL)
