"""What commands write for programs is what the service replies: JSON, YAML and CSV of every command that reads."""
import csv
import io
import json
import subprocess

import pytest
import yaml

from conftest import PROVISOR
from stub import problem, stub

FILES = {
    "feasible": ("/v1/feasibility", {"cluster": {"executors": 1, "cores_per_executor": 2}, "jobs": [
        {"name": "A", "deadline_s": 20, "stages": [{"id": 0, "task_durations_s": [4, 4, 4, 4]}]}]}),
    "contention": ("/v1/contention", {"max_cores": 16, "applications": [
        {"name": "A", "requested_cores": 10}, {"name": "B", "requested_cores": 12}]}),
    "memory": ("/v1/memory-plans", {"system_memory_bytes": 68719476736, "applications": [
        {"name": "A", "heap_bytes": 10737418240}, {"name": "B", "heap_bytes": 85899345920}], "newcomer": {"heap_bytes": 21474836480}}),
    "copies": ("/v1/copy-plans", {
        "clusters": [{"name": "eu", "slots": 8, "processing": {"map": [[5000000, 0.5], [10000000, 0.5]]}},
                     {"name": "us", "slots": 4, "processing": {"map": [[4000000, 1]]}}],
        "bandwidth": [{"from": "us", "to": "eu", "distribution": [[20000000, 1]]}],
        "jobs": [{"name": "nightly", "unprocessed_bytes": 1000, "tasks": [
            {"id": "t1", "operation": "map", "size_bytes": 100000000, "inputs": ["us"]}]}]}),
}
READS = [
    (("apps",), "/v1/applications?include=last_run,last_advice", "items"),
    (("apps", "show", "nightly-etl"), "/v1/applications/nightly-etl?include=last_run,last_advice", None),
    (("runs", "nightly-etl"), "/v1/applications/nightly-etl/runs", "items"),
    (("models", "nightly-etl"), "/v1/applications/nightly-etl/models", None),
    (("speedup", "nightly-etl", "--sizes", "8GiB,128"), "/v1/applications/nightly-etl/speedup?problem_sizes=64,128", None),
    (("diagnose", "nightly-etl"), "/v1/applications/nightly-etl/diagnosis", None),
    (("stragglers", "nightly-etl"), "/v1/applications/nightly-etl/stragglers", None),
    (("accuracy",), "/v1/accuracy", None),
    (("accuracy", "nightly-etl"), "/v1/applications/nightly-etl/accuracy", None),
    (("next-experiments", "nightly-etl", "--size", "64"), "/v1/applications/nightly-etl/next-experiments?problem_size=64", None),
    (("operations",), "/v1/operations", "items"),
    (("clusters",), "/v1/clusters", "items"),
    (("price-books",), "/v1/price-books", "items"),
]


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("words, path, member", READS, ids=lambda value: "-".join(value) if isinstance(value, tuple) else "")
def test_json_and_yaml_are_the_reply(cli, history, words, path, member):
    reply = history.get(path).json()  # checked against the contract
    wanted = reply[member] if member else reply
    assert json.loads(cli(*words, "-o", "json").out) == wanted
    assert yaml.safe_load(cli(*words, "-o", "yaml").out) == wanted
    written = rows(cli(*words, "-o", "csv").out)
    if member:
        assert len(written) == len(wanted)


@pytest.mark.parametrize("command", [*FILES, "batch"])
@pytest.mark.parametrize("text", ["42", "nightly", "~"])
def test_a_file_that_holds_no_request(cli, command, text):
    result = cli(command, "-", input=text, status=2)
    assert "must be an object" in result.err and "memory" not in result.err


@pytest.mark.parametrize("command", FILES)
@pytest.mark.parametrize("form", ["json", "yaml"])
def test_a_request_in_a_file(cli, client, tmp_path, command, form):
    path, body = FILES[command]
    file = tmp_path / ("request." + form)
    file.write_text(json.dumps(body) if form == "json" else yaml.safe_dump(body))
    assert json.loads(cli(command, file, "-o", "json").out) == client.post(path, body, status=200).json()


SCHEDULERS = {"kind": "tasks", "cluster": {"workers": 2}, "jobs": [{"name": "a", "task_durations_s": [1, 2]}, {"name": "b", "task_durations_s": [3]}],
              "policies": [{"policy": "sparrow"}, {"policy": "eagle"}], "loads": [0.5], "include": ["jobs"]}


def test_options_of_a_simulation_override_the_file(cli):
    def asked(request, *options):
        return json.loads(cli("simulate", "-", *options, "-o", "json", input=json.dumps(request)).out)["request"]
    plain = asked(SCHEDULERS)
    assert (plain["loads"], plain["include"], plain.get("search")) == ([0.5], ["jobs"], None)
    found = asked(SCHEDULERS, "--load", "0.7", "--load", "0.9", "--repetitions", 3, "--objective", "p50", "--queues", "--task-runs", 5000, "--error-chance", "20%")
    assert (found["loads"], found["repetitions"], found["objective"]) == ([0.7, 0.9], 3, "p50")
    assert set(found["include"]) == {"jobs", "queues"} and (found["search"]["task_runs"], found["search"]["error_chance"]) == (5000, 0.2)
    listed = dict(SCHEDULERS, include=None, search={"policies": [{"policy": "sparrow", "probes_per_task": [1, 2]}], "task_runs": 4000})
    found = asked(listed, "--search", "--queues")
    assert found["include"] == ["queues"] and found["search"]["task_runs"] == 4000 and len(found["search"]["policies"]) == 1
    assert "standard input:1: include must be" in cli("simulate", "-", "--queues", input=json.dumps(dict(SCHEDULERS, include="jobs")), status=2).err
    assert "--search must be an object" in cli("simulate", "-", "--search", input=json.dumps(dict(SCHEDULERS, search=7)), status=2).err


def test_the_shown_can_be_put_back(cli, client, tmp_path):
    """What `show` wrote, in either form, is what `put` takes; an ETag guards it."""
    cli("clusters", "put", "round-trip", "-", input="{executors: 4, cores_per_executor: 2, labels: {a: 'yes'}}")
    cluster = client.get("/v1/clusters/round-trip").json()
    for form in ("json", "yaml"):
        file = tmp_path / ("cluster." + form)
        file.write_text(cli("clusters", "show", "round-trip", "-o", form).out)
        etag = client.get("/v1/clusters/round-trip").headers["ETag"]
        cli("clusters", "put", "round-trip", file, "--if-match", etag)
        cli("clusters", "put", "round-trip", file, "--if-match", etag, status=1)
        again = client.get("/v1/clusters/round-trip").json()
        assert {k: v for k, v in again.items() if k not in ("version", "updated_at")} == \
            {k: v for k, v in cluster.items() if k not in ("version", "updated_at")}
    cli("price-books", "put", "round-trip", "-", "--csv", "--currency", "EUR", input="machine_type,per_executor_hour\nm5,0.25\n")
    prices = cli("price-books", "show", "round-trip", "-o", "csv").out
    cli("price-books", "put", "round-trip", "-", "--csv", input=prices)
    assert client.get("/v1/price-books/round-trip").json()["prices"] == [{"machine_type": "m5", "per_executor_hour": 0.25}]
    cli("price-books", "delete", "round-trip", "--yes")
    cli("clusters", "delete", "round-trip", "--yes")


def test_an_export_is_imported_without_loss(cli, history):
    export = cli("runs", "export", "nightly-etl").out
    assert len(export.splitlines()) == 12
    cli("runs", "import", "copied-etl", "-", input=export)
    again = cli("runs", "export", "copied-etl").out
    lines = [{k: v for k, v in json.loads(line).items() if k not in ("id", "recorded_at")} for line in (export + again).splitlines()]
    assert lines[:12] == lines[12:]
    cli("apps", "delete", "copied-etl", "--yes")


def test_lists_go_on_behind_a_page(cli, client, name):
    lines = "".join('{"duration_s": %d, "started_at": "2026-01-05T%02d:%02d:00Z"}\n' % (i + 1, i // 60, i % 60) for i in range(450))
    cli("runs", "import", name, "-", input=lines)
    assert len(json.loads(cli("runs", name, "--limit", 1000000000, "-o", "json").out)) == 450
    result = cli("runs", name, "--limit", 401, "-o", "json")
    assert len(json.loads(result.out)) == 401 and "more runs" in result.err
    assert len(cli("runs", name, "--limit", 450, "--ids").out.split()) == 450
    assert len(rows(cli("runs", name, "-o", "csv").out)) == 50
    cli("apps", "delete", name, "--yes")


def test_a_pipe_that_is_closed_early_is_no_failure(cli, history):
    """As behind `| head -1`: quiet, and exit status 0."""
    for words in (("runs", "export", "nightly-etl"), ("models", "nightly-etl", "-o", "json"), ("runs", "nightly-etl")):
        process = cli.start(*words)
        process.stdout.close()
        said = process.stderr.read()
        assert (process.wait(60), said) == (0, ""), words


@pytest.mark.parametrize("odd", ["a b", "a/b", "ünïcode-名", "50%", "?x=1", "a#b"])
def test_names_are_sent_as_they_are(cli, client, odd):
    cli("runs", "import", odd, "-", input='{"duration_s": 5}\n')
    assert json.loads(cli("apps", "show", odd, "-o", "json").out)["name"] == odd
    assert odd in cli("apps", "--names", "--limit", 1000).out.splitlines()
    cli("apps", "delete", odd, "--yes")


def test_an_application_named_like_a_command(cli):
    cli("runs", "import", "export", "-", input='{"duration_s": 5}\n')
    assert len(rows(cli("runs", "list", "export", "-o", "csv").out)) == 1
    cli("apps", "delete", "export", "--yes")


def test_an_operation_is_watched_and_cancelled(cli, history):
    started = json.loads(cli("models", "refit", "nightly-etl", "--resamples", 100000, "-o", "json").out)
    assert started["status"] in ("queued", "running")
    watching = cli.start("operations", "watch", started["id"])
    cancelled = json.loads(cli("operations", "cancel", started["id"], "-o", "json").out)
    out, said = watching.communicate(timeout=60)
    assert watching.returncode == 1 and "cancelled" in said and "cancelled" in out
    assert cancelled["id"] == started["id"]
    assert json.loads(cli("operations", "show", started["id"], "-o", "json").out)["status"] == "cancelled"


def test_a_simulation_is_shown_with_the_outcomes_of_policies(cli, client):
    jobs = [{"name": "A", "task_durations_s": [1, 2, 3]}, {"name": "B", "task_durations_s": [5, 5], "class": "long"}]
    body = {"kind": "tasks", "cluster": {"workers": 2}, "jobs": jobs, "policies": [{"policy": "centralised"}, {"policy": "sparrow"}],
            "baseline": "sparrow", "loads": [0.5]}
    made = client.post("/v1/simulations", body, 200, headers={"Prefer": "wait=30"}).json()
    shown = cli("operations", "show", made["id"]).out
    for wanted in ("Outcomes of the policies", "centralised", "short", "long", "The best policy", made["result"]["loads"][0]["best"]["name"]):
        assert wanted in shown, shown
    body = {"kind": "slots", "cluster": {"map_slots": 2, "reduce_slots": 0}, "jobs": [{"name": "A", "maps": 3, "map_task_s": 2}],
            "policies": [{"policy": "fifo"}]}
    made = client.post("/v1/simulations", body, 200, headers={"Prefer": "wait=30"}).json()
    assert "Only fifo was simulated" in cli("operations", "watch", made["id"]).out


def test_all_warnings_of_a_slot_plan_are_shown(cli, client):
    for stages in ([{"id": 0, "tasks": 2, "task_duration_s": 3}], [{"id": 0, "tasks": 2, "task_duration_s": 3}, {"id": 1, "parents": [0], "tasks": 1, "task_duration_s": 1}]):
        client.post("/v1/applications/regraphed/runs", {"problem_size": 1, "executors": 1, "cores_per_executor": 1, "duration_s": 9, "stages": stages}, 201)
    body = {"slots": 3, "nodes": 3, "concurrency": 1, "jobs": [{"name": "a", "application": "regraphed"}]}
    warnings = client.post("/v1/slot-plans", body).json()["warnings"]
    (cli.home / "batch.json").write_text(json.dumps(body))
    for form in ("table", "markdown"):
        shown = " ".join(cli("slots", cli.home / "batch.json", "-o", form).out.replace("\\_", "_").split())
        assert len(warnings) == 2 and all(warning["message"] in shown for warning in warnings), shown


def test_a_better_concurrency_is_one_sentence(cli, client):
    jobs = [{"name": "report", "maps": 40, "map_task_s": 6, "reduces": 8, "reduce_task_s": 20}, {"name": "cleaning", "maps": 60, "map_task_s": 4}]
    body = {"slots": 24, "concurrency": 2, "sweep": [1, 3], "jobs": jobs}
    plan = client.post("/v1/slot-plans", body).json()
    best = min(plan["sweep"], key=lambda point: point["makespan_s"])
    assert best["concurrency"] == 1 and best["makespan_s"] < plan["makespan_s"]
    (cli.home / "batch.json").write_text(json.dumps(body))
    shown = " ".join(cli("slots", cli.home / "batch.json").out.split())
    less = 100 * (1 - best["makespan_s"] / plan["makespan_s"])
    assert "With 1 job at a time all jobs take %.3g s, %.1f %% less." % (best["makespan_s"], less) in shown, shown
    (cli.home / "batch.json").write_text(json.dumps(dict(body, concurrency=1, sweep=[2])))
    assert "at a time all jobs take" not in cli("slots", cli.home / "batch.json").out


SLOW = {"kind": "late", "nodes": [{"name": "n1", "containers": 4, "finished": [{"type": "m", "tasks": 9, "mean_s": 20}],
                                   "running": [{"id": "m1", "type": "m", "elapsed_s": 30, "progress": 0.3}]}]}


def test_a_decision_in_json_is_the_whole_reply(cli, client):
    (cli.home / "state.json").write_text(json.dumps(SLOW))
    assert json.loads(cli("speculation", "state.json", "-o", "json").out) == client.post("/v1/speculation-decisions", SLOW).json()


def test_a_compressed_log_is_decided_on_line_by_line(cli, client):
    import gzip
    later = json.loads(json.dumps(SLOW))
    later["nodes"][0]["running"][0].update(elapsed_s=20, progress=0.1)
    states = [SLOW, dict(later, taken={"task": None}), {"kind": "late"}]
    (cli.home / "log.gz").write_bytes(gzip.compress("".join(json.dumps(state) + "\n" for state in states).encode()))
    result = cli("speculation", "--log", "log.gz", "--figures", "-o", "json", status=2)
    reply = json.loads(result.out)
    assert [line.get("differs") for line in reply["lines"]] == [None, True, None]
    assert reply["lines"][0]["decision"] == client.post("/v1/speculation-decisions", SLOW).json()
    assert reply["summary"]["refused"] == 1 and "1 of 3 lines of log.gz is at fault" in result.err
    shown = cli("speculation", "--log", "log.gz", status=2).out
    assert len(reply["lines"][1]["warnings"]) == 2 and all(w["message"] in shown for w in reply["lines"][1]["warnings"])
    assert "/nodes" in shown
    none = cli("speculation", "--log", "log.gz", "--lines", "none", status=2).out
    assert "Decisions" not in none and "How often" in none


def test_watching_can_be_interrupted(cli, client, history):
    import signal
    import time
    started = json.loads(cli("models", "refit", "nightly-etl", "--resamples", 100000, "-o", "json").out)
    watching = cli.start("operations", "watch", started["id"])
    time.sleep(1.5)
    watching.send_signal(signal.SIGINT)
    _, said = watching.communicate(timeout=30)
    assert watching.returncode == 1 and "operations cancel " + started["id"] in said
    assert client.get("/v1/operations/" + started["id"]).json()["status"] in ("queued", "running")
    cli("operations", "cancel", started["id"])


def test_a_new_token_stands_alone_on_standard_output(cli, service, make_cli):
    result = cli("tokens", "create", "--name", "fresh", "--scopes", "read", "--expires", "1h")
    token = result.out.strip()
    assert result.out == token + "\n" and token not in result.err and "expires at" in result.err
    make_cli(service.base_url, token)("apps")
    identity = [line for line in result.err.split("`") if line.startswith("provisor tokens revoke")][0].split()[-1]
    cli("tokens", "revoke", identity)
    assert token not in cli("tokens", "-o", "json").out


def test_colours_only_where_they_are_seen(cli, history):
    assert "\x1b[" in cli.terminal("runs", "nightly-etl")
    assert "\x1b[" not in cli.terminal("runs", "nightly-etl", env={"NO_COLOR": "1"})
    assert "\x1b[" not in cli.terminal("speedup", "nightly-etl", env={"TERM": "dumb"})
    assert "\x1b[" not in cli("runs", "nightly-etl").out


def test_a_plot_without_utf8(cli, history):
    for env in ({"TERM": "dumb"}, {"LC_ALL": "C"}):
        shown = cli.terminal("speedup", "nightly-etl", "--color", "never", env=env)
        assert shown.split("Model ")[0].isascii() and "+---" in shown
    assert "⠤" in cli.terminal("speedup", "nightly-etl", env={"LC_ALL": "C.UTF-8"})


def test_an_offline_command_needs_no_configuration(make_cli):
    cli = make_cli()
    (cli.home / "config").write_text("[default\n")
    for shell in ("bash", "zsh", "fish"):
        assert cli("completion", shell, env={"PROVISOR_CLIENT_CONFIG": cli.home / "config"}).out
    assert subprocess.run([PROVISOR, "man"], stdout=subprocess.PIPE, check=True).stdout


MET = {"application": "nightly-etl", "problem_size": 64, "deadline_s": 90}
AT_RISK = {"application": "nightly-etl", "problem_size": 64, "deadline_s": 60, "constraints": {"max_executors": 10}}
MISSED = {"application": "nightly-etl", "problem_size": 64, "deadline_s": 5}
UNKNOWN = {"application": "nightly-etl", "problem_size": 1e6, "deadline_s": 90}


@pytest.mark.parametrize("items, status", [([MET], 0), ([MET, AT_RISK], 4), ([MET, AT_RISK, UNKNOWN], 5), ([UNKNOWN, MISSED, MET], 3)])
def test_the_status_of_a_schedule_is_that_of_its_worst_job(cli, history, items, status):
    reply = json.loads(cli("batch", "-", "--dry-run", "-o", "json", input=json.dumps({"items": items}), status=status).out)
    verdicts = {"met": MET, "at_risk": AT_RISK, "missed": MISSED, "unknown": UNKNOWN}
    assert [verdicts[item["verdict"]] for item in reply["items"]] == items


@pytest.mark.parametrize("options, include", [
    ([], None), (["memory"], ["alternatives", "stages", "spark", "memory"]), (["no-stages"], ["alternatives", "spark"]), (["none"], []),
    (["none", "stages"], ["stages"]), (["memory", "spark", "stages", "memory"], ["alternatives", "stages", "spark", "memory"]), (["memory", "none"], []),
    (["no-memory"], ["alternatives", "stages", "spark"])])
def test_parts_of_advice_are_added_and_left_out(cli, make_cli, history, options, include):
    words = ["advise", "nightly-etl", "--size", "64", "--deadline", "90s", "--dry-run", "-o", "json"] + [word for option in options for word in ("--include", option)]
    with stub(problem(422, "no")) as server:
        make_cli(server.url, "prv_x")(*words, status=2)
        assert json.loads(server.requests[0][3]).get("include") == include
    advice = json.loads(cli(*words).out)  # and the service takes it
    assert bool(advice.get("stages")) == ("stages" in (["stages"] if include is None else include))


def test_options_change_the_parts_of_a_request(cli, history):
    (cli.home / "question.json").write_text(json.dumps({"deadline_s": 90, "include": ["stages", "memory"]}))
    asked = ("advise", "nightly-etl", "--request", "question.json", "--dry-run", "-o", "json")
    advice = json.loads(cli(*asked, "--include", "no-memory").out)
    assert advice.get("stages") and not advice.get("memory") and not advice.get("alternatives")
    assert "include" in cli(*asked, "--include", "memroy", status=2).err


def test_a_run_is_named_by_its_id_or_with_its_application(cli, client, name):
    client.post("/v1/applications/%s/runs" % name, {"problem_size": 8, "executors": 2, "cores_per_executor": 4, "duration_s": 60}, status=201)
    run = cli("runs", name, "--ids").out.strip()
    shown = json.loads(cli("runs", "show", run, "-o", "json").out)
    assert json.loads(cli("runs", "show", name, run, "-o", "json").out) == shown and shown["application"] == name
    assert json.loads(cli("runs", "correct", run, "--executors", "3", "-o", "json").out)["executors"] == 3
    assert json.loads(cli("runs", "correct", name, run, "--executors", "4", "-o", "json").out)["executors"] == 4
    cli("runs", "correct", "no-" + name, run, "--executors", "5", status=1)
    cli("runs", "delete", run, status=2)
    cli("runs", "delete", run, "--yes")
    for words in (("show", run), ("correct", run, "--executors", "1"), ("delete", run, "--yes"), ("show", name, run)):
        assert cli("runs", *words, status=1).out == ""
