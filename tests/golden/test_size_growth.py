"""Predictions of sizes that never ran, from the C3O and machine-types tables, obey physics for every kind, and errors stay as good as docs/accuracy.md says.

Usage: test_size_growth.py PREDICT_RUNS. Exits 77 without the shared data ($PROVISOR_SHARED, else ../shared).
"""
import collections
import csv
import os
import pathlib
import statistics
import subprocess
import sys

SHARED = pathlib.Path(os.environ.get("PROVISOR_SHARED") or pathlib.Path(__file__).resolve().parents[3] / "shared")
SIZE_INPUTS = {"grep": "lines", "kmeans": "observations", "pagerank": "links"}
COMMON = ("instance_count", "slots", "memory", "data_size_MB", "gross_runtime")
# Blocks of 128 MiB by the report's size; of kmeans, whose reports have no bytes, numbers in the ratio of the data.
BLOCKS = {"terasort": (372.5, 745.1), "lr": (179.3, 358.1), "pagerank": (22.3, 45.5), "kmeans": (1000.0, 2000.0)}
# One size known, others asked for: mean absolute percentage errors of auto, larger and smaller sizes.
MOST = {"grep": (8.2, 9.2), "kmeans": (20.5, 12.1), "pagerank": (6.2, 6.6), "machine-types": (17.8, 25.2)}
# At most so many times the slowest recorded run, for twice the largest size.
TWICE = 3.0


def table(name):
    with open(SHARED / "data" / name, encoding="ascii") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def c3o(application, labels):
    """Histories of runs that agree in these labels: (blocks, executors, seconds)."""
    groups = collections.defaultdict(list)
    for row in table("c3o/%s.tsv" % application):
        run = (float(row["data_size_MB"]) / 128, float(row["instance_count"]), float(row["gross_runtime"]))
        groups[tuple(row[label] for label in labels)].append(run)
    return list(groups.values())


def machine_types():
    groups = collections.defaultdict(list)
    for row in table("machine-types/runs.tsv"):
        if row["completed"] == "true":
            run = (BLOCKS[row["app"]][row["datasize"] == "bigdata"], float(row["nodes"]), float(row["elapsed_s"]))
            groups[row["app"], row["machine_type"]].append(run)
    return list(groups.values())


def histories():
    """Every table grouped by all labels but the size, by machine, and by machine and one further label."""
    yield "machine-types", machine_types()
    for application, size_input in SIZE_INPUTS.items():
        labels = [label for label in table("c3o/%s.tsv" % application)[0] if label not in COMMON and label != size_input]
        inputs = [label for label in labels if label != "machine_type"]
        yield application, c3o(application, labels)
        yield application + " by machine", c3o(application, ["machine_type"])
        for label in inputs:
            yield application + " by machine and " + label, c3o(application, ["machine_type", label])


def ask(program, asked):
    """[(runs, questions)]: for each question {kind: seconds}."""
    lines = []
    for runs, questions in asked:
        lines += ["H", *("R %r %r %r" % run for run in runs), *("Q %r %r" % question for question in questions)]
    out = iter(subprocess.run([program], input="\n".join(lines) + "\n", check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines())
    return [[dict((kind, float(seconds)) for kind, seconds in (line.split() for line in iter(lambda: next(out), ".")))
             for _ in questions] for _, questions in asked]


def medians(runs):
    cells = collections.defaultdict(list)
    for size, executors, seconds in runs:
        cells[size, executors].append(seconds)
    return {cell: statistics.median(times) for cell, times in cells.items()}


def is_contradicted(cells, size, executors):
    """A recorded median of more data, with at most 1.4 times less for each executor, took less in proportion."""
    return any(n > size and m >= executors and size / executors <= 1.4 * n / m * (1 + 1e-9)
               and seconds * max(1, size / executors / (n / m)) < cells[size, executors] for (n, m), seconds in cells.items())


def check_physics(program, name, groups, expect):
    """Weak scaling for every recorded median, and growth beyond the largest size, of every kind."""
    asked = []
    for runs in groups:
        cells = medians(runs)
        most = max(size for size, _ in cells)
        counts = sorted(m for size, m in cells if size == most)
        weak = [(k * size, j * m) for size, m in cells for k, j in ((2, 2), (2, 1), (1.2, 1.2))]
        asked.append((runs, weak + [(k * most, m) for m in counts for k in (1, 1.05, 1.2, 2, 4)]))
    asked = [(runs, questions) for runs, questions in asked if len(medians(runs)) >= 3]
    worst, compared, highest = 1.0, 0, 0.0
    for (runs, _), answers in zip(asked, ask(program, asked)):
        cells = medians(runs)
        slowest = max(seconds for _, _, seconds in runs)
        at = iter(answers)
        for size, m in cells:
            for _ in range(3):
                times = next(at)
                if is_contradicted(cells, size, m):
                    continue
                compared += len(times)
                worst = min([worst, *(t / cells[size, m] for t in times.values() if t > 0)])
        for _ in range(sum(size == max(n for n, _ in cells) for size, _ in cells)):
            steps = [next(at) for _ in range(5)]
            for kind in steps[0]:
                rising = [times[kind] for times in steps]
                if rising[0] > 0 and any(b < a * (1 - 1e-9) for a, b in zip(rising, rising[1:])):
                    expect(False, "%s: %s does not fall with the data: %s" % (name, kind, rising))
            highest = max(highest, steps[3].get("auto", 0) / slowest)
    expect(compared > 100, "%s: %d predictions compared with recorded medians" % (name, compared))
    expect(worst >= 1 - 1e-9, "%s: more data on more executors at least %.4f of a recorded median" % (name, worst))
    expect(highest <= TWICE, "%s: twice the largest size at most %.2f times the slowest run" % (name, highest))


def check_errors(program, name, groups, expect):
    asked, truths = [], []
    for runs in groups:
        for known in sorted({size for size, _, _ in runs}):
            base = [run for run in runs if run[0] == known]
            counts = {run[1] for run in base}
            others = [run for run in runs if run[0] != known and run[1] in counts]
            if len(counts) >= 3 and others:
                asked.append((base, [run[:2] for run in others]))
                truths.append((known, others))
    errors = ([], [])
    for (known, others), answers in zip(truths, ask(program, asked)):
        for (size, _, seconds), times in zip(others, answers):
            errors[size < known].append(100 * abs(times["auto"] - seconds) / seconds)
    for side, most in zip((0, 1), MOST[name]):
        mean = statistics.mean(errors[side])
        expect(mean <= most, "%s: one size known, %s asked for: %.2f <= %.1f (%d runs)"
               % (name, ("larger", "smaller")[side], mean, most, len(errors[side])))


def main():
    if not all((SHARED / "data" / "c3o" / (name + ".tsv")).is_file() for name in SIZE_INPUTS):
        print("skipped: no shared data at %s (set PROVISOR_SHARED)" % SHARED)
        return 77
    faults = []

    def expect(holds, text):
        print("%s %s" % ("ok" if holds else "NOT SO", text))
        if not holds:
            faults.append(text)

    for name, groups in histories():
        check_physics(sys.argv[1], name, groups, expect)
        if name in MOST:
            check_errors(sys.argv[1], name, groups, expect)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
