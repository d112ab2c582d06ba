"""The table "What happens when" of docs/pipelines.md, and that every integration has its parameters, words and defaults."""
import ast
import re

import pytest
import yaml

from gitlab_pipeline import Template
from pipelines import CI, ROOT

PAGE = (ROOT / "docs" / "pipelines.md").read_text()
CLIENTS = CI.parent
AIRFLOW = CLIENTS / "airflow" / "provisor_airflow"
# What Argo's templates cannot decide is elsewhere: `ask` has none, `reach` and `gate` share them.
ARGO = {"reach": {"on_unavailable", "on_token_refused"}, "gate": {"on_missed", "on_at_risk", "on_unknown"}}


def table():
    """parameter: (default of a gate, default of what configures a job)"""
    section = PAGE.split("## What happens when")[1].split("\n## ")[0]
    rows = re.findall(r"^\|[^|]*\| `(on-[a-z-]+)` \| `(\w+)` \| `(\w+)`[^|]*\| \d \|$", section, re.M)
    return {name: (gate, job) for name, gate, job in rows}


TABLE = table()
GATE = {name: gate for name, (gate, _) in TABLE.items()}
JOB = {name: job for name, (_, job) in TABLE.items()}


def snake(names):
    return {name.replace("-", "_"): action for name, action in names.items()}


def test_the_table_is_whole():
    assert list(TABLE) == ["on-missed", "on-at-risk", "on-unknown", "on-unavailable", "on-token-refused"]
    assert {action for row in TABLE.values() for action in row} <= {"fail", "warn"}


def test_the_command_line():
    source = (CLIENTS / "cli" / "commands" / "gate_checks.c").read_text()
    words = {"true": "fail", "false": "warn"}
    rows = re.findall(r'\{"(on-[a-z-]+)", (true|false), (true|false)\}', source)
    assert {name: (words[gate], words[job]) for name, gate, job in rows} == TABLE
    options = dict(re.findall(r'\{"(on-[a-z-]+)", 0, OPTION_CHOICE, "([a-z|]+)"', source))
    assert {name: set(choice.split("|")) - {"open", "closed"} for name, choice in options.items()} == {name: {"fail", "warn"} for name in TABLE}


def test_the_script():
    """It has no defaults of its own: what is not set is not passed on."""
    script = (CI / "shell" / "provisor-gate").read_text()
    for name in TABLE:
        variable = "PROVISOR_GATE_" + name.replace("-", "_").upper()
        assert '[ -z "${%s:-}" ] || set -- "$@" "--%s=$%s"' % (variable, name, variable) in script


def test_github():
    action = yaml.safe_load((CI / "github" / "action.yml").read_text())
    assert {name: what["default"] for name, what in action["inputs"].items() if name.startswith("on-")} == GATE
    passed = action["runs"]["steps"][0]["env"]
    for name in TABLE:
        assert passed["PROVISOR_GATE_" + name.replace("-", "_").upper()] == "${{ inputs.%s }}" % name


def test_gitlab():
    template = Template((CI / "gitlab" / "templates" / "provisor-gate" / "template.yml").read_text())
    assert {name: what["default"] for name, what in template.inputs.items() if name.startswith("on_")} == snake(GATE)
    for name in snake(TABLE):
        assert set(template.inputs[name]["options"]) - {"open", "closed"} == {"fail", "warn"}
        assert "PROVISOR_GATE_%s: {value: '$[[ inputs.%s ]]'" % (name.upper(), name) in template.body
    assert template.inputs["allow_failure_exit_codes"]["default"] == [255], "no status lets a pipeline go on"


def test_jenkins():
    source = (CI / "jenkins" / "vars" / "provisorGate.groovy").read_text()
    forwarded = re.findall(r"'(on\w+)'", re.search(r"List forwarded\(\) \{(.*?)\}", source, re.S)[1])
    assert {re.sub("([A-Z])", r"-\1", name).lower() for name in forwarded} == set(TABLE)
    assert "unstableStatuses: []" in source


def test_proposals_are_applied_only_by_request():
    """`apply` is a parameter of each integration, with nothing in it."""
    assert re.search(r'\{"apply", 0, OPTION_TEXT, "KINDS",', (CLIENTS / "cli" / "commands" / "question.c").read_text())
    action = yaml.safe_load((CI / "github" / "action.yml").read_text())
    assert "default" not in action["inputs"]["apply"] and action["runs"]["steps"][0]["env"]["PROVISOR_GATE_APPLY"] == "${{ inputs.apply }}"
    template = Template((CI / "gitlab" / "templates" / "provisor-gate" / "template.yml").read_text())
    assert template.inputs["apply"]["default"] == "" and "PROVISOR_GATE_APPLY: {value: '$[[ inputs.apply ]]'" in template.body
    assert "'apply'" in re.search(r"List forwarded\(\) \{(.*?)\}", (CI / "jenkins" / "vars" / "provisorGate.groovy").read_text(), re.S)[1]
    (ask,) = [t for t in yaml.safe_load((CLIENTS / "argo" / "workflow-template.yaml").read_text())["spec"]["templates"] if t["name"] == "ask"]
    assert {"name": "apply", "value": "[]"} in ask["inputs"]["parameters"] and '"apply": {{inputs.parameters.apply}}' in ask["http"]["body"]
    for file, name, prefix in (("operators.py", "ProvisorAdviceOperator", ""), ("spark.py", "ProvisorSparkSubmitMixin", "provisor_")):
        assert defaults_of(AIRFLOW / file, name, prefix, "apply") == {"apply": None}
    for readme in ("ci/github", "ci/gitlab", "ci/jenkins", "airflow", "argo"):
        assert "`apply`" in (CLIENTS / readme / "README.md").read_text(), readme


def defaults_of(path, class_name, prefix="", begins="on_"):
    """name: default of the parameters of a class that begin so, without importing Airflow."""
    tree = ast.parse(path.read_text())
    (found,) = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == class_name]
    (init,) = [node for node in found.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"]
    pairs = zip(init.args.kwonlyargs, init.args.kw_defaults)
    return {argument.arg[len(prefix):]: default.value if isinstance(default, ast.Constant) else default.id.lower()
            for argument, default in pairs if argument.arg.startswith(prefix + begins)}


@pytest.mark.parametrize("file, name, prefix, wanted", [
    ("operators.py", "ProvisorGateOperator", "", GATE), ("operators.py", "ProvisorAdviceOperator", "", JOB),
    ("spark.py", "ProvisorSparkSubmitMixin", "provisor_", JOB)])
def test_airflow(file, name, prefix, wanted):
    assert defaults_of(AIRFLOW / file, name, prefix) == snake(wanted)
    assert 'FAIL, SKIP, WARN = "fail", "skip", "warn"' in (AIRFLOW / "advice.py").read_text()


def test_argo():
    templates = {t["name"]: t for t in yaml.safe_load((CLIENTS / "argo" / "workflow-template.yaml").read_text())["spec"]["templates"]}
    found = {name: {p["name"]: p["value"] for p in t["inputs"]["parameters"] if p["name"].startswith("on_")} for name, t in templates.items()}
    assert {name: set(of) for name, of in found.items() if of} == ARGO
    assert {**found["reach"], **found["gate"]} == snake(GATE)
    workflow = yaml.safe_load((CLIENTS / "argo" / "example-workflow.yaml").read_text())
    assert {p["name"]: p["value"] for p in workflow["spec"]["arguments"]["parameters"] if p["name"].startswith("on_")} == snake(GATE)


@pytest.mark.parametrize("path", ["ci/github/README.md", "ci/gitlab/README.md", "ci/jenkins/README.md", "airflow/README.md", "argo/README.md"])
def test_the_table_is_in_one_place(path):
    readme = (CLIENTS / path).read_text()
    assert "docs/pipelines.md#what-happens-when" in readme
    camel = {re.sub("-(.)", lambda m: m[1].upper(), name) for name in TABLE}
    named = {"ci/github/README.md": set(TABLE), "ci/jenkins/README.md": camel}.get(path, set(snake(TABLE)))
    assert {name for name in named if "`%s`" % name not in readme} == set()


def test_what_a_gate_needs_is_the_same():
    """A deadline or a limit has a default that says that it is not given, so that an empty one is a mistake."""
    action = yaml.safe_load((CI / "github" / "action.yml").read_text())["inputs"]
    inputs = Template((CI / "gitlab" / "templates" / "provisor-gate" / "template.yml").read_text()).inputs
    for name in ("deadline", "max-cost-rise", "max-error"):
        assert action[name]["default"] == inputs[name.replace("-", "_")]["default"] == "none"
    assert action["no-deadline"]["default"] == "false" and inputs["no_deadline"]["default"] is False
    assert "'noDeadline'" in (CI / "jenkins" / "vars" / "provisorGate.groovy").read_text()
    assert "no_deadline: bool = False" in (AIRFLOW / "operators.py").read_text()
    (ask,) = [t for t in yaml.safe_load((CLIENTS / "argo" / "workflow-template.yaml").read_text())["spec"]["templates"] if t["name"] == "ask"]
    assert {"name": "deadline_s"} in ask["inputs"]["parameters"], "without a default"
