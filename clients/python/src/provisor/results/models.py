"""Scaling models."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Union

from .. import schemas
from ..tables import interval, sentences, table
from .rows import ends, rows_frame

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

    from ..plots import Plot


class Speedup(schemas.Speedup):
    __doc__ = schemas.Speedup.__doc__

    def plot(self, *, ax: Optional[Axes] = None) -> Plot:
        """The speedup over problem sizes and executors, with its ridge: the executors that are fastest at each size.

        Of fewer than three problem sizes, one curve each, with its interval."""
        from ..plots.speedup import speedup_plot
        return speedup_plot(self, ax)

    def to_frame(self) -> pandas.DataFrame:
        """A row for each problem size and executor count."""
        columns = [("problem_size", float), ("executors", float), ("duration_s", float), ("low_s", float), ("high_s", float),
                   ("speedup", float), ("relative_speedup", float), ("extrapolation", bool)]
        return rows_frame(columns, [(row.problem_size, p.executors, p.duration_s, *ends(p.interval_s), p.speedup, p.relative_speedup,
                                     p.extrapolation) for row in self.surface for p in row.points])

    def _repr_html_(self) -> str:
        rows = [(row.problem_size, point.executors, point.duration_s, interval(point.interval_s), point.speedup, point.relative_speedup,
                 point.extrapolation) for row in self.surface for point in row.points]
        heads = ["problem size", "executors", "duration (s)", "%g %% interval (s)" % (100 * self.confidence), "speedup",
                 "relative speedup", "extrapolation"]
        best = [(row.problem_size, row.executors, row.duration_s, interval(row.interval_s), row.still_improving)
                for row in self.best_executors_by_size]
        return (table("Speedup of %s by the model %s" % (self.application, self.model), heads, rows)
                + table("The fastest executor count of each problem size", [*heads[:4], "more would be faster"], best)
                + sentences("Warnings", [w.message for w in self.warnings or ()]))


class ApplicationModels(schemas.ApplicationModels):
    __doc__ = schemas.ApplicationModels.__doc__

    def plot(self, model: Optional[str] = None, problem_size: Optional[float] = None, *,
             ax: Union[Axes, Sequence[Axes], None] = None) -> Plot:
        """A model beside the runs that it was fitted to, with its interval, and how far it is off at each.

        The service is asked for the runs and the curve. A result without a client (one that was pickled) draws the errors
        of its candidates.

        - model: a kind of the candidates; by default the selected one
        - problem_size: by default up to six of those that ran
        - ax: one for the durations, or two: for these, and for the errors
        """
        from ..plots.fit import models_plot
        return models_plot(self, model, problem_size, ax)

    def to_frame(self) -> pandas.DataFrame:
        """A row for each candidate."""
        columns = [("model", str), ("status", str), ("selected", bool), ("parameters_estimated", int), ("loo_mape_percent", float),
                   ("scale_out_mape_percent", float), ("difference_percent", float), ("noise_percent", float), ("within_noise", bool),
                   ("observations", int), ("r_squared", float), ("mape_percent", float), ("max_error_percent", float)]
        return rows_frame(columns, map(_candidate_row, self.candidates))

    def _repr_html_(self) -> str:
        rows = []
        for candidate in self.candidates:
            row = _candidate_row(candidate)
            why = candidate.error.message if candidate.error is not None else candidate.status.replace("_", " ")
            rows.append((row[0], candidate.selected, row[4], row[5], row[11], row[12], row[3], why))
        heads = ["model", "selected", "leave-one-out error (%)", "error on new executor counts (%)", "error of the fit (%)",
                 "largest error (%)", "parameters", "status"]
        drift = self.drift
        about = [("runs used", self.history.runs_used), ("runs skipped", self.history.runs_skipped), ("drift", drift.state),
                 ("change of the duration (%)", drift.change_percent), ("runs that count less", self.down_weighted_count)]
        light = [(run.at, run.run_id, run.reason, run.weight, run.evidence.duration_s, run.evidence.expected_duration_s)
                 for run in self.down_weighted]
        caption = "Models of %s: %s" % (self.application, self.selected_model or "none is selected")
        text = sentences(caption, [r.message for r in self.reasons]) + sentences("Warnings", [w.message for w in self.warnings or ()])
        text += table("Candidates", heads, rows) + table("History", ["", "value"], about)
        if light:
            text += table("Runs that count less", ["at", "run", "reason", "weight", "duration (s)", "expected duration (s)"], light,
                          self.down_weighted_count)
        return text


def _candidate_row(candidate: schemas.ModelCandidate) -> List[Any]:
    compared, fit = candidate.comparison, candidate.fit
    errors = ["loo_mape_percent", "scale_out_mape_percent", "difference_percent", "noise_percent", "within_noise"]
    of_fit = ["observations", "r_squared", "mape_percent", "max_error_percent"]
    return [candidate.model, candidate.status, candidate.selected, candidate.parameters_estimated,
            *(getattr(compared, name) if compared is not None else None for name in errors),
            *(getattr(fit, name) if fit is not None else None for name in of_fit)]


class ModelFit(schemas.ModelFit):
    __doc__ = schemas.ModelFit.__doc__

    def plot(self, problem_size: Optional[float] = None, *, ax: Union[Axes, Sequence[Axes], None] = None) -> Plot:
        """The law beside what it was fitted to, with its interval, and how far it is off at each.

        The service is asked for the curve. A result without a client (one that was pickled) draws the law at the runs, and no interval.

        - problem_size: by default up to six of those fitted
        - ax: one for the durations, or two: for these, and for the errors
        """
        from ..plots.fit import fit_plot
        return fit_plot(self, problem_size, ax)

    def to_frame(self) -> pandas.DataFrame:
        """A row for each residual."""
        names = ["problem_size", "executors", "actual", "predicted", "error_percent"]
        return rows_frame([(name, float) for name in names], [[getattr(r, name) for name in names] for r in self.residuals])


class NextExperiments(schemas.NextExperiments):
    __doc__ = schemas.NextExperiments.__doc__

    def to_frame(self) -> pandas.DataFrame:
        """A row for each configuration to run, in that order."""
        columns = [("problem_size", float), ("executors", int), ("repeat", int), ("existing_runs", int), ("predicted_duration_s", float),
                   ("executor_s", float), ("cost", float), ("expected_interval_cut_percent", float),
                   ("cumulative_interval_cut_percent", float)]
        rows = [[*(getattr(item, name) for name, _ in columns), " ".join(r.message for r in item.reasons)] for item in self.items]
        return rows_frame([*columns, ("reason", str)], rows)

    def _repr_html_(self) -> str:
        heads = ["run next", "problem size", "executors", "times", "there are runs", "predicted duration (s)", "executor time (s)", "cost",
                 "shortens the interval by (%)", "with those before (%)", "because"]
        rows = [(place, i.problem_size, i.executors, i.repeat, i.existing_runs, i.predicted_duration_s, i.executor_s, i.cost,
                 i.expected_interval_cut_percent, i.cumulative_interval_cut_percent, " ".join(r.message for r in i.reasons))
                for place, i in enumerate(self.items, 1)]
        asked = self.asked
        about = [("problem size", asked.problem_size), ("executors", asked.executor_counts),
                 ("interval now (s)", interval(asked.interval_s)), ("interval after them (s)", interval(asked.expected_interval_s)),
                 ("model", self.model), ("runs used", self.runs),
                 ("executor time of all (s)", self.executor_s), ("cost of all", self.cost),
                 ("all shorten the interval by (%)", self.expected_interval_cut_percent)]
        return (table("The next runs of %s that would say most" % self.application, heads, rows)
                + table("What they are chosen for", ["", "value"], about) + sentences("Warnings", [w.message for w in self.warnings]))


class Diagnosis(schemas.Diagnosis):
    __doc__ = schemas.Diagnosis.__doc__

    def plot(self, *, ax: Optional[Axes] = None) -> Plot:
        """What costs the run that was looked at most, in seconds."""
        from ..plots.diagnosis import diagnosis_plot
        return diagnosis_plot(self, ax)

    def to_frame(self) -> pandas.DataFrame:
        """A row for each bottleneck, what costs most first."""
        columns = [("kind", str), ("stage_id", int), ("stage_name", str), ("lost_s", float), ("lost_percent", float),
                   ("more_executors_help", bool), ("cure", str)]
        items = self.bottlenecks.items if self.bottlenecks is not None else []
        return rows_frame(columns, [[getattr(item, name) for name, _ in columns] for item in items])

    def _repr_html_(self) -> str:
        found = self.bottlenecks
        text = sentences("Missing", [m.message for m in self.missing])
        rows = [(s.problem_size, s.load_per_executor, s.scaling_type, s.trend, s.runs, s.fastest_executors, s.speedup_bound,
                 " ".join(c.message for c in s.causes)) for s in self.slices]
        heads = ["problem size", "load per executor", "scaling type", "trend", "runs", "fastest executors", "bound of the speedup",
                 "causes"]
        series = table("How %s scales" % self.application, heads, rows)
        if found is None:
            return series + text
        lost = [(b.kind, b.stage_id, b.stage_name, b.lost_s, b.lost_percent, b.more_executors_help, b.finding.message, b.cure)
                for b in found.items]
        return table("What costs run %s (%s s) most" % (found.run_id, "%.6g" % found.duration_s if found.duration_s is not None else "?"), [
            "bottleneck", "stage", "name", "lost (s)", "lost (%)", "more executors help", "what", "what helps"], lost) + series + text


class Stragglers(schemas.Stragglers):
    __doc__ = schemas.Stragglers.__doc__

    def to_frame(self) -> pandas.DataFrame:
        """A row for each node, stragglers first."""
        columns = [("node", str), ("verdict", str), ("slowdown", float), ("low", float), ("high", float), ("tasks", int), ("runs", int),
                   ("slow_runs", int), ("reason", str)]
        return rows_frame(columns, [(n.name, n.verdict, n.slowdown, *ends(n.interval), n.tasks, n.runs, n.slow_runs, n.reason)
                                    for n in self.nodes])

    def tasks_frame(self) -> pandas.DataFrame:
        """A row for each slow task that is listed, stage by stage."""
        columns = [("stage_id", int), ("task", int), ("node", str), ("duration_s", float), ("read_bytes", float), ("extra_s", float),
                   ("extra_by_read_s", float), ("extra_by_node_s", float), ("extra_unexplained_s", float)]
        return rows_frame(columns, [(s.stage_id, t.task, t.node_name, t.duration_s, t.read_bytes, t.extra_s, t.extra_by_read_s,
                                     t.extra_by_node_s, t.extra_unexplained_s) for s in self.stages for t in s.slowest])

    def copies_frame(self) -> pandas.DataFrame:
        """A row for each rule for copies of slow tasks; none where the last run cannot be replayed."""
        columns = [("rule", str), ("optimistic_saved_s", float), ("optimistic_copies", int), ("pessimistic_saved_s", float),
                   ("pessimistic_copies", int)]
        rules = self.speculation.rules if self.speculation is not None else []
        return rows_frame(columns, [(r.rule, r.optimistic.saved_s, r.optimistic.copies_started, r.pessimistic.saved_s,
                                     r.pessimistic.copies_started) for r in rules])

    def _repr_html_(self) -> str:
        nodes = table("Nodes of %s" % self.application, ["node", "verdict", "times as long", "interval", "tasks", "slow runs", "reason"],
                      [(n.name, n.verdict, n.slowdown, interval(n.interval), n.tasks, "%d of %d" % (n.slow_runs, n.runs), n.reason)
                       for n in self.nodes])
        stages = table("Stages with slow tasks", ["stage", "name", "slow tasks", "longer by (s)", "for what they read (s)",
                                                  "for their node (s)", "unexplained (s)"],
                       [(s.stage_id, s.stage_name, s.slow_tasks, s.extra_s, s.extra_by_read_s, s.extra_by_node_s, s.extra_unexplained_s)
                        for s in self.stages])
        return nodes + stages + sentences("Advice", [a.finding.message for a in self.advice]) + sentences(
            "Warnings", [w.message for w in self.warnings])


class Accuracy(schemas.Accuracy):
    __doc__ = schemas.Accuracy.__doc__

    def plot(self, *, ax: Optional[Axes] = None) -> Plot:
        """How far predictions were off, run by run, with their intervals."""
        from ..plots.accuracy import accuracy_plot
        return accuracy_plot(self, ax)

    def calibration_plot(self, *, ax: Optional[Axes] = None) -> Plot:
        """The share of runs that ended within their interval, against what the intervals promised, by model."""
        from ..plots.accuracy import accuracy_calibration_plot
        return accuracy_calibration_plot(self, ax)

    def to_frame(self) -> pandas.DataFrame:
        """A row for each run of this page; `accuracy_items` has all."""
        from ..frames import frame_of
        return frame_of("AccuracyItem", self.items)


class TeamAccuracy(schemas.TeamAccuracy):
    __doc__ = schemas.TeamAccuracy.__doc__

    def plot(self, *, ax: Optional[Axes] = None) -> Plot:
        """How far predictions were off for each application: the mean absolute error, and the bias."""
        from ..plots.accuracy import team_plot
        return team_plot(self, ax)

    def calibration_plot(self, *, ax: Optional[Axes] = None) -> Plot:
        """What happened against what was promised: shares of runs within their intervals, by model, and deadlines that were
        met, by tenths of the predicted probability."""
        from ..plots.accuracy import team_calibration_plot
        return team_calibration_plot(self, ax)

    def to_frame(self) -> pandas.DataFrame:
        """A row for each application of this page; `team_accuracy_items` has all."""
        from ..frames import frame_of
        return frame_of("TeamAccuracyItem", self.items)
