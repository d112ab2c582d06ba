"""clients/ci/github: the composite action's steps, run as a runner runs them."""
import json
import pathlib
import re

import pytest
import yaml

import junit_format
from composite_action import Action, Refused, read_pairs, resolve
from pipelines import CI, case, machine  # noqa: F401
from ports import free_port

USUAL = {"application": "nightly-etl", "size": "64", "deadline": "90s"}
OWN = {"pull_request": {"number": 7, "head": {"repo": {"full_name": "octo/etl"}}}}
FORK = {"pull_request": {"number": 7, "head": {"repo": {"full_name": "mona/etl"}}}}


@pytest.fixture
def use(machine):
    """use(inputs, event=..., NAME=value of the environment): what the job sees."""
    action = Action(CI / "github")

    def run(inputs, event=OWN, token=True, **environment):
        given = {"url": machine.url, "token": machine.token if token else "", **{k.replace("_", "-"): v for k, v in inputs.items()}}
        made = action.run(given, machine.environment("github", **environment), event, machine.workspace, machine.temp)
        machine.check_no_token(made.log, made.summary, *made.outputs.values(), *(text for _, _, text in made.annotations))
        assert machine.token in made.masks or not token
        assert "command not found" not in made.log
        return made
    run.machine = machine
    return run


def test_every_verdict_has_outputs_annotations_and_a_summary(use, case):
    inputs, status, outcome, verdict = case
    made = use(inputs)
    assert made.succeeded == (status == 0)
    outputs = made.outputs
    assert (outputs["gate"], outputs["verdict"], outputs["exit-status"]) == (outcome, verdict, str(status))
    answer = json.loads(pathlib.Path(outputs["json-file"]).read_text())
    advice, recommendation = answer["advice"], answer["advice"]["recommendation"] or {}
    assert outputs["advice-id"] == advice["id"]
    for name in ("executors", "cores-per-executor"):
        assert outputs[name] == str(recommendation.get(name.replace("-", "_"), ""))
    for name, value in (("predicted-duration-s", recommendation.get("predicted_duration_s")), ("deadline-probability", recommendation.get("deadline_probability")),
                        ("cost-change-percent", (advice["last_run"] or {}).get("cost_change_percent"))):
        assert outputs[name] == "" if value is None else float(outputs[name]) == pytest.approx(value, rel=1e-6), name
    levels = [level for level, _, _ in made.annotations]
    assert levels == [{"passed": "notice", "failed": "error", "warned": "warning"}[outcome]], made.annotations
    assert "%25" not in made.annotations[0][2] and made.annotations[0][2].splitlines()[0] == answer["message"]
    assert made.summary.startswith("## provisor: gate %s\n" % outcome)
    assert made.outputs["summary"] == made.summary.rstrip("\n")
    assert not list(use.machine.workspace.iterdir()), "nothing is left among the sources"
    junit_format.results(outputs["junit-file"])


def test_proposals_are_applied_by_request(use):
    def speculates(**inputs):
        return "spark.speculation" in json.loads(pathlib.Path(use({**USUAL, **inputs}).outputs["json-file"]).read_text())["advice"]["spark"]["properties"]
    assert not speculates() and speculates(apply="speculation")
    assert "on-missed: 'wran' is not" in use({**USUAL, "on_missed": "wran"}).log


def test_a_rise_of_cost(use):
    made = use({**USUAL, "arguments": "--min-executors=30", "max_cost_rise": "5%"})
    assert not made.succeeded and made.outputs["exit-status"] == "3" and made.outputs["verdict"] == "met"
    assert [(level, title) for level, title, _ in made.annotations] == [("error", "provisor: cost failed")]


def test_the_service_is_away(use):
    url = "http://127.0.0.1:%d" % free_port()
    made = use({**USUAL, "url": url})
    assert made.succeeded and made.outputs["gate"] == "skipped" and made.outputs["executors"] == ""
    assert [level for level, _, _ in made.annotations] == ["warning"]
    assert not use({**USUAL, "url": url, "on_unavailable": "closed"}).succeeded
    made = use({**USUAL, "url": url, "on_unavailable": "fail"})
    assert not made.succeeded and made.outputs["gate"] == "error" and made.outputs["exit-status"] == "1"
    assert [level for level, _, _ in made.annotations] == ["error"] and "gate error" in made.summary


def test_a_wrong_token(use):
    use.machine.token = "prv_wrong_token_of_a_test"
    made = use(USUAL)
    assert not made.succeeded and made.outputs["exit-status"] == "1" and "token" in made.annotations[0][2]
    made = use({**USUAL, "on_token_refused": "warn"})
    assert made.succeeded and made.outputs["gate"] == "skipped" and [level for level, _, _ in made.annotations] == ["warning"]


@pytest.mark.parametrize("inputs, words", [({}, "give deadline=90s, max-cost-rise=20% or"), ({"deadline": ""}, " deadline is empty"),
                                           ({"deadline": "", "max_cost_rise": "20%"}, " deadline is empty"),
                                           ({"deadline": "90s", "max_cost_rise": ""}, " max-cost-rise is empty")])
def test_a_gate_without_a_question_is_an_error(use, inputs, words):
    """An input that an expression left empty is none that was not given: the runner gives those their default."""
    made = use({"application": "nightly-etl", "size": "64", **inputs})
    assert not made.succeeded and made.outputs["exit-status"] == "2" and made.outputs["gate"] == "error"
    assert words in made.log and made.annotations[0][0] == "error"
    assert use({"application": "nightly-etl", "size": "64", "no_deadline": "true"}).succeeded


def test_a_token_that_ends_soon_is_an_annotation(use, service):
    use.machine.token = service.command("token", "create", "--team", "alpha", "--name", "ends", "--scopes", "read,write", "--expires-in", "3d").strip()
    made = use(USUAL)
    assert made.succeeded and made.outputs["token-expires-at"] in made.summary and made.outputs["token-expires-at"] > "2026"
    assert ("warning", "provisor: token ends soon") in [(level, title) for level, title, _ in made.annotations]


@pytest.mark.parametrize("event, environment", [(FORK, {}), ({"pull_request": {"head": {"repo": None}}}, {}), (OWN, {"GITHUB_ACTOR": "dependabot[bot]"})])
def test_a_fork_has_no_secret_and_is_not_gated(use, event, environment):
    made = use(USUAL, event, token=False, **environment)
    assert made.succeeded and made.outputs["gate"] == "skipped" and made.outputs["exit-status"] == "0"
    assert made.annotations == [("notice", "provisor: skipped", "The job continues unchecked: a change from a fork gets no token.")]
    assert "skipped" in made.summary and use.machine.calls() == []


@pytest.mark.parametrize("event, environment", [(OWN, {}), ({}, {"GITHUB_EVENT_NAME": "push"})])
def test_a_forgotten_secret_is_an_error(use, event, environment):
    made = use(USUAL, event, token=False, **environment)
    assert not made.succeeded and made.outputs["gate"] == "error" and made.annotations[0][0] == "error"


def test_without_the_client_it_says_what_is_missing(use):
    made = use({**USUAL, "provisor": "provisor-9"})
    assert not made.succeeded and made.outputs["exit-status"] == "2"
    assert "there is no program 'provisor-9'" in made.log and "provisor is not there" in made.annotations[0][2]


def test_the_client_may_be_elsewhere(use):
    path = use.machine.folder / "elsewhere"
    (use.machine.bin / "provisor").rename(path)
    assert use({**USUAL, "provisor": str(path)}).outputs["gate"] == "passed"


def test_the_folder_of_the_reports_can_be_named(use):
    assert use({**USUAL, "directory": "reports"}).outputs["json-file"] == "reports/gate.json"
    assert (use.machine.workspace / "reports" / "gate.xml").is_file()


INERT = ["$(touch made)", "'; touch made; '", '"; touch made; "', "`touch made`", "a\nEOF\nverdict=met\nx<<EOF\ntouch made", "${{ inputs.token }}",
         "::error::x", "\n::add-mask::a\n::error title=forged::x\n", "%0A::error::x", "\n::stop-commands::x"]


@pytest.mark.parametrize("name", ["application", "size", "deadline", "confidence", "max-cost-rise", "max-error", "max-executors", "cluster", "labels", "no-deadline",
                                  "on-missed", "on-at-risk", "on-unknown", "on-token-refused", "tolerance", "apply", "allow", "warn-only", "dry-run", "on-unavailable", "request-file", "arguments", "provisor"])
def test_no_input_is_code_or_a_command_to_the_runner(use, name):
    for text in INERT:
        made = use({**USUAL, "dry-run": "true", name: text})
        assert not list(use.machine.folder.rglob("made"))
        assert made.masks == [use.machine.token]
        assert all("forged" not in title and message.strip() != "x" for _, title, message in made.annotations), made.annotations
        assert made.outputs["verdict"] in ("", "met") and made.outputs["gate"] in ("passed", "error", "failed"), made.outputs


def test_a_long_summary_is_cut_to_what_github_takes(use):
    """By a client whose Markdown has two megabytes, with characters of several bytes."""
    fake = use.machine.bin / "provisor"
    fake.write_text("""#!/bin/sh
for word; do case $word in
  dotenv=*) echo PROVISOR_GATE=passed >"${word#*=}" ;;
  markdown=*) awk 'BEGIN { for (i = 0; i < 40000; i++) print "ein Satz über Läufe " i " xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" }' >"${word#*=}" ;;
esac; done
""")
    made = use(USUAL)
    assert 900_000 < len(made.summary.encode()) <= 1024 * 1024 and made.summary.startswith("ein Satz über Läufe 0")
    assert 50_000 < len(made.outputs["summary"]) < 65_536
    for text in (made.summary, made.outputs["summary"]):
        assert text.rstrip().endswith("*(The rest is in the log of the job.)*") and "\ufffd" not in text


def test_the_readme_names_every_input_and_output():
    readme, action = (CI / "github" / "README.md").read_text(), yaml.safe_load((CI / "github" / "action.yml").read_text())
    for name in (*action["inputs"], *action["outputs"]):
        assert "`%s`" % name in readme, name


def workflows():
    return [yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)^```$", (CI / "github" / "README.md").read_text(), re.M | re.S)]


def test_examples_use_what_the_action_has(use):
    """Those of the README, their steps run with this job's secrets and inputs."""
    action = yaml.safe_load((CI / "github" / "action.yml").read_text())
    ours = []
    for document in workflows():
        steps = document if isinstance(document, list) else [step for job in document["jobs"].values() for step in job["steps"]]
        for step in steps:
            if "clients/ci/github" in step.get("uses", ""):
                assert set(step["with"]) <= set(action["inputs"]) and {n for n, i in action["inputs"].items() if i.get("required")} <= set(step["with"])
                ours.append(step["with"])
            for output in re.findall(r"steps\.gate\.outputs\.([\w-]+)", yaml.safe_dump(step)):
                assert output in action["outputs"]
            assert "${{" not in step.get("run", ""), "examples do not teach it"
    assert len(ours) >= 2
    for inputs in ours:
        given = {**inputs, "url": use.machine.url, "token": use.machine.token}
        assert use({k: str(v) for k, v in given.items()}).outputs["gate"] == "passed"


# --- the action as a document, and this runner ---------------------------------------------------------------


def test_steps_name_their_shell_and_hold_no_expression():
    for step in yaml.safe_load((CI / "github" / "action.yml").read_text())["runs"]["steps"]:
        if "run" in step:
            assert step["shell"] and "${{" not in step["run"]
    for path in (CI / "github").iterdir():
        assert path.suffix in (".yml", ".md") or "${{" not in path.read_text(), path


def action_of(tmp_path, **step):
    document = {"name": "x", "description": "x", "inputs": {"who": {"description": "x"}}, "outputs": {},
                "runs": {"using": "composite", "steps": [{"shell": "bash", "run": "true", **step}]}}
    (tmp_path / "action.yml").write_text(yaml.safe_dump(document))
    return Action(tmp_path)


@pytest.mark.parametrize("step", [{"run": "echo ${{ inputs.who }}"}, {"shell": None}, {"shell": "pwsh"}, {"uses": "actions/checkout@v4"}, {"timeout-minutes": 3}])
def test_what_the_runner_does_not_know_is_refused(tmp_path, step):
    with pytest.raises(Refused):
        action_of(tmp_path, **step)


@pytest.mark.parametrize("text", ["${{ github.token }}", "${{ secrets.X }}", "${{ inputs.nobody }}", "${{ inputs.who == 'x' }}", "${{ format('x') }}"])
def test_expressions_that_the_runner_does_not_know_are_refused(text):
    with pytest.raises(Refused):
        resolve(text, {"inputs": {"who": "me"}, "github": {"event": {}}, "steps": {}})


def test_outputs_are_read_as_github_does(tmp_path):
    path = tmp_path / "outputs"
    path.write_text("a=b=c\nd<<E\n1\n\n2\nE\n")
    assert read_pairs(path) == {"a": "b=c", "d": "1\n\n2"}
    for text in ("d<<E\n1\n", "words\n"):
        path.write_text(text)
        with pytest.raises(Refused):
            read_pairs(path)
