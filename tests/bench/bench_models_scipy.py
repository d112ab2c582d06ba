#!/usr/bin/python3
"""Scaling models beside the same in scipy: every kind fitted to 200 observations with leave-one-out.

    tests/bench/bench_models_scipy.py         (after a build; PROVISOR_BUILD names it, default build)

The observations are those of bench_models. scipy does what one would write with it: nnls, lstsq and least_squares for
each fit, and the same again without each row. The errors of both stand beside each other, so that it is seen that they
computed the same. The last lines judge: all kinds that take durations, and all that take speedups, each within 20 ms and
50 times as fast as scipy. Needs python3-scipy (ops/packages, [bench]); exit status 1 when a bound is missed.
"""
import os
import pathlib
import subprocess
import sys
import time

try:
    import numpy as np
    from scipy.optimize import least_squares, nnls
    from scipy.stats import t as student
except ImportError:
    sys.exit("bench_models_scipy: needs python3-scipy: ops/install-packages bench")

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("PROVISOR_BUILD", ROOT / "build")).resolve()
PROGRAM = BUILD / "tests" / "bench" / "bench_models"
MOST_MS, LEAST_RATIO = 20.0, 50.0


def ours(what, form):
    text = subprocess.run([PROGRAM, what, form], check=True, stdout=subprocess.PIPE, text=True).stdout
    return [line.split() for line in text.splitlines() if line]


def leave_out(fit, n):
    """fit(keep) -> predict(rows); the prediction of each row from all others."""
    out = np.empty(n)
    for i in range(n):
        keep = np.ones(n, bool)
        keep[i] = False
        out[i] = fit(keep)(np.array([i]))[0]
    return out


def errors(fit, actual):
    """Errors of the fit to all rows and of leave-one-out, percent."""
    n = len(actual)
    within = fit(np.ones(n, bool))(np.arange(n))
    without = leave_out(fit, n)
    return 100 * np.mean(abs(within / actual - 1)), 100 * np.mean(abs(without / actual - 1))


# --- durations ---

class Durations:
    def __init__(self, rows):
        self.N, self.m, self.T, self.before = rows.T

    def nonnegative(self, columns, y=None, factors=None):
        x = np.column_stack(columns)
        y = self.T if y is None else y
        factors = 1 / self.T if factors is None else factors

        def fit(keep):
            b, _ = nnls(x[keep] * factors[keep, None], y[keep] * factors[keep])
            return lambda rows: x[rows] @ b
        return fit

    def amdahl(self):
        return self.nonnegative([np.ones_like(self.m), 1 / self.m])

    def gustafson(self):
        return self.nonnegative([np.ones_like(self.m), self.N / self.m])

    def ernest(self):
        return self.nonnegative([np.ones_like(self.m), self.N / self.m, np.log(self.m), self.m])

    def load_per_executor(self):
        return self.nonnegative([np.ones_like(self.m), self.N, self.N / self.m])

    def memory_spill(self):
        return self.nonnegative([np.ones_like(self.m), self.N, self.N / self.m, self.N / self.m**2])

    def best_of(self, shapes):
        """The shape of least squares, chosen anew in each fit."""
        tables = [np.column_stack(columns) for columns in shapes]

        def fit(keep):
            found = [nnls(x[keep] / self.T[keep, None], np.ones(keep.sum())) for x in tables]
            at = int(np.argmin([residual for _, residual in found]))
            return lambda rows: tables[at][rows] @ found[at][0]
        return fit

    def power_law(self):
        one = np.ones_like(self.m)
        return self.best_of([[one, self.N, self.N / self.m**e] for e in np.arange(0.25, 3.01, 0.25)])

    def memory_cliff(self):
        one, counts = np.ones_like(self.m), np.unique(self.m)
        return self.best_of([[one, self.N, self.N / self.m, self.N * (self.m < c)] for c in counts[1:-1]])

    def combined(self):
        """Members weighted by how well each predicts every executor count from the others."""
        members = [self.load_per_executor(), self.power_law(), self.memory_spill(), self.memory_cliff()]
        counts = np.unique(self.m)

        def fit(keep):
            squares = np.zeros(len(members))
            for count in counts:
                rows, train = keep & (self.m == count), keep & (self.m != count)
                for k, member in enumerate(members):
                    off = np.log(np.maximum(member(train)(np.flatnonzero(rows)), 1e-9) / self.T[rows])
                    squares[k] += np.sum(off**2)
            e = np.sqrt(squares / keep.sum())
            w = 1 / np.maximum(e, 1e-3)**(2 * (1 - 3 / len(counts)))
            fits = [member(keep) for member in members]
            return lambda rows: np.exp(sum(wk * np.log(f(rows)) for wk, f in zip(w / w.sum(), fits)))
        return fit

    def startup(self, keep):
        """Times before the first stage: A + B min(m, theta)."""
        f = 1 / self.T[keep]
        best = None
        for theta in np.unique(self.m[keep]):
            x = np.column_stack([np.ones(keep.sum()), np.minimum(self.m[keep], theta)])
            b, residual = nnls(x * f[:, None], self.before[keep] * f)
            if best is None or residual < best[0]:
                best = residual, theta, b
        _, theta, b = best
        return lambda rows: b[0] + b[1] * np.minimum(self.m[rows], theta)

    def usba(self):
        after = self.T - self.before
        x = np.column_stack([np.ones_like(self.m), np.log(self.N / self.m), self.m, self.N])

        def fit(keep):
            f = 1 / self.T[keep]
            k = 4
            for k in (4, 3):
                a = x[keep, :k] * f[:, None]
                b, *_ = np.linalg.lstsq(a, after[keep] * f, rcond=None)
                left = len(f) - k
                inverse = np.linalg.inv(a.T @ a)
                variance = np.sum((a @ b - after[keep] * f)**2) / left
                if 2 * student.sf(abs(b[-1]) / np.sqrt(variance * inverse[-1, -1]), left) <= 0.05:
                    break
            before = self.startup(keep)
            return lambda rows: x[rows, :k] @ b + before(rows)
        return fit

    def usba_scaled(self):
        each = self.N / self.m
        parallel = self.nonnegative([each, each * np.log(each), each * self.m, each * self.N], self.T - self.before)

        def fit(keep):
            part, before = parallel(keep), self.startup(keep)
            return lambda rows: part(rows) + before(rows)
        return fit

    def sun_ni(self):
        z = np.log(self.N / (self.N.sum() / self.m.sum()))
        first = []

        def off(p, keep):
            return (p[2] * (1 - p[0] + p[0] * np.exp(p[1] * z[keep]) / self.m[keep]) - self.T[keep]) / self.T[keep]

        def fit(keep):
            starts = first or [[0.5, g, np.median(self.T)] for g in (0.5, 1, 2)]
            found = [least_squares(off, s, args=(keep,), bounds=([0, 0, 0], [1, 3, np.inf]), x_scale="jac") for s in starts]
            p = min(found, key=lambda r: r.cost).x
            if not first:
                first.append(p)
            return lambda rows: p[2] * (1 - p[0] + p[0] * np.exp(p[1] * z[rows]) / self.m[rows])
        return fit

    def interpolation(self):
        sizes, logs = np.unique(self.N), np.log(self.T)

        def fit(keep):
            curves = []
            for size in sizes:
                here = keep & (self.N == size)
                counts = np.unique(self.m[here])
                curves.append((np.log(counts), [np.median(logs[here & (self.m == c)]) for c in counts]))

            def predict(rows):
                return np.array([np.exp(np.interp(np.log(self.m[i]), *curves[np.searchsorted(sizes, self.N[i])]))
                                 for i in rows])
            return predict
        return fit


# --- speedups ---

class Speedups:
    def __init__(self, rows):
        self.N, self.m, self.S, _ = rows.T

    def nonlinear(self, law, starts, low, high):
        first = []

        def off(p, keep):
            return law(p, keep) / self.S[keep] - 1

        def fit(keep):
            found = [least_squares(off, s, args=(keep,), bounds=(low, high), x_scale="jac") for s in first or starts]
            p = min(found, key=lambda r: r.cost).x
            if not first:
                first.append(p)
            return lambda rows: law(p, rows)
        return fit

    def amdahl(self):
        return self.nonlinear(lambda p, at: 1 / (p[0] / self.m[at] + 1 - p[0]), [[0.5]], [0], [1])

    def gustafson(self):
        return self.nonlinear(lambda p, at: 1 + p[0] * (self.m[at] - 1), [[0.5]], [0], [1])

    def sun_ni(self):
        z = np.log(self.N / (self.N.sum() / self.m.sum()))

        def law(p, at):
            g = np.exp(p[1] * z[at])
            return (p[0] * g + 1 - p[0]) / (p[0] * g / self.m[at] + 1 - p[0])
        return self.nonlinear(law, [[e, g] for e in (0.3, 0.9) for g in (0.3, 1, 2)], [0, 0], [1, 3])

    def usba(self):
        most = self.m.max()

        def law(p, at):
            alpha, beta, gamma, epsilon, theta, log_ratio = p
            N, m, r = self.N[at], self.m[at], np.exp(log_ratio)
            q = 1 - epsilon + epsilon * np.minimum(m, theta)
            d = r * q + 1 - beta - gamma + alpha * np.log(N / m) + beta * m + gamma * N
            return (r + N) / np.maximum(d, 1e-9)
        starts = [[1, 0.05, 0.01, 0.1, theta, np.log(r)] for theta in (3, 8, 16) for r in (0.2, 1.5)]
        return self.nonlinear(law, starts, [-np.inf] * 3 + [0, 1, -14], [np.inf] * 3 + [1, most, 14])


def compare(form, peer, actual):
    print("%-17s %10s %12s %8s   %-21s %s" % (form, "ms", "scipy ms", "ratio", "mape, loo mape %", "scipy's"))
    total = np.zeros(2)
    for kind, seconds, mape, loo in ours("fits", form):
        assert hasattr(peer, kind), "%s has no peer here" % kind
        began = time.process_time()
        theirs = errors(getattr(peer, kind)(), actual)
        spent = time.process_time() - began
        total += float(seconds), spent
        print("%-17s %10.3f %12.1f %8.0f   %9.4f %9.4f   %9.4f %9.4f" % (
            kind, 1e3 * float(seconds), 1e3 * spent, spent / float(seconds), float(mape), float(loo), *theirs), flush=True)
    ratio = total[1] / total[0]
    print("%-17s %10.3f %12.1f %8.0f" % ("all of them", 1e3 * total[0], 1e3 * total[1], ratio))
    return 1e3 * total[0] <= MOST_MS and ratio >= LEAST_RATIO


def main():
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    rows = {form: np.array(ours("rows", form), float) for form in ("durations", "speedups")}
    durations, speedups = Durations(rows["durations"]), Speedups(rows["speedups"])
    good = [compare("durations", durations, durations.T), compare("speedups", speedups, speedups.S)]
    print("%s: %g ms for all kinds, %g times scipy" % ("within bounds" if all(good) else "MISSED", MOST_MS, LEAST_RATIO))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
