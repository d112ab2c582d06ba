"""Counts of an event log, line by line with the standard library: what the service says of a log is held against it."""
import gzip
import io
import json
import pathlib
import subprocess
import tarfile
import zipfile

MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"}


def plain(data):
    """The plain bytes of a file, or None: packed as nothing that this reads."""
    kind = next((name for magic, name in MAGIC.items() if data.startswith(magic)), None)
    if kind == "gzip":
        return plain(gzip.decompress(data))
    if kind == "zstd":
        return subprocess.run(["zstd", "-dcq", "--long=31"], input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    return None if kind else data


def files_of(path):
    """(name, bytes) of a file, a folder, a zip or a tar."""
    if path.is_dir():
        return [(p.name, p.read_bytes()) for p in sorted(path.rglob("*")) if p.is_file()]
    data = path.read_bytes()
    if data.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return [(pathlib.PurePath(n).name, archive.read(n)) for n in archive.namelist() if not n.endswith("/")]
    if tarfile.is_tarfile(path):
        with tarfile.open(path) as archive:
            return [(pathlib.PurePath(m.name).name, archive.extractfile(m).read()) for m in archive if m.isfile()]
    return [(path.name, data)]


def count(lines):
    """Each end of a task once, by its stage, its id and what became of it (one whose output is lost later ends twice); of stages their ends; an executor that is added
    twice at one instant is one where other events are doubled, too."""
    jobs, stages, executors, tasks, doubled = set(), {}, [], set(), False
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        kind = event.get("Event", "") if isinstance(event, dict) else ""
        if kind == "SparkListenerJobStart":
            doubled = doubled or event.get("Job ID") in jobs
            jobs.add(event.get("Job ID"))
        elif kind == "SparkListenerStageCompleted":
            info = event["Stage Info"]
            stages[info["Stage ID"], info.get("Stage Attempt ID", 0)] = info.get("Failure Reason") is not None
        elif kind == "SparkListenerExecutorAdded":
            executors.append((event.get("Executor ID"), event.get("Timestamp")))
        elif kind == "SparkListenerTaskEnd":
            info = event.get("Task Info") or {}
            succeeded = event.get("Task End Reason", {}).get("Reason") == "Success"
            tasks.add((event.get("Stage ID"), event.get("Stage Attempt ID", 0), info.get("Task ID"), succeeded))
    return {"jobs": len(jobs), "stages_completed": sum(not failed for failed in stages.values()), "stages_failed": sum(stages.values()),
            "tasks_succeeded": sum(t[3] for t in tasks), "tasks_failed": sum(not t[3] for t in tasks), "executors_added": len(set(executors) if doubled else executors)}
