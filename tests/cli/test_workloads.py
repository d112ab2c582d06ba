"""`provisor workloads` against the real service: traces from files and pipes, runs, and what is left where one is refused."""
import gzip
import json

import pytest

TRACE = "0 2 10 8 12\n5 1 3 3\n"


@pytest.fixture
def token(service, name):
    """Of a team of its own."""
    return service.token(name)


@pytest.fixture
def cli(service, make_cli, token):
    made = make_cli(service.base_url, token)
    (made.home / "trace").write_text(TRACE)
    return made


def listed(cli):
    return json.loads(cli("workloads", "-o", "json").out)


def test_a_trace_is_stored_listed_shown_and_deleted(cli):
    made = json.loads(cli("workloads", "add", "pigeon", "trace", "--name", "mine", "-o", "json").out)
    assert (made["name"], made["jobs"], made["tasks"], made["summary"]["work_s"]) == ("mine", 2, 3, 23)
    assert listed(cli) == [made] and json.loads(cli("workloads", "show", made["id"], "-o", "json").out) == made
    cli("workloads", "delete", made["id"], status=2)
    assert listed(cli) == [made]
    cli("workloads", "delete", made["id"], "--yes")
    assert listed(cli) == []


def test_a_compressed_trace_and_standard_input(cli):
    (cli.home / "trace.gz").write_bytes(gzip.compress(TRACE.encode()))
    packed = json.loads(cli("workloads", "add", "pigeon", "trace.gz", "-o", "json").out)
    piped = json.loads(cli("workloads", "add", "pigeon", "-", "-o", "json", input=TRACE).out)
    assert packed["summary"] == piped["summary"]


def test_rates_are_those_of_swim(cli):
    trace = "job0 0 0 128000000 512000000 1000000\n"
    made = json.loads(cli("workloads", "add", "swim", "-", "--map-bytes", "32000000", "--reduce-bytes", "128000000", "--map-bytes-per-s", "1000000",
                          "--shuffle-bytes-per-s", "2000000", "--output-bytes-per-s", "3000000", "--task-overhead", "0.5", "-o", "json", input=trace).out)
    assert made["summary"]["rates"] == {"map_bytes": 32e6, "reduce_bytes": 128e6, "map_bytes_per_s": 1e6, "shuffle_bytes_per_s": 2e6, "output_bytes_per_s": 3e6,
                                        "task_overhead_s": 0.5}
    assert (made["tasks"], made["reduce_tasks"]) == (8, 4)
    assert "--map-bytes 1" in cli("workloads", "add", "pigeon", "trace", "--map-bytes", "1", status=2).err


def test_what_is_refused_is_named_and_leaves_nothing(cli):
    assert "line 2: " in cli("workloads", "add", "pigeon", "-", input=TRACE[:-1] + " 3\n", status=2).err
    assert "FORMAT" in cli("workloads", "add", "trace", status=2).err
    assert "google_2011" in cli("workloads", "add", "csv", "trace", status=2).err
    assert "nowhere" in cli("workloads", "add", "pigeon", "nowhere", status=2).err
    assert "folder" in cli("workloads", "add", "pigeon", ".", status=2).err
    assert listed(cli) == []


def test_runs_become_a_workload(service, cli, token, name):
    client = service.client(token)
    for day in (5, 6, 7):
        client.post("/v1/applications/%s/runs" % name, {"problem_size": 8, "executors": 2, "cores_per_executor": 2, "duration_s": 60,
                                                        "started_at": "2026-01-0%dT10:00:00Z" % day, "succeeded": day < 7,
                                                        "stages": [{"id": 0, "task_durations_s": [day, 1]}]}, 201)
    result = cli("workloads", "from-runs", name, "--name", "both", "-o", "json")
    made = json.loads(result.out)
    assert (made["format"], made["name"], made["jobs"], made["summary"]["work_s"]) == ("runs", "both", 2, 13)
    assert "Warning: 1 run was left out" in result.err
    assert json.loads(cli("workloads", "from-runs", name, "--since", "2026-01-06", "--until", "2026-01-07", "-o", "json").out)["jobs"] == 1
    assert "no application" in cli("workloads", "from-runs", name + "x", status=2).err
