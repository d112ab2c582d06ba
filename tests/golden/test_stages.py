"""The run and every stage of every shared log, computed a second time with Python's JSON parser.

The manifest holds totals only; this holds the reader's stages to the definitions of the wire contract: task
durations in task order, union of the successful attempts, records and rate, parents, what was skipped.
Usage: test_stages.py PRINT_RUN. Exits 77 without the shared logs ($PROVISOR_SHARED, else ../shared).
"""
import collections
import csv
import json
import math
import os
import pathlib
import re
import subprocess
import sys

PRINT_RUN = sys.argv[1]
SHARED = pathlib.Path(os.environ.get("PROVISOR_SHARED") or pathlib.Path(__file__).resolve().parents[3] / "shared")
ROOT = SHARED / "data" / "spark-eventlogs"
DAY_MS = 24 * 3600 * 1000
TIMES = ("Timestamp", "time", "Submission Time", "Completion Time")
TIMED = {"Spark" + n for n in (
    "ListenerApplicationStart", "ListenerApplicationEnd", "ListenerJobStart", "ListenerJobEnd", "ListenerExecutorAdded",
    "ListenerExecutorRemoved", "ListenerBlockManagerAdded", "ListenerBlockManagerRemoved",
    "ListenerSQLExecutionStart", "ListenerSQLExecutionEnd")}
STAGE = re.compile(r"stage (\d+) skipped (\d) tasks (\S+) mean (\S+) time (\S+) duration (\S+) started (\S+) "
                   r"records (\S+) rate (\S+) parents(.*?) name")


class Log:
    """What the definitions need, gathered event by event; a method a kind of event, by its name."""

    def __init__(self):
        self.start = self.end = None
        self.last = self.last_work = self.most = self.failed_ms = self.input_bytes = 0
        self.alive, self.ran = set(), set()
        self.planned, self.parents = {}, {}
        self.attempts = collections.defaultdict(dict)
        self.tasks = collections.defaultdict(list)
        self.shuffled, self.read, self.written = (collections.Counter() for _ in range(3))

    def take(self, event):
        name = event["Event"].rsplit(".", 1)[-1]
        if name in TIMED:
            self.see(event, work=name.startswith("SparkListenerJob"))
        for info in event.get("Stage Infos", []) + [event[k] for k in ("Stage Info",) if k in event]:
            self.planned.setdefault(info["Stage ID"], info["Number of Tasks"])
            if not self.parents.get(info["Stage ID"]):
                self.parents[info["Stage ID"]] = list(dict.fromkeys(info.get("Parent IDs", [])))
        handler = getattr(self, name, None)
        if handler:
            handler(event)

    def see(self, event, times=TIMES, work=True):
        seen = max([event[k] for k in times if k in event], default=0)
        self.last = max(self.last, seen)
        if work:
            self.last_work = max(self.last_work, seen)

    def ended(self):
        """Where the log has no end, its last event, but none of more than a day after the last task."""
        if self.end:
            return self.end
        return self.last_work if self.last_work and self.last - self.last_work > DAY_MS else self.last

    def SparkListenerApplicationStart(self, event):
        self.start = event["Timestamp"]

    def SparkListenerApplicationEnd(self, event):
        self.end = event["Timestamp"]

    def SparkListenerExecutorAdded(self, event):
        self.alive.add(event["Executor ID"])
        self.most = max(self.most, len(self.alive))

    def SparkListenerExecutorRemoved(self, event):
        self.alive.discard(event["Executor ID"])

    def SparkListenerStageSubmitted(self, event):
        info = event["Stage Info"]
        self.ran.add(info["Stage ID"])
        attempt = self.attempts[info["Stage ID"]].setdefault(info.get("Stage Attempt ID", 0), {})
        attempt.update({k: info[k] for k in TIMES if k in info})
        self.see(info)

    def SparkListenerStageCompleted(self, event):
        self.SparkListenerStageSubmitted(event)
        info = event["Stage Info"]
        self.attempts[info["Stage ID"]][info.get("Stage Attempt ID", 0)]["ok"] = "Failure Reason" not in info

    def SparkListenerTaskStart(self, event):
        self.ran.add(event["Stage ID"])
        self.see(event["Task Info"], ("Launch Time",))

    def SparkListenerTaskEnd(self, event):
        stage, info, metrics = event["Stage ID"], event["Task Info"], event.get("Task Metrics") or {}
        self.ran.add(stage)
        self.see(info, ("Finish Time",))
        ms = max(0, info["Finish Time"] - info["Launch Time"])
        if event["Task End Reason"]["Reason"] != "Success":
            self.failed_ms += ms
            return
        self.tasks[stage].append((info["Index"], len(self.tasks[stage]), ms))
        self.shuffled[stage] += metrics.get("Shuffle Read Metrics", {}).get("Total Records Read", 0)
        self.read[stage] += metrics.get("Input Metrics", {}).get("Records Read", 0)
        self.input_bytes += metrics.get("Input Metrics", {}).get("Bytes Read", 0)
        self.written[stage] += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Records Written", 0)
        self.written[stage] += metrics.get("Output Metrics", {}).get("Records Written", 0)

    def stages(self):
        """Also parents that only their children name."""
        return sorted(set(self.planned) | {p for parents in self.parents.values() for p in parents})

    def problem_size(self):
        """Blocks of input of 1 MiB or more, else the tasks of the first stage with more than one, else one if there is any."""
        if self.input_bytes >= 2 ** 20:
            return self.input_bytes / 2 ** 27
        for least in (2, 1):
            first = min((s for s in self.ran if len(self.tasks[s]) >= least), default=None, key=lambda s: (
                min((a.get("Submission Time", math.inf) for a in self.attempts[s].values()), default=math.inf), s))
            if first is not None:
                return float(len(self.tasks[first]))
        return self.input_bytes / 2 ** 27 if self.input_bytes else math.nan

    def duration_s(self, stage):
        done = [a for a in self.attempts[stage].values() if "ok" in a]
        length, reached = 0, -1
        spans = sorted((a["Submission Time"], a["Completion Time"]) for a in [a for a in done if a["ok"]] or done)
        for begin, end in spans:
            begin = max(begin, reached)
            if end > begin:
                length, reached = length + end - begin, end
        return length / 1000 if spans else math.nan

    def records(self, stage):
        count = self.shuffled[stage] or self.read[stage] or sum(self.written[p] for p in self.parents.get(stage, []))
        return float(count) if count else math.nan


def same(got, want):
    return got == want or (isinstance(want, float) and math.isnan(want) and math.isnan(got))


def number(text):
    return math.nan if "nan" in text else float.fromhex(text)


# A task's duration, where it ran and what it read (tests/support/run_text.c).
TASK = re.compile(r"(\S+)(?: on -?\d+)?(?: of -?\d+)?(?: |$)")


def stage_faults(log, stage, match, durations):
    yield "skipped", match[2] == "1", stage not in log.ran
    yield "parents", [int(x) for x in match[10].split()], log.parents.get(stage, [])
    if match[2] == "1":
        return
    tasks = sorted(log.tasks[stage])
    yield "tasks", int(match[3]), len(tasks)
    yield "task durations", [number(x) for x in TASK.findall(durations.strip())] if tasks else [], [t[2] / 1000 for t in tasks]
    yield "duration", number(match[6]), log.duration_s(stage)
    records, seconds = log.records(stage), sum(t[2] for t in tasks) / 1000
    yield "records", number(match[8]), records
    yield "rate", number(match[9]), records / seconds if seconds else math.nan


def run_faults(log, text):
    lines = text.split("\n")
    words = re.match(r"id .*? size (\S+) executors (\S+) cores \S+ duration (\S+) ", lines[0])
    yield "problem size", number(words[1]), log.problem_size()
    yield "executors", int(words[2]), log.most or -1
    yield "duration", number(words[3]), (log.ended() - log.start) / 1000
    yield "failed task time", number(re.search(r"^failed_task_time_s (\S+)$", text, re.M)[1]), log.failed_ms / 1000
    found = [(i, STAGE.match(line)) for i, line in enumerate(lines) if line.startswith("stage ")]
    yield "stages", [int(match[1]) for _, match in found], log.stages()
    for i, match in found:
        for what, got, want in stage_faults(log, int(match[1]), match, lines[i + 1]):
            yield "stage %s %s" % (match[1], what), got, want


def check(name, parts):
    log = Log()
    for part in parts:
        plain = subprocess.run([PRINT_RUN, "--plain", part], stdout=subprocess.PIPE, check=True).stdout
        for line in plain.split(b"\n"):
            try:
                event = json.loads(line)
            except ValueError:
                continue
            log.take(event)
    text = subprocess.run([PRINT_RUN, *parts], stdout=subprocess.PIPE, check=True).stdout.decode()
    faults = ["%s is %s, want %s" % f for f in run_faults(log, text) if not same(f[1], f[2])]
    print("%s %s" % ("FAILED" if faults else "ok", name), *faults[:5], sep="\n    ")
    return bool(faults)


def main():
    if not (ROOT / "manifest.tsv").is_file():
        print("no shared logs in %s: set PROVISOR_SHARED" % ROOT)
        return 77
    with open(ROOT / "manifest.tsv", newline="") as f:
        rows = [r["file"] for r in csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE)]
    logs = {r: [str(ROOT / p) for p in rows if p.startswith(r) and p != r] if r.endswith("/") else [str(ROOT / r)]
            for r in rows}
    parts = {p for r, found in logs.items() if r.endswith("/") for p in found}
    failed = sum(check(r, found) for r, found in logs.items() if r.endswith("/") or found[0] not in parts)
    print("%d logs failed" % failed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
