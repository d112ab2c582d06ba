#!/usr/bin/python3
"""How well provisor predicts public runs, beside the published peers: the tables of docs/accuracy.md.

    tests/bench/bench_accuracy.py [--picture FILE.svg] [--splits N] [TABLE.tsv ...]   default: every table of the shared C3O data

Build first (ninja -C build tests/golden/protocols); PROVISOR_BUILD says which build (default build). The program tests/golden/protocols
fits and predicts; this only prints what it says, as Markdown, beside the peers' columns, which are read from
data/prediction-protocol.md. Each cell is MAPE / median / 90th percentile of the absolute percentage errors. --picture draws the
reliability diagrams of the probabilities of deadlines. --splits is the number of random splits of protocol F.
"""
import argparse
import collections
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))
import pictures  # noqa: E402

BUILD = pathlib.Path(os.environ.get("PROVISOR_BUILD") or ROOT / "build")
SHARED = pathlib.Path(os.environ.get("PROVISOR_SHARED") or ROOT.parent / "shared")
PROTOCOLS = {"A": "train 2, 4, 6; test 8, 10, 12", "A4": "train 2, 4, 6, 8; test 10, 12", "B": "leave one scale-out out",
             "B-interior": "leave out 4, 6, 8 or 10", "D": "largest data size held out",
             "B-others": "leave one scale-out out, runs of all other contexts known (six rotations)",
             "F": "C3O's published protocol: a tenth of the configurations left out at random"}
# Mean error of 300 splits, as published (evaluation/model_performance.ipynb of dos-group/c3o): of C3O's choice, of boosted trees, of Ernest.
PUBLISHED = {"grep": {"C3O": 2.74, "gradient boosting": 2.74, "Ernest": 39.38}, "kmeans": {"C3O": 2.17, "gradient boosting": 2.17, "Ernest": 15.31},
             "pagerank": {"C3O": 2.77, "gradient boosting": 2.71, "Ernest": 34.85}, "sgd": {"C3O": 2.25, "gradient boosting": 2.25, "Ernest": 21.85}}


def read_peers(path):
    """{protocol: {peer: {application: [mape, median, p90]}}}, as printed there."""
    peers, protocol, applications = collections.defaultdict(dict), None, []
    for line in path.read_text().splitlines():
        if line.startswith("## "):
            protocol = line[3:].split(":")[0]
        cells = [c.strip() for c in line.strip("|").split("|")] if line.startswith("|") else []
        if cells and cells[0] == "model":
            applications = cells[1:]
        elif protocol in PROTOCOLS and len(cells) > 1 and not cells[0].startswith("---"):
            peers[protocol][cells[0]] = {a: [float(x) for x in c.rstrip("*").split("/")]
                                         for a, c in zip(applications, cells[1:])}
    return peers


def run_protocols(tables, splits):
    """Ours in the same shape, coverage {(protocol, application): [(level, share, width)]}, and by place {(place, level or least
    promise): [(protocol, share or promised, width or held, rows)]}, of promises those of deadlines that were foreseen, and of tenths."""
    out = subprocess.run([str(BUILD / "tests" / "golden" / "protocols"), "--splits", str(splits)] + [str(t) for t in tables], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    errors, coverage = collections.defaultdict(lambda: collections.defaultdict(dict)), collections.defaultdict(list)
    impossible, places, foreseen, tenths = set(), *(collections.defaultdict(list) for _ in range(3))
    for line in out.splitlines():
        what, protocol, application, *rest = line.split(",")
        if what == "error" and int(rest[4]) == int(rest[5]):
            continue  # a kind that these runs never determine
        if what == "error":
            errors[protocol][rest[0]][application] = [float(x) for x in rest[1:4]]
            if int(rest[4]) > 0:
                impossible.add((protocol, rest[0], application))
        elif what == "coverage":
            coverage[protocol, application].append(tuple(float(x) for x in rest[:3]))
        elif what == "place":
            places[rest[0], float(rest[1])].append((protocol, *(float(x) for x in rest[2:])))
        else:
            (foreseen if what == "foreseen" else tenths)[rest[0], float(rest[1])].append((protocol, *(float(x) for x in rest[2:])))
    return errors, impossible, coverage, places, foreseen, tenths


def print_row(name, cells, applications, marked=lambda a: False):
    texts = ["%.1f / %.1f / %.1f%s" % (*cells[a], "*" if marked(a) else "") if a in cells else "" for a in applications]
    known = [cells[a][0] for a in applications if a in cells]
    mean = "%.2f" % (sum(known) / len(known)) if len(known) == len(applications) else ""
    print("| %s | %s | %s |" % (name, " | ".join(texts), mean))


def print_errors(protocol, ours, peers, impossible, applications):
    print("\n### %s: %s\n" % (protocol, PROTOCOLS.get(protocol, "")))
    print("| model | %s | mean MAPE |" % " | ".join(applications))
    print("|---|%s---|" % ("---|" * len(applications)))
    order = sorted(ours, key=lambda m: (m != "noise", m.split()[0] not in ("auto", "pooled"), m))
    for name in order:
        print_row("repetition noise" if name == "noise" else "**%s**" % name, ours[name], applications,
                  lambda a, name=name: (protocol, name, a) in impossible)
    for name in ("C3O", "gradient boosting", "Ernest") if protocol == "F" else ():
        known = [PUBLISHED[a][name] for a in applications if a in PUBLISHED]
        print("| published: %s | %s | %.2f |" % (name, " | ".join("%.2f" % v for v in known), sum(known) / len(known)))
    for name, cells in peers.items():
        if name != "repetition noise" and any(a in cells for a in applications):
            print_row("peer: " + name, cells, applications)


def print_coverage(coverage, applications):
    print("\n## Coverage of the intervals of auto\n")
    print("Share of test rows inside, and the median of upper over lower end.\n")
    print("| protocol | nominal | %s | mean |" % " | ".join(applications))
    print("|---|---|%s---|" % ("---|" * len(applications)))
    for protocol in PROTOCOLS:
        columns = [coverage.get((protocol, a), []) for a in applications]
        for level in range(min(len(c) for c in columns)):
            cells = ["%.1f %% (%.2f)" % (100 * c[level][1], c[level][2]) for c in columns]
            mean = sum(c[level][1] for c in columns) / len(columns)
            print("| %s | %.0f %% | %s | %.1f %% |" % (protocol, 100 * columns[0][level][0], " | ".join(cells), 100 * mean))


def mean(rows, column):
    """Over the rows of all protocols that hold runs of one place out."""
    return sum(r[column] * r[-1] for r in rows) / sum(r[-1] for r in rows)


ONCE = ("A", "B", "D", "B-others")  # A4 and B-interior are parts of others


def print_places(places):
    print("\n## Coverage by place\n")
    print("Where the rows lie from the runs of their context: between executor counts that ran, below the least, above the most, or of a\nlarger problem. "
          "All rows of A, B, D and B-others.\n")
    print("| place | nominal | inside | median width | rows |\n|---|---|---|---|---|")
    for place in ("between", "above", "below", "larger"):
        for level in (0.8, 0.9, 0.95):
            rows = [r for r in places.get((place, level), []) if r[0] in ONCE]
            if rows:
                print("| %s | %.0f %% | %.1f %% | %.2f | %d |" % (place, 100 * level, 100 * mean(rows, 1), mean(rows, 2), sum(r[-1] for r in rows)))


def print_promises(promises, deadlines):
    print("\nPromised on the average and held, for deadlines at %s, by what was promised.\n" % deadlines)
    leasts = sorted({least for _, least in promises})
    print("| place | %s |" % " | ".join("%.2f and more" % least for least in leasts))
    print("|---|%s" % ("---|" * len(leasts)))
    for place in ("between", "above", "below", "larger"):
        cells = []
        for least in leasts:
            rows = [r for r in promises.get((place, least), []) if r[0] in ONCE]
            cells.append("%.2f: %.2f (%d)" % (mean(rows, 1), mean(rows, 2), sum(r[-1] for r in rows)) if rows else "")
        print("| %s | %s |" % (place, " | ".join(cells)))


def draw_panel(drawing, left, top, side, title, dots):
    """Held over promised: dots by how many deadlines they are, on the diagonal where promises are kept."""
    def at(promised, held):
        return left + promised * side, top + (1 - held) * side
    drawing.text(left, top - 10, title, "start", font_weight="bold")
    for share in (0, 0.25, 0.5, 0.75, 1):
        drawing.line([at(share, 0), at(share, 1)], "#d8dee4", 1)
        drawing.line([at(0, share), at(1, share)], "#d8dee4", 1)
        drawing.text(left + share * side, top + side + 18, pictures.number(share), fill=pictures.FAINT, font_size=11)
        drawing.text(left - 8, top + (1 - share) * side + 4, pictures.number(share), "end", pictures.FAINT, font_size=11)
    drawing.line([at(0, 0), at(1, 1)], pictures.FAINT, 1, stroke_dasharray="4 4")
    drawing.line([at(*dot[:2]) for dot in dots], pictures.LINES[0], 1.5)
    most = max(n for *_, n in dots)
    for promised, held, n in dots:
        x, y = at(promised, held)
        drawing.shape("circle", cx=x, cy=y, r=2 + 6 * (n / most) ** 0.5, fill=pictures.LINES[0])


def draw_promises(promises, path):
    """The table of print_promises as reliability diagrams."""
    places = {"between": "between counts that ran", "above": "above the most", "below": "below the least", "larger": "a larger problem"}
    side, gap, left, top = 200, 46, 56, 84
    drawing = pictures.Drawing(left + len(places) * (side + gap), top + side + 36, "Probabilities of deadlines: promised and held")
    drawing.text(left, 26, "Probabilities of deadlines: promised and held", "start", font_size=17, font_weight="bold")
    drawing.text(left, 47, "Share that held (upwards) over the probability promised (to the right); the larger the dot, the more deadlines", "start",
                 pictures.FAINT)
    for i, (place, title) in enumerate(places.items()):
        rows = {least: [r for r in found if r[0] in ONCE] for (where, least), found in sorted(promises.items()) if where == place}
        dots = [(mean(r, 1), mean(r, 2), sum(x[-1] for x in r)) for r in rows.values() if r]
        if dots:
            draw_panel(drawing, left + i * (side + gap), top, side, title, dots)
    drawing.save(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--picture", type=pathlib.Path, metavar="FILE.svg")
    parser.add_argument("--splits", type=int, default=10, metavar="N")
    parser.add_argument("tables", nargs="*", type=pathlib.Path, metavar="TABLE.tsv")
    wanted = parser.parse_args()
    tables = wanted.tables or sorted((SHARED / "data" / "c3o").glob("*.tsv"))
    if not tables:
        sys.exit("no tables of runs: set PROVISOR_SHARED to the shared data")
    applications = [t.name.split(".")[0] for t in tables]
    figures = SHARED / "data" / "prediction-protocol.md"
    peers = read_peers(figures) if figures.is_file() else {}
    errors, impossible, coverage, places, foreseen, tenths = run_protocols(tables, wanted.splits)
    for protocol, ours in errors.items():
        print_errors(protocol, ours, peers.get(protocol, {}), impossible, applications)
    print_coverage(coverage, applications)
    print_places(places)
    print("\n## Probabilities of deadlines")
    print_promises(foreseen, "powers of 1.1 times half the median of the known times")
    print_promises(tenths, "tenths of the measured times of a context")
    if wanted.picture:
        draw_promises(foreseen, wanted.picture)


if __name__ == "__main__":
    main()
