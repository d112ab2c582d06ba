"""Runs a composite action as GitHub's runner does, as far as ours goes: whatever else one may hold is refused, so that no part
of an action is left out unnoticed. What the runner does with a log is done too: commands in it are carried out, masks applied."""
import pathlib
import re
import subprocess
import types

import yaml

SHELLS = {"bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"], "sh": ["sh", "-e"]}  # the script follows
COMMAND = re.compile(r"\s*::([\w-]+)(?: ([^:]*))?::(.*)$")
SUMMARY_BYTES_MAX = 1024 * 1024


class Refused(Exception):
    """The action has something that this cannot run, or a runner would not."""


def only(what, mapping, *names):
    if not isinstance(mapping, dict) or set(mapping) - set(names):
        raise Refused("%s has %s" % (what, sorted(map(str, set(mapping) - set(names)))))
    return mapping


def unescape(text, is_property=False):
    for code, character in (("%0D", "\r"), ("%0A", "\n"), *((("%3A", ":"), ("%2C", ",")) if is_property else ())):
        text = text.replace(code, character)
    return text.replace("%25", "%")


class Log:
    """What a step prints, line by line: commands to the runner are carried out and not shown, masked texts are stars."""

    def __init__(self):
        self.lines, self.masks, self.annotations, self.stopped = [], [], [], None

    def add(self, line):
        found = COMMAND.match(line)
        if self.stopped:
            if line.strip() == "::%s::" % self.stopped:
                self.stopped = None
                return
        elif found:
            self.carry_out(*found.groups())
            return
        for mask in self.masks:
            line = line.replace(mask, "***")
        self.lines.append(line)

    def carry_out(self, name, properties, text):
        if name == "add-mask":
            assert text, "an empty mask"
            self.masks.append(unescape(text))
        elif name == "stop-commands":
            assert re.fullmatch(r"[0-9a-f]{32}", text), "what resumes commands cannot be guessed"
            self.stopped = text
        elif name in ("error", "warning", "notice"):
            pairs = dict(pair.split("=", 1) for pair in (properties or "").split(",") if pair)
            only("an annotation", pairs, "title", "file", "line")
            for mask in self.masks:
                text = text.replace(mask, "***")
            self.annotations.append((name, unescape(pairs.get("title", ""), True), unescape(text)))
        else:
            raise Refused("command " + name)

    @property
    def text(self):
        return "\n".join(self.lines)


def read_pairs(path):
    """name=value, or name<<end, lines and end, as the runner reads a file of outputs."""
    pairs, ends, lines = {}, set(), iter(path.read_text().split("\n"))
    for line in lines:
        if line == "":
            continue
        heredoc, assignment = line.find("<<"), line.find("=")
        if heredoc >= 0 and (assignment < 0 or heredoc < assignment):
            name, end = line.split("<<", 1)
            assert name and end and end not in ends, "an end of its own for each"
            ends.add(end)
            value = []
            for line in lines:
                if line == end:
                    break
                value.append(line)
            else:
                raise Refused("no line %s ends %s" % (end, name))
            pairs[name] = "\n".join(value)
        elif assignment > 0:
            name, pairs[name] = line.split("=", 1)
        else:
            raise Refused("an output %r" % line)
    return pairs


class Action:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.document = only("the action", yaml.safe_load((self.folder / "action.yml").read_text()),
                             "name", "description", "author", "branding", "inputs", "outputs", "runs")
        for name, what in self.document["inputs"].items():
            only("input " + name, what, "description", "required", "default", "deprecationMessage")
            assert isinstance(what.get("default", ""), str) and what["description"], name
        for name, what in self.document["outputs"].items():
            only("output " + name, what, "description", "value")
            assert what["description"], name
        self.runs = only("runs", self.document["runs"], "using", "steps")
        if self.runs["using"] != "composite":
            raise Refused("using " + self.runs["using"])
        for step in self.runs["steps"]:
            only("a step", step, "id", "name", "shell", "run", "env", "if")
            if "run" in step and step.get("shell") not in SHELLS:
                raise Refused("a step without a shell, or with an unknown one")
            if "${{" in step.get("run", ""):
                raise Refused("an expression in a script")

    def run(self, inputs, environment, event, workspace, temp):
        """What a job sees of the step that uses the action: log, annotations, outputs, summary, succeeded."""
        unknown = set(inputs) - set(self.document["inputs"])
        if unknown:
            raise Refused("inputs %s" % sorted(unknown))
        values = {name: inputs.get(name, what.get("default", "")) for name, what in self.document["inputs"].items()}
        contexts = {"inputs": values, "steps": {}, "github": {"event": event, **{
            name[7:].lower(): value for name, value in environment.items() if name.startswith("GITHUB_")}}}
        log, summary, succeeded = Log(), "", True
        for number, step in enumerate(self.runs["steps"]):
            if not self.wanted(step.get("if", "success()"), succeeded):
                continue
            status, outputs, text = self.run_step(step, number, contexts, environment, workspace, temp, log)
            contexts["steps"][step.get("id", "__%d" % number)] = {"outputs": outputs}
            summary, succeeded = summary + text, succeeded and status == 0
        outputs = {name: resolve(what["value"], contexts) for name, what in self.document["outputs"].items()}
        return types.SimpleNamespace(log=log.text, annotations=log.annotations, masks=log.masks, outputs=outputs, summary=summary, succeeded=succeeded)

    def wanted(self, condition, succeeded):
        if condition in ("always()", "success()"):
            return condition == "always()" or succeeded
        raise Refused("if: %s" % condition)

    def run_step(self, step, number, contexts, environment, workspace, temp, log):
        files = {name: temp / ("%s-%d" % (name.lower(), number)) for name in ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY")}
        for path in files.values():
            path.write_text("")
        script = temp / ("step-%d" % number)
        script.write_text(step["run"])
        own = {name: resolve(text, contexts) for name, text in step.get("env", {}).items()}
        env = {**environment, **{name: str(path) for name, path in files.items()}, "GITHUB_ACTION_PATH": str(self.folder),
               "GITHUB_WORKSPACE": str(workspace), "RUNNER_TEMP": str(temp), **own}
        result = subprocess.run([*SHELLS[step["shell"]], str(script)], cwd=workspace, env=env, text=True, timeout=120,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for line in result.stdout.splitlines():
            log.add(line)
        assert log.stopped is None, "commands are on again"
        for name in ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE"):
            assert files[name].read_text() == "", name
        outputs, summary = read_pairs(files["GITHUB_OUTPUT"]), files["GITHUB_STEP_SUMMARY"].read_text()
        assert len(summary.encode()) <= SUMMARY_BYTES_MAX
        return result.returncode, outputs, summary


def resolve(text, contexts):
    """A text with ${{ a.b.c }} in it; what is not there is empty, as with GitHub, but only where an event may lack it."""
    def one(match):
        path = match[1].strip()
        if not re.fullmatch(r"[\w-]+(\.[\w-]+)+", path):
            raise Refused("expression " + path)
        value, names = contexts, path.split(".")
        if names[0] not in contexts:
            raise Refused("context " + names[0])
        for name in names:
            if name not in value and names[:2] != ["github", "event"]:
                raise Refused("%s: there is no %s" % (path, name))
            value = value.get(name) or {} if name != names[-1] else value.get(name)
        return "" if value is None else str(value)
    return re.sub(r"\$\{\{(.*?)\}\}", one, str(text))
