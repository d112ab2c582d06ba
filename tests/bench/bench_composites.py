#!/usr/bin/python3
"""The composite benchmarks of the xSpark thesis, replayed from its authors' profiles, beside what they measured.

    tests/bench/bench_composites.py            prints tables as Markdown
    tests/bench/bench_composites.py --write    puts them into docs/deadlines-measured.md

PROVISOR_BUILD says which build (default build), PROVISOR_SHARED where the shared data is (default ../shared):
golden/xspark_composite_benchmarks.json and data/xspark-profiles. Every figure of ours is an answer of a provisord that is
started for it: POST /v1/control-simulations and /v1/feasibility. What the variants are says docs/deadlines-measured.md.
"""
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("PROVISOR_SHARED", ROOT.parent / "shared")).resolve()
PAGE = ROOT / "docs" / "deadlines-measured.md"

VARIANTS = ["scaled", "published"]
STRATEGIES = ["edf_all", "edf_pure", "edf_proportional", "proportional", "speed"]
BASELINES = ["clairvoyance_edf", "spark_fifo", "spark_static"]
METRICS = ["advance", "delayed", "epsilon", "epsilon_advance", "epsilon_delayed", "epsilon_absolute"]
PROFILES = {"PageRank": "Spark_PageRank_Application", "KMeans": "Spark_KMeans_Example", "SVM": "SVM_Classifier_Example",
            "aggregate-by-key": "TestRunner__aggregate-by-key", "aggregate-by-key-naive": "TestRunner__aggregate-by-key-naive",
            "aggregate-by-key-int": "TestRunner__aggregate-by-key-int"}
# Queries without a profile: only how long they took on all cores is known. This many stages, one after the other, of this
# many tasks for each core.
RECONSTRUCTED_STAGES, RECONSTRUCTED_WAVES = 4, 4
# Configurations of the thesis's comparisons, and what they are here.
STATIC, STATIC_CORES = "static partitioning, 5 cores each", 5
CONFIGURATIONS = {"spark_fifo": "spark_fifo", "edf_all gamma 1": ("edf_all", 1), "edf_pure gamma 0": ("edf_pure", 0),
                  STATIC: "spark_static"}
# Release times that the figures of Comparison 1 imply, in place of those printed.
IMPLIED = {"Comparison 1, implied": {"PageRank": 0, "KMeans": 40, "SVM": 80}}
SETTINGS = {"PROVISOR_CONTROL_INLINE_STEPS": 10**9}  # answered at once, whatever their size


def table_name(name):
    """The benchmark as the thesis names it."""
    return name.removesuffix(", implied")


def load(shared=SHARED):
    """The golden file, and the profiles by application."""
    golden = json.loads((shared / "golden" / "xspark_composite_benchmarks.json").read_text())
    return golden, {a: json.loads((shared / "data" / "xspark-profiles" / (f + ".json")).read_text()) for a, f in PROFILES.items()}


def stages_of(profile):
    """Stages that ran, but those that generate the input data, with the parents among them."""
    kept = {int(i): s for i, s in profile.items() if not s.get("skipped") and s.get("numtask") and s.get("duration") and not s.get("genstage")}
    return [{"id": i, "parents": sorted({p for p in s["parentsIds"] if p in kept}), "tasks": s["numtask"],
             "task_duration_s": s["duration"] / 1000 / s["numtask"]} for i, s in sorted(kept.items())]


def chain(duration_s, cores):
    """Stages one after the other that take so long on all cores."""
    return [{"id": i, "parents": [i - 1] if i else [], "tasks": RECONSTRUCTED_WAVES * cores,
             "task_duration_s": duration_s / RECONSTRUCTED_STAGES / RECONSTRUCTED_WAVES} for i in range(RECONSTRUCTED_STAGES)]


class Replay:
    """ask(path, body): the reply of a service."""

    def __init__(self, ask, shared=SHARED):
        self.ask = ask
        self.golden, self.profiles = load(shared)
        self.cluster = self.golden["cluster"]
        self.cores = self.cluster["executors"] * self.cluster["cores_per_executor"]
        self.profiled_s = {row["application"]: row["profiled_duration_s"] for rows in self.golden["benchmarks"].values()
                           for row in rows if row["profiled_duration_s"] is not None}
        self.static_s = {application: took for name in self.names("Comparison")
                         for application, took in self.golden["comparisons"][name][STATIC].items()}
        self.answers, self.alone = {}, {}

    def names(self, prefix="", reconstructed=False):
        """Benchmarks whose applications all have profiles; reconstructed: those with some that have none."""
        return [name for name, rows in self.golden["benchmarks"].items()
                if name.startswith(prefix) and any(row["application"] not in PROFILES for row in rows) == reconstructed]

    def cluster_of(self, name):
        return dict(self.cluster, cores_per_executor=15) if name.startswith("Comparison") else self.cluster  # section 5.4

    def alone_s(self, application, cores_per_executor=None):
        """How long the application takes by its profile, nothing else running; on all cores of an executor unless given."""
        cluster = dict(self.cluster, **({"cores_per_executor": cores_per_executor} if cores_per_executor else {}))
        key = application, cores_per_executor
        if key not in self.alone:
            job = {"name": application, "deadline_s": 1e6, "stages": stages_of(self.profiles[application])}
            self.alone[key] = self.ask("/v1/feasibility", {"cluster": cluster, "jobs": [job]})["jobs"][0]["execution_s"]
        return self.alone[key]

    def factor(self, application, variant):
        """What task durations of the profile are multiplied by."""
        if variant == "scaled":
            return self.profiled_s[application] / self.alone_s(application)
        if variant == "static":
            return self.static_s[application] / self.alone_s(application, STATIC_CORES)
        return 1

    def stages(self, application, variant):
        if application not in self.profiles:
            return chain(self.profiled_s[application], self.cores)
        factor = self.factor(application, variant)
        return [dict(s, task_duration_s=s["task_duration_s"] * factor) for s in stages_of(self.profiles[application])]

    def request(self, name, variant):
        """The body of the control simulation. variant: scaled, published or static; a name in IMPLIED with the releases that are implied."""
        rows = self.golden["benchmarks"][table_name(name)]
        releases = IMPLIED.get(name) or {row["application"]: row["delay_s"] for row in rows}
        configuration = self.golden["configuration"]
        jobs = [{"name": row["application"], "release_s": releases[row["application"]], "deadline_s": row["deadline_s"],
                 "alpha": configuration["alpha"], "nominal_rate": row["nominal_rate"],
                 "stages": self.stages(row["application"], variant)} for row in rows]
        return {"cluster": self.cluster_of(name), "jobs": jobs, "strategies": STRATEGIES, "gammas": [0, 1], "beta": configuration["beta"],
                "average_nominal_rate": configuration["average_nominal_rate"],
                "controller": {"gain": configuration["k"], "integral_time_s": configuration["ti_s"], "sample_s": configuration["sample_time_s"],
                               "core_quantum": configuration["core_quantum"]}}

    def answer(self, name, variant):
        if (name, variant) not in self.answers:
            self.answers[name, variant] = self.ask("/v1/control-simulations", self.request(name, variant))
        return self.answers[name, variant]

    def outcome(self, name, variant, key):
        """key: (strategy, gamma), or a baseline."""
        answer = self.answer(name, variant)
        [found] = ([b for b in answer["baselines"] if b["baseline"] == key] if isinstance(key, str) else
                   [o for o in answer["outcomes"] if (o["strategy"], o["gamma"]) == key])
        return found

    def measured(self, name, key):
        """The thesis's figures of a strategy and gamma, or of Clairvoyance EDF; {} where it has none."""
        if isinstance(key, str):
            return self.golden["clairvoyance_edf"].get(name, {}) if key == "clairvoyance_edf" else {}
        return next((r for r in self.golden["measured_results"].get(name, []) if (r["strategy"], r["gamma"]) == key), {})


# --- tables ---

KEYS = [(s, g) for s in STRATEGIES for g in (0, 1)] + BASELINES
HEADINGS = ["in time", "late", "mean error %", "sum, in time %", "sum, late %", "sum %"]


def table(headings, rows):
    lines = ["| " + " | ".join(headings) + " |", "|" + "|".join("---" for _ in headings) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def figure(value, theirs=None, digits=1):
    """Ours, and in brackets the thesis's where it has one."""
    text = "%.*f" % (digits, value)
    return text if theirs is None else "%s (%.*f)" % (text, digits, theirs)


def name_of(key):
    return "`%s`" % key if isinstance(key, str) else "`%s` %d" % key


def outcomes_table(replay, name, variant):
    rows = []
    for key in KEYS:
        ours, theirs = replay.outcome(name, variant, key)["metrics"], replay.measured(name, key)
        rows.append([name_of(key)] + [figure(ours[m], theirs.get(m), 0 if m in ("advance", "delayed") else 1) for m in METRICS])
    return table(["strategy, gamma"] + HEADINGS, rows)


def late(job):
    return "%.1f%s" % (job["deadline_error_percent"], "" if job["met"] else " late")


def foresight_table(replay):
    rows = []
    for name in replay.names():
        if name not in replay.golden["clairvoyance_edf"]:
            continue
        theirs = replay.golden["clairvoyance_edf"][name]
        ours = [{j["name"]: j for j in replay.outcome(name, v, "clairvoyance_edf")["jobs"]} for v in VARIANTS]
        # The thesis says of no application that it is late but how many are: those of the sum of the late.
        for row in replay.golden["benchmarks"][name]:
            application = row["application"]
            error = theirs["errors"][application]
            missed = theirs["delayed"] == 1 and error == theirs["epsilon_delayed"]
            rows.append([name, application, "%.1f%s" % (error, " late" if missed else "")] + [late(jobs[application]) for jobs in ours])
    return table(["benchmark", "application", "thesis %", "scaled %", "published %"], rows)


def comparison_table(replay, name):
    rows = []
    for configuration, key in CONFIGURATIONS.items():
        theirs = replay.golden["comparisons"][table_name(name)][configuration]
        ours = [{j["name"]: j for j in replay.outcome(name, v, key)["jobs"]} for v in VARIANTS]
        for row in replay.golden["benchmarks"][table_name(name)]:
            application, deadline_s = row["application"], row["deadline_s"]
            took = [theirs[application]] + [jobs[application]["execution_s"] for jobs in ours]
            rows.append([name_of(key), application, figure(deadline_s, digits=0)] + [figure(s) + ("" if s <= deadline_s else " late") for s in took])
    return table(["configuration", "application", "deadline s", "thesis s", "scaled s", "published s"], rows)


def profiles_table(replay):
    rows = []
    for application, profile in replay.profiles.items():
        stages = stages_of(profile)
        generated_s = sum(s["duration"] for s in profile.values() if s.get("genstage")) / 1000
        rows.append([application, "%d" % len(stages), "%d" % sum(s["tasks"] for s in stages),
                     "%.0f" % sum(s["tasks"] * s["task_duration_s"] for s in stages), "%.0f" % generated_s,
                     "%.1f" % replay.alone_s(application), figure(replay.profiled_s[application])])
    return table(["application", "stages", "tasks", "task time s", "of generating stages s", "alone on 64 cores s", "thesis s"], rows)


def sections(replay):
    """The parts of the page that are computed, by name."""
    parts = {"profiles": profiles_table(replay)}
    for name in replay.names():
        if not name.startswith("Comparison"):
            parts.update(("%s, %s" % (name, v), outcomes_table(replay, name, v)) for v in VARIANTS)
            if name == "Spark-Bench":
                parts["Spark-Bench, static"] = outcomes_table(replay, name, "static")
    parts["Clairvoyance EDF"] = foresight_table(replay)
    for name in replay.names("Comparison") + list(IMPLIED):
        parts[name] = comparison_table(replay, name)
    for name in replay.names(reconstructed=True):
        parts["%s, reconstructed" % name] = outcomes_table(replay, name, "scaled")
    return parts


# --- the page ---

MARKED = re.compile(r"(<!-- computed: ([^\n]*) -->\n).*?(<!-- end -->)", re.S)


def write_page(parts):
    text = PAGE.read_text()
    PAGE.write_text(MARKED.sub(lambda m: m.group(1) + "\n" + parts[m.group(2)] + "\n\n" + m.group(3), text))


def main():
    if not (SHARED / "data" / "xspark-profiles").is_dir():
        sys.exit("bench_composites.py: no shared data at %s (PROVISOR_SHARED)" % SHARED)
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "api")]
    from conftest import Service
    from contract import Contract
    directory = pathlib.Path(tempfile.mkdtemp(prefix="provisor-bench-"))
    os.chmod(directory, 0o755)
    service = Service(directory, Contract(), SETTINGS)
    try:
        service.command("migrate")
        service.start()
        client = service.client(service.token("bench"))
        parts = sections(Replay(lambda path, body: client.post(path, body, 200).json()))
    finally:
        service.close()
        shutil.rmtree(directory, ignore_errors=True)
    if "--write" in sys.argv[1:]:
        write_page(parts)
    else:
        print("\n\n".join("## %s\n\n%s" % part for part in parts.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
