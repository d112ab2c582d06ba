"""/metrics: well-formed, small, documented, and it speaks of advice, deadlines and fits."""
import pathlib
import subprocess

import pytest

from conftest import PROVISORD, ROOT
from exposition import parse


@pytest.fixture(scope="module")
def counted(make_service):
    service = make_service()
    service.alpha_token = service.token("alpha")
    return service.start()


@pytest.fixture
def alpha(counted):
    return counted.client(counted.alpha_token)


def metrics(client):
    reply = client.request("GET", "/metrics", 200, token=False)
    assert reply.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    return parse(reply.text)


def value(families, name, **labels):
    return sum(v for (sample, of), v in families[name].samples.items() if dict(of) == labels) if name in families else 0


def growth(client, act, *wanted):
    before = metrics(client)
    act()
    after = metrics(client)
    return [value(after, name, **labels) - value(before, name, **labels) for name, labels in wanted]


def table():
    printed = subprocess.run([str(PROVISORD), "metrics", "--markdown"], text=True, stdout=subprocess.PIPE, check=True).stdout
    return printed


def test_the_page_of_metrics_is_what_the_program_prints():
    page = pathlib.Path(ROOT / "docs" / "metrics.md").read_text()
    between = page.split("<!-- metrics -->\n")[1].split("<!-- /metrics -->")[0]
    assert between == table(), "run: provisord metrics --markdown"


def test_everything_shown_is_in_the_table_and_has_a_standard_name(alpha):
    documented = {line.split("`")[1]: line for line in table().splitlines() if line.startswith("| `")}
    families = metrics(alpha)
    assert set(families) <= set(documented)
    for name, family in families.items():
        assert name.startswith(("provisor_", "process_")) and not name.startswith("provisor_process_")
        assert "| %s |" % family.type in documented[name]
    for name in ("process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds", "process_max_fds",
                 "process_start_time_seconds"):
        assert value(families, name) > 0, name


def test_what_was_never_counted_takes_no_room(alpha):
    reply = alpha.request("GET", "/metrics", 200, token=False)
    assert len(reply.content) < 20000
    assert "/v1/simulations" not in reply.text and 'method="HEAD"' not in reply.text


def test_a_head_counts_as_a_get(alpha):
    counts = growth(alpha, lambda: alpha.request("HEAD", "/healthz", 200, token=False),
                    ("provisor_http_requests_total", {"route": "/healthz", "method": "GET", "code_class": "2xx"}))
    assert counts == [1]


def record(client, name, duration_s, executors=4, **more):
    body = {"problem_size": 100, "executors": executors, "cores_per_executor": 4, "duration_s": duration_s,
            "stages": [{"id": 0, "tasks": 100, "task_duration_s": 6}]}
    return client.post("/v1/applications/%s/runs" % name, dict(body, **more), 201)


def test_advice_is_counted_by_outcome(alpha, name):
    record(alpha, name, 50)

    def ask():
        alpha.post("/v1/advice", {"application": name, "deadline_s": 600}, 201)
        alpha.post("/v1/advice", {"application": name, "deadline_s": 0.001}, 201)
        alpha.post("/v1/advice?dry_run=true", {"application": name, "deadline_s": 600}, 200)

    assert growth(alpha, ask, ("provisor_advice_total", {"verdict": "met", "dry_run": "false"}),
                  ("provisor_advice_total", {"verdict": "missed", "dry_run": "false"}),
                  ("provisor_advice_total", {"verdict": "met", "dry_run": "true"})) == [1, 1, 1]


def test_runs_that_followed_advice_are_counted_by_how_they_turned_out(alpha, name):
    for duration in (50, 52, 51, 49, 50.5):
        record(alpha, name, duration)
    advice = alpha.post("/v1/advice", {"application": name, "deadline_s": 60}, 201).json()
    best = advice["recommendation"]
    lower, upper = best["interval_s"]

    def follow():
        record(alpha, name, (lower + upper) / 2, executors=best["executors"], advice_id=advice["id"])
        record(alpha, name, upper + 1000, executors=best["executors"], advice_id=advice["id"])
        record(alpha, name, 50)

    assert growth(alpha, follow, ("provisor_advised_runs_total", {"interval": "inside"}),
                  ("provisor_advised_runs_total", {"interval": "slower"}),
                  ("provisor_advised_run_deadlines_total", {"outcome": "met"}),
                  ("provisor_advised_run_deadlines_total", {"outcome": "missed"})) == [1, 1, 1, 1]


def test_lookups_of_histories_in_memory_are_counted(alpha, name):
    record(alpha, name, 50)

    def ask():
        for _ in range(3):
            alpha.post("/v1/advice?dry_run=true", {"application": name, "deadline_s": 600}, 200)

    hits, stale, misses = growth(alpha, ask, *[("provisor_prediction_cache_lookups_total", {"outcome": o}) for o in ("hit", "stale", "miss")])
    assert misses >= 1 and hits >= 1 and hits + stale + misses >= 3
