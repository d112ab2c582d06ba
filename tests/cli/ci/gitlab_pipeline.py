"""A template of GitLab: its header checked, its inputs put in, the result checked against SCHEMA, and its job run with
the variables that a runner gives it. Only what GitLab documents is known; anything else is refused."""
import json
import re
import subprocess
import types

import jsonschema
import yaml

TYPES = {"string": str, "number": (int, float), "boolean": bool, "array": list}
INTERPOLATION = re.compile(r"\$\[\[\s*inputs\.(\w+)\s*\]\]")
DOTENV = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=[^\n]*")  # no comments, no empty lines, no line ends in a value
DOTENV_BYTES_MAX, DOTENV_VARIABLES_MAX = 5000, 20

REASON = {"enum": ["always", "never", "on_success", "on_failure", "manual", "delayed"]}
TEXTS = {"oneOf": [{"type": "string"}, {"type": "array", "minItems": 1, "items": {"type": "string"}}]}
SCHEMA = {
    "type": "object", "minProperties": 1,
    "additionalProperties": {
        "type": "object", "additionalProperties": False, "required": ["script"],
        "properties": {
            "stage": {"type": "string", "minLength": 1},
            "image": {"type": "string", "minLength": 1},
            "script": TEXTS, "before_script": TEXTS, "after_script": TEXTS,
            "variables": {"type": "object", "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}, "additionalProperties": {"oneOf": [
                {"type": ["string", "number", "boolean"]},
                {"type": "object", "required": ["value"], "additionalProperties": False, "properties": {"value": {"type": "string"}, "expand": {"type": "boolean"}}}]}},
            "rules": {"type": "array", "minItems": 1, "items": {"type": "object", "minProperties": 1, "additionalProperties": False, "properties": {
                "if": {"type": "string"}, "when": REASON, "changes": {}, "exists": {}, "allow_failure": {}, "variables": {}}}},
            "allow_failure": {"oneOf": [{"type": "boolean"}, {"type": "object", "additionalProperties": False, "required": ["exit_codes"], "properties": {
                "exit_codes": {"oneOf": [{"type": "integer"}, {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "integer"}}]}}}]},
            "artifacts": {"type": "object", "additionalProperties": False, "properties": {
                "when": {"enum": ["on_success", "on_failure", "always"]}, "expire_in": {"type": "string"}, "name": {"type": "string"},
                "paths": {"type": "array", "minItems": 1, "items": {"type": "string"}},
                "reports": {"type": "object", "additionalProperties": False, "properties": {"junit": TEXTS, "dotenv": {"type": "string"}}}}},
        },
    },
}


class Refused(Exception):
    """GitLab would not make a pipeline of it."""


def header_of(document):
    if set(document) != {"spec"} or set(document["spec"]) != {"inputs"}:
        raise Refused("a header of %s" % document)
    for name, what in document["spec"]["inputs"].items():
        if not re.fullmatch(r"[a-z_]+", name) or set(what) - {"type", "default", "description", "options", "regex"} or not what.get("description"):
            raise Refused("input " + name)
        if what.get("type", "string") not in TYPES or what.get("type", "string") != "string" and "regex" in what:
            raise Refused("type of " + name)
        if "default" in what:
            check_input(name, what, what["default"])
    return document["spec"]["inputs"]


def check_input(name, what, value):
    kind = what.get("type", "string")
    if not isinstance(value, TYPES[kind]) or kind == "number" and isinstance(value, bool):
        raise Refused("input %s: not a %s" % (name, kind))
    if "options" in what and value not in what["options"]:
        raise Refused("input %s: not among the options" % name)
    # RE2's \z is \Z of Python.
    if "regex" in what and not re.search(what["regex"].replace(r"\z", r"\Z"), value):
        raise Refused("input %s: does not match" % name)


class Template:
    def __init__(self, text):
        header, separator, self.body = text.partition("\n---\n")
        assert separator
        self.inputs = header_of(yaml.safe_load(header))

    def interpolate(self, given):
        """The jobs. Values are put into the text, as GitLab does, before it is read as YAML."""
        if set(given) - set(self.inputs):
            raise Refused("unknown inputs %s" % (set(given) - set(self.inputs)))
        values = {}
        for name, what in self.inputs.items():
            if name not in given and "default" not in what:
                raise Refused("input %s: required" % name)
            values[name] = given.get(name, what.get("default"))
            check_input(name, what, values[name])

        def text_of(match):
            if match[1] not in values:
                raise Refused("no input " + match[1])
            value = values[match[1]]
            return value if isinstance(value, str) else json.dumps(value)
        text = INTERPOLATION.sub(text_of, self.body)
        try:
            jobs = yaml.safe_load(text)
            jsonschema.validate(jobs, SCHEMA)
        except (yaml.YAMLError, jsonschema.ValidationError) as why:
            raise Refused(str(why))
        return jobs


def dotenv_of(path):
    text = path.read_bytes()
    assert len(text) <= DOTENV_BYTES_MAX, "the report is refused"
    lines = text.decode().split("\n")
    assert lines.pop() == "" and all(DOTENV.fullmatch(line) for line in lines), lines
    assert len(lines) <= DOTENV_VARIABLES_MAX
    return dict(line.split("=", 1) for line in lines)


def variables_of(job, predefined):
    made = {}
    for name, what in job.get("variables", {}).items():
        value, expand = (what["value"], what.get("expand", True)) if isinstance(what, dict) else (str(what), True)
        made[name] = re.sub(r"\$(?:\{(\w+)\}|(\w+))", lambda m: predefined.get(m[1] or m[2], ""), value) if expand else value
    return made


def run(job, predefined, workspace, inherited=None, settings=None):
    """Of a job: status (success, warning, failed), exit status, log, dotenv. inherited: variables of another job's dotenv report,
    which override the job's; settings: those of the project, which override both."""
    env = {**predefined, **variables_of(job, predefined), **(inherited or {}), **(settings or {})}
    # Image and services are another machine's business: its PATH comes with `predefined`.
    lines = [job[part] if isinstance(job[part], list) else [job[part]] for part in ("before_script", "script") if part in job]
    script = "set -eo pipefail\nset +o noclobber\n" + "\n".join(line for part in lines for line in part) + "\n"
    result = subprocess.run(["/bin/bash"], input=script, cwd=workspace, env=env, text=True, timeout=120, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    allowed = job.get("allow_failure", False)
    if isinstance(allowed, dict):
        codes = allowed["exit_codes"]
        allowed = result.returncode in (codes if isinstance(codes, list) else [codes])
    status = "success" if result.returncode == 0 else "warning" if allowed else "failed"
    artifacts = job["artifacts"]
    kept = {"always": True, "on_success": status == "success", "on_failure": status != "success"}[artifacts.get("when", "on_success")]
    assert kept, "what failed is of interest"
    for path in (*artifacts["paths"], artifacts["reports"]["junit"], artifacts["reports"]["dotenv"]):
        assert (workspace / path).exists(), "WARNING: %s: no matching files" % path
    return types.SimpleNamespace(status=status, exit_status=result.returncode, log=result.stdout, junit=workspace / artifacts["reports"]["junit"],
                                 dotenv=dotenv_of(workspace / artifacts["reports"]["dotenv"]))
