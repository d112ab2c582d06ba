"""Every log at hand, counted by a reader that takes it line by line with the standard library, and by the service.

PROVISOR_LOGS names a folder with further logs."""
import io
import os
import pathlib
import tarfile
import uuid

import pytest

import plain_reader

OCTETS = {"Content-Type": "application/octet-stream"}
NO_LOGS = {".md", ".tsv", ".csv", ".json", ".txt", ".py"}


def logs_below(folder):
    """Files, and folders of rolling logs."""
    rolling = [p for p in folder.rglob("eventlog_v2_*") if p.is_dir()]
    return rolling + [p for p in sorted(folder.rglob("*")) if p.is_file() and p.suffix not in NO_LOGS and not any(r in p.parents for r in rolling)]


def as_sent(path):
    if path.is_file():
        return path.read_bytes()
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.add(path, path.name)
    return out.getvalue()


def all_logs(shared):
    folders = [shared / "data" / "spark-eventlogs", shared / "cases"] + [pathlib.Path(p) for p in [os.environ.get("PROVISOR_LOGS")] if p]
    return [path for folder in folders for path in logs_below(folder)]


def plain_counts(path):
    plain = [plain_reader.plain(data) for _, data in plain_reader.files_of(path)]
    return plain_reader.count(line for part in plain if part for line in part.decode("utf-8", "replace").split("\n"))


@pytest.mark.every_log
def test_counts_are_those_of_a_plain_reader(service, shared):
    team = service.client(service.token("plain-" + uuid.uuid4().hex[:8]))
    differ, n = [], 0
    for i, path in enumerate(all_logs(shared)):
        reply = team.request("POST", "/v1/applications/log-%d/eventlogs" % i, None, data=as_sent(path), headers=OCTETS)
        if reply.status_code not in (200, 201):
            assert reply.status_code in (400, 415, 422) and reply.json()["detail"], path
            continue
        run, expected = reply.json(), plain_counts(path)
        n += 1
        differ += [(str(path), key, run[key], value) for key, value in expected.items() if run[key] != value]
    assert n > 100 and differ == []
