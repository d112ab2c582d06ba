"""What the executed notebooks show is what the service answers, and what their text says is true of it."""
import re

import pytest

from conftest import NAMES

PROGRESS = re.compile(r"(\r(simulation|operation)\b[^\r\n]*|\n)*")
SIZES = (128, 256, 512)


@pytest.mark.parametrize("round", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_fails_and_nothing_warns(executions, name, round):
    book = executions[round].books[name]
    for cell, outputs in book.outputs.items():
        assert [o for o in outputs if o.output_type == "error"] == [], cell
        assert PROGRESS.fullmatch(book.said(cell, "stderr")), (cell, book.said(cell, "stderr"))
    assert executions[round].stderr == ""


@pytest.mark.parametrize("name, pictures, tables", [
    ("01-from-event-logs-to-advice", 3, 1), ("02-what-if-the-data-doubles", 2, 3), ("03-which-deadlines-collide", 4, 3),
    ("04-copy-plans-for-three-regions", 3, 4)])
def test_pictures_speak_and_tables_have_captions(books, name, pictures, tables):
    shown = [books[name].html(cell) for cell in books[name].outputs]
    images = [image for html in shown for image in html.images]
    assert len(images) == pictures and all(src.startswith("data:image/svg+xml;base64,") and len(alt) > 60 for src, alt in images)
    found = [table for html in shown for table in html.tables]
    assert len(found) == tables and all(len(caption) > 10 and rows for caption, _, rows in found)


def test_text_is_shown_beside_everything(books):
    """What has no HTML, or cannot be shown by who looks, is text."""
    for book in books.values():
        for outputs in book.outputs.values():
            assert all(o.data.get("text/plain") for o in outputs if "data" in o)


def test_they_can_be_repeated(executions, client, sample):
    first, again = (execution.books for execution in executions)
    logs = sum(path.is_file() for path in sample.rglob("*"))
    assert first[NAMES[0]].said("ingest") == "%d logs: stored\n" % logs
    assert again[NAMES[0]].said("ingest") == "%d logs: duplicate\n" % logs
    assert sum(application.runs for application in client.apps()) == logs
    assert list(client.clusters()) == [] and list(client.past_advice()) == []
    for name in NAMES[:3]:
        for cell in set(first[name].outputs) - {"ingest", "submit"}:
            assert first[name].said(cell) == again[name].said(cell), cell


# --- from event logs to advice ---


def test_the_runs_are_those_of_the_service(books, client):
    shown = {(float(row["problem size"]), int(executors)): float(text) for row in books[NAMES[0]].rows("runs")
             for executors, text in row.items() if executors != "problem size"}
    assert shown == {(run.problem_size, run.executors): round(run.duration_s, 1) for run in client.runs("nightly-etl")}


def test_the_advice_is_that_of_the_service(books, client):
    book = books[NAMES[0]]
    advice = client.advise("nightly-etl", problem_size=64, deadline_s=90, dry_run=True, include=["next_experiments", "alternatives"])
    best = advice.recommendation
    assert advice.verdict == "met"
    assert book.said("advice").startswith("met: %d executors of %d cores\n" % (best.executors, best.cores_per_executor))
    assert "%.0f s,\nbetween %.0f s and %.0f s" % (best.predicted_duration_s, *best.interval_s) in book.said("advice")
    assert "probability of %.1f%%" % (100 * best.deadline_probability) in book.said("advice")
    assert book.said("reasons") == "".join("- %s\n" % reason.message for reason in advice.reasons)
    assert "spark.executor.instances=%d\n" % best.executors in book.said("submit") and "adviceId" not in book.said("submit"), "a dry run has no id"
    assert len(re.findall(r"^problem size", book.said("experiments"), re.M)) == len(advice.next_experiments) > 0
    assert "%d executors last time, %d now:" % (advice.last_run.executors, best.executors) in book.said("compared")
    assert str(best.executors) in book.html("advice-picture").images[0][1]


def test_more_executors_help_less_and_less(books):
    _, times, _, faster = re.search(r"size (\d+), ([\d.]+) times the executors \((.*?)\) made the job ([\d.]+) times as fast",
                                    books[NAMES[0]].said("diminishing-numbers")).groups()
    assert float(faster) < float(times) / 2


# --- what if the data doubles? ---


@pytest.fixture
def answers(client):
    return [client.advise("nightly-etl", problem_size=size, deadline_s=150, constraints={"price_per_executor_hour": 0.23}, dry_run=True,
                          include=["alternatives", "autoscaling"]) for size in SIZES]


def test_growth_is_answered_as_the_service_does(books, answers):
    book = books[NAMES[1]]
    rows = book.rows("growth-table")
    assert [(float(row["problem_size"]), row["verdict"], int(row["executors"]), float(row["cost"])) for row in rows] == \
        [(a.problem_size, a.verdict, a.recommendation.executors, round(a.recommendation.cost, 3)) for a in answers]
    assert [row["predicted_duration_s"] for row in rows] == ["%.0f" % a.recommendation.predicted_duration_s for a in answers]
    assert all(a.reasons[0].message in book.said("growth-words") for a in answers)
    assert all(warning.message in book.said("widths") for a in answers for warning in a.warnings
               if warning.code != "executor_startup_assumed")  # of dynamic allocation, which the book asks for later
    assert {int(row["executors"]) for row in book.rows("trade-table")} == {a.executors for a in answers[1].alternatives}
    assert [row["allocation"] for row in book.rows("allocation-table")] == [case.allocation.replace("_", " ") for case in answers[1].autoscaling.cases]


def test_what_is_said_of_growth_is_true(answers):
    """The deadline holds at twice the data with far more than twice the executors, and not at four times; intervals widen."""
    assert [a.verdict for a in answers] == ["met", "met", "missed"]
    best = [a.recommendation for a in answers]
    assert best[1].executors > 3 * best[0].executors and best[1].cost > 2.5 * best[0].cost
    widths = [(high - low) / b.predicted_duration_s for b in best for low, high in [b.interval_s]]
    assert widths == sorted(widths) and widths[2] > 2 * widths[0]
    cases = {case.allocation: case for case in answers[1].autoscaling.cases}
    assert cases["dynamic_from_minimum"].predicted_duration_s > cases["static"].predicted_duration_s
    assert 0.95 < cases["dynamic_from_minimum"].cost / cases["static"].cost < 1.02


def test_runs_to_make_narrow_the_interval(books):
    found = re.findall(r"executor hours, cost ([\d.]+); interval (\d+) to (\d+) s becomes (\d+) to (\d+) s", books[NAMES[1]].said("experiments"))
    with_doubled, without = [[float(text) for text in row] for row in found]
    for _, low, high, then_low, then_high in (with_doubled, without):
        assert then_high - then_low < high - low
    assert with_doubled[4] - with_doubled[3] < without[4] - without[3] and with_doubled[0] > without[0]


# --- which deadlines collide? ---

JOBS = [{"name": "nightly", "application": "nightly-etl", "problem_size": 128, "release_s": 0, "deadline_s": 170},
        {"name": "training", "application": "churn-training", "problem_size": 64, "release_s": 30, "deadline_s": 136},
        {"name": "report", "application": "hourly-report", "problem_size": 48, "release_s": 60, "deadline_s": 40}]


def test_deadlines_collide_as_the_service_says(books, client):
    book = books[NAMES[2]]
    together = client.feasibility(cluster={"executors": 5, "cores_per_executor": 4}, jobs=JOBS)
    assert [job.name for job in together.jobs if not job.met] == ["nightly"]
    assert book.said("alone-numbers").count("in time") == 3 and "late" not in book.said("alone-numbers")
    late = together.jobs[0]
    assert "nightly: %.0f s of 170 s, %.0f s late\n" % (late.execution_s, late.execution_s - 170) in book.said("together-words")
    assert book.said("together-words").endswith("".join("%s\n" % reason.message for reason in together.reasons))
    assert "%d cores instead of 20,\n" % together.remedies.min_total_cores in book.said("remedies-words")
    assert "nightly: %.0f s" % together.remedies.deadlines_s["nightly"] in book.said("remedies-words")


def test_the_shares_of_the_cores_add_up(books):
    rows = books[NAMES[2]].rows("why-table")
    assert {row["who"] for row in rows} == {"nightly", "training", "report", "idle"}
    assert all(float(row["core seconds"]) > 0 for row in rows) and abs(sum(int(row["share"].rstrip("%")) for row in rows) - 100) <= 2


def test_the_remedies_work(books):
    assert "executors: Every job meets its deadline" in books[NAMES[2]].said("more-cores")
    assert books[NAMES[2]].said("raised-deadlines").startswith("Every job meets its deadline")


def test_cores_are_shared_by_strategy(books):
    asked = sum(float(row["requested_cores"]) for row in books[NAMES[2]].rows("contention-request"))
    assert asked > 20
    rows = {row.pop("strategy"): [float(text) for text in row.values()] for row in books[NAMES[2]].rows("contention-strategies")}
    assert len(rows) == 5 and all(abs(sum(cores) - 20) < 0.2 for cores in rows.values())
    assert len({tuple(cores) for cores in rows.values()}) >= 4, "strategies that say the same"


# --- copy plans for three regions ---


def test_copies_are_planned_as_the_table_says(books):
    book = books[NAMES[3]]
    rows = book.rows("plan-table")
    copies, tasks, insured = map(int, re.match(r"(\d+) copies of (\d+) tasks,\n(\d+)", book.said("plan-words")).groups())
    clusters = [row["clusters"].split(", ") for row in rows]
    assert (copies, tasks, insured) == (sum(map(len, clusters)), len(rows), sum(len(of) > 1 for of in clusters)) and insured > 0
    alone, with_copies = map(float, re.findall(r"([\d.]+)%", book.said("insurance-words")))
    assert with_copies > alone and with_copies == min(float(row["exemption_probability"].rstrip("%")) for row in rows)


def test_the_region_that_is_lost_is_not_used(books):
    alt = books[NAMES[3]].html("unreachable-plan").images[0][1]
    assert "notebook-sydney: 0 slots used" in alt and "notebook-frankfurt: 0 slots" not in alt
    after, before = map(int, re.search(r"take (\d+) s on average, instead of (\d+) s", books[NAMES[3]].said("unreachable-words")).groups())
    assert after > before


def test_planners_are_compared(books, client):
    assert [row["planner"] for row in books[NAMES[3]].rows("planners-table")] == ["pingan", "flutter", "iridium", "mantri", "dolly", "spark"]
    operation = next(o for o in client.operations() if o.kind == "simulation")
    result = client.operation(operation.id).result
    rows = books[NAMES[3]].rows("simulation-table")
    assert [(float(row["arrivals (1/s)"]), row["policy"], row["mean (s)"]) for row in rows] == \
        [(load.arrival_rate_per_s, p.name, "%.0f" % p.flow_time_s.mean) for load in result.loads for p in load.policies]
    assert all(load.best.message in books[NAMES[3]].said("simulation-words") for load in result.loads)
    assert "succeeded" in books[NAMES[3]].said("simulation", "stderr")
