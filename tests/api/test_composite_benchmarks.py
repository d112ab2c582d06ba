"""The composite benchmarks of the xSpark thesis (tests/bench/bench_composites.py): the page agrees with the service, and what the
thesis found holds for them. Findings on random sets: tests/unit/core/control/test_control_findings.c."""
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "bench"))
import bench_composites as bench  # noqa: E402

SETS = [(name, variant) for name in ("Spark-Bench", "Spark-Perf", "Mixed 2", "Mixed 3", "Comparison 1", "Comparison 2") for variant in bench.VARIANTS]
OTHERS = bench.STRATEGIES[1:]


@pytest.fixture(scope="module")
def replay(shared, make_service):
    service = make_service(**bench.SETTINGS)
    service.start()
    client = service.client(service.token("alpha"))
    return bench.Replay(lambda path, body: client.post(path, body, 200).json(), shared)


def in_time(replay, name, variant, key):
    return replay.outcome(name, variant, key)["metrics"]["advance"]


def feasible(replay, name, variant, key):
    return replay.outcome(name, variant, key)["feasible"]


def epsilon(replay, name, variant, key):
    return replay.outcome(name, variant, key)["metrics"]["epsilon"]


def test_the_page_has_what_the_service_computes(replay):
    on_page = {m.group(2): m.group(0) for m in bench.MARKED.finditer(bench.PAGE.read_text())}
    parts = bench.sections(replay)
    assert set(on_page) == set(parts)
    for name, part in parts.items():
        assert part in on_page[name], "docs/deadlines-measured.md is stale: run tests/bench/bench_composites.py --write"


def test_profiles_and_applications(replay):
    assert set(replay.names()) == {name for name, _ in SETS}
    assert set(replay.names(reconstructed=True)) == {"TPC-H", "Mixed 1"}
    for application in bench.PROFILES:
        scaled = replay.stages(application, "scaled")
        answer = replay.ask("/v1/feasibility", {"cluster": replay.cluster, "jobs": [{"name": "J", "deadline_s": 1e6, "stages": scaled}]})
        assert answer["jobs"][0]["execution_s"] == pytest.approx(replay.profiled_s[application])
    with pytest.raises(KeyError):
        replay.factor("Q8", "static")


# --- what was measured ---

def test_scaled_as_many_are_in_time_as_were_measured(replay):
    """All but Spark-Perf, a close call, and speed on Spark-Bench, where scaled applications contend for more cores than real ones."""
    for name in ("Spark-Bench", "Mixed 2", "Mixed 3"):
        rows = replay.golden["measured_results"][name]
        for row in rows:
            key = row["strategy"], row["gamma"]
            if (name, key[0]) != ("Spark-Bench", "speed"):
                assert in_time(replay, name, "scaled", key) == row["advance"], (name, key)
    for gamma in (0, 1):
        assert in_time(replay, "Spark-Bench", "scaled", ("speed", gamma)) == 2
        assert in_time(replay, "Spark-Bench", "static", ("speed", gamma)) == 3, "as measured"
    assert in_time(replay, "Spark-Bench", "scaled", "clairvoyance_edf") == replay.golden["clairvoyance_edf"]["Spark-Bench"]["advance"]


def test_scaled_mean_errors_are_near_those_measured(replay):
    for strategy in ("edf_pure", "edf_proportional", "proportional"):
        for gamma in (0, 1):
            measured = replay.measured("Spark-Bench", (strategy, gamma))["epsilon"]
            assert epsilon(replay, "Spark-Bench", "scaled", (strategy, gamma)) == pytest.approx(measured, abs=2)


def test_spark_perf_is_a_close_call(replay):
    """As on the cluster, no strategy keeps all three deadlines; with gamma 1, none misses the last one by more than 2 %."""
    for strategy in bench.STRATEGIES:
        for gamma in (0, 1):
            assert not feasible(replay, "Spark-Perf", "scaled", (strategy, gamma))
        assert replay.outcome("Spark-Perf", "scaled", (strategy, 1))["metrics"]["epsilon_delayed"] < 2


@pytest.mark.parametrize("name", ["Comparison 1", "Comparison 1, implied", "Comparison 2"])
def test_comparisons_miss_the_deadlines_that_were_missed(replay, name):
    rows = {row["application"]: row["deadline_s"] for row in replay.golden["benchmarks"][bench.table_name(name)]}
    for configuration, key in bench.CONFIGURATIONS.items():
        measured = replay.golden["comparisons"][bench.table_name(name)][configuration]
        for job in replay.outcome(name, "scaled", key)["jobs"]:
            assert job["met"] == (measured[job["name"]] <= rows[job["name"]]), (configuration, job)


def test_the_releases_of_comparison_1_are_those_of_its_times(replay):
    """Where the thesis names the end of all, it is that of the implied releases and not of those printed."""
    times = replay.golden["comparisons"]["Comparison 1"]
    for releases, agrees in ((bench.IMPLIED["Comparison 1, implied"], True), ({"KMeans": 0, "PageRank": 40, "SVM": 100}, False)):
        ends = {c: max(times[c][a] + releases[a] for a in releases) for c in bench.CONFIGURATIONS if c != "edf_pure gamma 0"}
        close = [abs(ends[c] - s) < 1 for c, s in (("spark_fifo", 222), ("edf_all gamma 1", 230), (bench.STATIC, 226))]
        assert all(close) == agrees


def test_published_spark_bench_is_feasible_with_foresight(replay):
    assert in_time(replay, "Spark-Bench", "published", "clairvoyance_edf") == 3
    assert in_time(replay, "Spark-Perf", "published", "clairvoyance_edf") == 0, "runs of twice the data"


# --- what the thesis found ---

@pytest.mark.parametrize("name, variant", SETS)
def test_gamma_1_never_lowers_the_number_in_time(replay, name, variant):
    for strategy in bench.STRATEGIES:
        assert in_time(replay, name, variant, (strategy, 1)) >= in_time(replay, name, variant, (strategy, 0)), strategy


@pytest.mark.parametrize("name, variant", SETS)
def test_in_feasible_sets_edf_all_errs_most(replay, name, variant):
    for gamma in (0, 1):
        for strategy in OTHERS:
            if feasible(replay, name, variant, (strategy, gamma)) and feasible(replay, name, variant, ("edf_all", gamma)):
                assert epsilon(replay, name, variant, (strategy, gamma)) < epsilon(replay, name, variant, ("edf_all", gamma)), strategy


@pytest.mark.parametrize("name, variant", SETS)
def test_what_edf_all_misses_no_strategy_keeps(replay, name, variant):
    for gamma in (0, 1):
        if not feasible(replay, name, variant, ("edf_all", gamma)):
            assert not any(feasible(replay, name, variant, (strategy, gamma)) for strategy in OTHERS)


def test_feasible_sets_err_by_about_5_percent(replay):
    """With gamma 0: 1 - alpha, and a little more for whole tasks."""
    errors = [epsilon(replay, name, variant, (strategy, 0)) for name, variant in SETS for strategy in OTHERS
              if feasible(replay, name, variant, (strategy, 0))]
    assert len(errors) > 10
    assert 4 < sum(errors) / len(errors) < 7 and max(errors) < 9, errors
