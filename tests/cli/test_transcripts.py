"""What people and pipelines see: every command with its whole output, as transcripts/*.txt hold it.

A transcript is a list of commands, each with what it wrote:

    $ provisor apps                 in a pipe; standard error is marked with "! "
    80$ provisor apps               on a terminal of 80 columns, which shows both
    $ RUN=$(provisor runs x --ids --limit 1)     keeps a word for the commands behind it, as $RUN
    $ provisor feasible - < jobs.yaml            with a file of transcripts/files as standard input

and "[status N]" below it where the exit status is not 0. Ids, instants of the day, tokens and tags are replaced by
words of the same length, so that tables stay aligned, and numbers are rounded to what every build agrees on. Lines
that begin with "# " are remarks; "# team: changes", "# team: asks", "# team: refused" and "# team: idle" have the
transcript run in a team of its own, which the others do not see.

PROVISOR_UPDATE_TRANSCRIPTS=1 writes them anew: look at `git diff` then. A new transcript begins as a file of
commands alone.
"""
import os
import pathlib
import re
import shlex
import shutil

import pytest

from conftest import plain

FOLDER = pathlib.Path(__file__).resolve().parent / "transcripts"
UPDATE = os.environ.get("PROVISOR_UPDATE_TRANSCRIPTS") == "1"
COMMAND = re.compile(r"^(\d*)\$ (?:([A-Z]+)=\$\((.*)\)|(.*))$")
UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
# The sample's runs are of these days; all other instants are of the day of the test.
INSTANT = re.compile(r"\b(?!2026-01-0[1-9])\d{4}-\d\d-\d\d([ T])\d\d:\d\d(:\d\d)?((?:\.\d+)?Z)?")


def instant(found):
    return "YYYY-MM-DD" + found[1] + "hh:mm" + (":ss" if found[2] else "") + ("Z" if found[3] else "")


def steady(text):
    text = re.sub(r"prv_[0-9a-f_]+", "prv_...", text)
    text = re.sub(r"whpk_[A-Za-z0-9+/=]+", "whpk_...", text)
    text = re.sub(r'"v(\d+)-[0-9a-f]{12}"', r'"v\1-xxxxxxxxxxxx"', text)
    text = UUID.sub("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", text)
    text = re.sub(r"\bhost:[0-9a-f]+", lambda m: "host:" + "x" * (len(m[0]) - 5), text)  # hashed with the key of the service
    text = re.sub(r"http://127\.0\.0\.1:\d+", "http://127.0.0.1:8080", text)
    text = re.sub(r"after \d+ ms: Couldn't", "after 0 ms: Couldn't", text)
    text = re.sub(r"(?<![\d.:T-])\d+\.\d{5,}\b", lambda m: "%.5g" % float(m[0]), text)
    return INSTANT.sub(instant, text)


@pytest.fixture(scope="module")
def teams(service, sample):
    """The tokens of the team that is looked at, of the one that is changed, and of the one that asks for advice."""
    tokens = {team: service.token(name, name="test") for team, name in (("sample", "transcripts"), ("changes", "changes"), ("asks", "asks"), ("refused", "refused"), ("idle", "idle"))}
    for team, applications in (("sample", ("churn-training", "hourly-report", "nightly-etl")), ("changes", ("hourly-report",)), ("asks", ("nightly-etl",))):
        client = service.client(tokens[team])
        for log in sorted(log for application in applications for log in (sample / application).rglob("*") if log.is_file()):
            client.post("/v1/applications/%s/eventlogs" % log.parent.name, data=log.read_bytes(), status=(200, 201),
                        headers={"Content-Type": "application/octet-stream"})
    followed_advice(service.client(tokens["sample"]))
    return tokens


def followed_advice(client):
    """An application whose runs followed advice; its last run missed the deadline."""
    runs = "/v1/applications/weekly-billing/runs"
    for hour, (size, executors, took) in enumerate(((32, 2, 320), (32, 4, 170), (32, 8, 95), (64, 4, 330), (64, 8, 175), (64, 16, 98))):
        client.post(runs, {"problem_size": size, "executors": executors, "cores_per_executor": 4, "duration_s": took,
                           "succeeded": True, "started_at": "2026-01-07T%02d:00:00Z" % hour}, status=201)
    advice = client.post("/v1/advice", {"application": "weekly-billing", "problem_size": 64, "deadline_s": 200,
                                        "constraints": {"max_executors": 16, "cores_per_executor": 4}}, status=201).json()
    executors = advice["recommendation"]["executors"]
    for hour, took in ((1, 150), (2, 260)):
        client.post(runs, {"problem_size": 64, "executors": executors, "cores_per_executor": 4, "duration_s": took, "succeeded": True,
                           "advice_id": advice["id"], "started_at": "2026-01-08T%02d:00:00Z" % hour}, status=201)


class Session:
    """The commands of one transcript."""

    def __init__(self, cli):
        self.cli, self.words = cli, {}

    def run(self, line):
        columns, name, captured, whole = COMMAND.match(line).groups()
        words = shlex.split(captured or whole)
        assert words[0] == "provisor", line
        words = [re.sub(r"\$([A-Z]+)", lambda m: self.words[m[1]], word) for word in words[1:]]
        text = None
        if "<" in words:
            text = (self.cli.home / words[-1]).read_text()
            words = words[:words.index("<")]
        if columns:
            shown, status = self.cli.terminal(*words, columns=int(columns), status=None)
            shown = plain(shown)
            shown = re.sub(r"^.*\r", "", shown, flags=re.M)  # progress, overwritten
        else:
            result = self.cli(*words, status=None, input=text)
            status, shown = result.status, result.out.replace("\r\n", "\n")
            if name:
                self.words[name] = result.out.strip()
                shown = ""
            shown += "".join("! %s\n" % said for said in result.err.splitlines())
        shown = "".join(said.rstrip(" ") + "\n" for said in shown.splitlines())
        return steady(shown) + ("[status %d]\n" % status if status else "")


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.txt")), ids=lambda file: file.stem)
def test_transcript(file, service, teams, make_cli):
    lines = file.read_text().splitlines()
    cli = make_cli(service.base_url, teams[next((team for team in teams if "# team: " + team in lines), "sample")])
    shutil.copytree(FOLDER / "files", cli.home, dirs_exist_ok=True)
    session, said = Session(cli), []
    for line in lines:
        if line.startswith("# "):
            said.append(line + "\n")
        elif COMMAND.match(line):
            said.append("\n%s\n%s" % (line, session.run(line)))
    text = "".join(said).lstrip("\n")
    if UPDATE:
        file.write_text(text)
    assert text == file.read_text()


def test_every_command_has_a_transcript(make_cli):
    """Of those whose output is shown here: what others test in files of their own is named."""
    elsewhere = {"login", "completion", "help", "submit", "ingest"}
    overview = make_cli()("--help").out
    commands = set(re.findall(r"^  ([a-z-]+)\s", overview.split("Commands:\n")[1].split("\n\n")[0], re.M)) - elsewhere
    seen = {m[1] for file in FOLDER.glob("*.txt") for m in re.finditer(r"\$ (?:[A-Z]+=\$\()?provisor ([a-z-]+)", file.read_text())}
    assert commands - seen == set()
    widths = {command: set() for command in commands}
    for file in FOLDER.glob("*.txt"):
        for width, command in re.findall(r"^(\d*)\$ provisor ([a-z-]+)", file.read_text(), re.M):
            if command in widths:
                widths[command].add(width)
    assert {command: seen for command, seen in widths.items() if seen < {"", "80", "120"}} == {}


def test_tables_fit_the_terminal():
    """What is recorded of a terminal is no wider than it, but for words that cannot be broken."""
    for file in FOLDER.glob("*.txt"):
        for block in re.split(r"^(?=\d*\$ )", file.read_text(), flags=re.M):
            width = re.match(r"(\d+)\$ ", block)
            for line in block.splitlines()[1:] if width else ():
                assert len(line) <= int(width[1]) or line.startswith("`provisor ") or " --conf " in line or "at the moment" in line, (file.name, line)
