#!/usr/bin/env python3
"""Draws how an application scales, from a running service, as two SVG files.

    docs/pictures.py BASE_URL TOKEN_FILE APPLICATION OUTPUT_FOLDER [--model KIND]

speedup.svg    the speedup over problem size and executors (GET .../speedup), with the ridge
fit.svg        recorded durations and the fitted law with its interval, and its error for each run
               (GET .../models, GET .../runs, POST /v1/models/predict)

Without --model the kind that the service selects is drawn. Only the standard library is needed.
"""
import argparse
import json
import math
import pathlib
import urllib.parse
import urllib.request
from xml.sax.saxutils import escape

INK, FAINT, RIDGE = "#1b1f24", "#57606a", "#d1242f"
LINES = ["#0969da", "#1a7f37", "#bf8700", "#8250df", "#cf222e", "#0a7ea4"]


class Service:
    def __init__(self, base, token_file):
        self.base = base.rstrip("/")
        self.token = pathlib.Path(token_file).read_text().strip()
        # Straight to the service, whatever proxies the environment names.
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def ask(self, path, body=None):
        head = {"Authorization": "Bearer " + self.token, "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with self.opener.open(urllib.request.Request(self.base + path, data, head), timeout=60) as reply:
            return json.load(reply)

    def runs(self, application):
        """What the models are fitted to: runs that succeeded and are known in full."""
        path, runs = "/v1/applications/%s/runs?limit=100" % application, []
        cursor = ""
        while cursor is not None:
            page = self.ask(path + (cursor and "&cursor=" + urllib.parse.quote(cursor)))
            runs += page["items"]
            cursor = page["next_cursor"]
        return [r for r in runs if r["succeeded"] and None not in (r["problem_size"], r["executors"], r["duration_s"])]

    def predict(self, candidate, points):
        body = {k: candidate[k] for k in ("model", "parameters", "reference", "tables", "uncertainty")
                if candidate.get(k) is not None}
        body["points"] = [{"problem_size": n, "executors": m} for n, m in points]
        return self.ask("/v1/models/predict", body)["predictions"]


class Drawing:
    def __init__(self, width, height, title):
        self.parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" font-family="sans-serif"'
                      ' font-size="13">' % (width, height), "<title>%s</title>" % escape(title),
                      '<rect width="%d" height="%d" fill="#ffffff"/>' % (width, height)]

    def shape(self, name, **attributes):
        self.parts.append("<%s %s/>" % (name, " ".join('%s="%s"' % (
            k.replace("_", "-"), "%.1f" % v if isinstance(v, float) else v) for k, v in attributes.items())))

    def text(self, x, y, words, anchor="middle", fill=INK, **more):
        extra = "".join(' %s="%s"' % (k.replace("_", "-"), v) for k, v in more.items())
        self.parts.append('<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s"%s>%s</text>' % (
            x, y, anchor, fill, extra, escape(str(words))))

    def line(self, points, stroke, width=2, **more):
        self.shape("polyline", points=path_of(points), fill="none", stroke=stroke, stroke_width=width, **more)

    def save(self, path):
        path.write_text("\n".join(self.parts + ["</svg>"]) + "\n")


def path_of(points):
    return " ".join("%.1f,%.1f" % point for point in points)


def log_axis(low, high, start, end):
    """From a quantity to a place, equal ratios equally far apart."""
    span = math.log(high / low) or 1
    return lambda value: start + (end - start) * math.log(value / low) / span


def whole_steps(low, high, n):
    """Whole numbers from low to high in about equal ratios."""
    steps = [round(low * (high / low) ** (i / (n - 1))) for i in range(n)] if high > low else [low]
    return sorted(set(steps))


def number(value):
    return "%d" % value if float(value).is_integer() else "%.3g" % value


# --- the surface ---

def shade(share):
    """Light to dark blue, and the ink that is readable on it."""
    light, dark = (237, 245, 253), (8, 60, 125)
    return "#%02x%02x%02x" % tuple(round(a + (b - a) * share) for a, b in zip(light, dark)), \
        "#ffffff" if share > 0.5 else INK


def draw_cells(drawing, grid, sizes, counts, left, top, w, h):
    highest = max(p["speedup"] or 0 for row in grid["surface"] for p in row["points"])
    for i, row in enumerate(reversed(grid["surface"])):
        drawing.text(left - 10, top + (i + 0.5) * h + 4, number(row["problem_size"]), "end")
        for j, point in enumerate(row["points"]):
            fill, ink = shade((point["speedup"] or 0) / highest)
            drawing.shape("rect", x=left + j * w, y=top + i * h, width=float(w), height=float(h), fill=fill,
                          stroke="#ffffff")
            label = "-" if point["speedup"] is None else "%.1f" % point["speedup"]
            drawing.text(left + (j + 0.5) * w, top + (i + 0.5) * h + 4, label, fill=ink, font_size=12,
                         font_style="italic" if point["extrapolation"] else "normal")
    for j, count in enumerate(counts):
        drawing.text(left + (j + 0.5) * w, top + len(sizes) * h + 18, number(count))


def place_among(value, steps):
    """Where a value lies between the steps, as a fraction of their number, by its logarithm; None outside."""
    for j in range(len(steps) - 1):
        if steps[j] <= value <= steps[j + 1]:
            return j + math.log(value / steps[j]) / math.log(steps[j + 1] / steps[j])
    return 0.0 if value == steps[0] else None


def draw_surface(service, application, name, models, candidate, folder):
    seen = candidate["uncertainty"]
    sizes = whole_steps(*seen["problem_size_range"], 7)
    counts = sorted({c for c in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
                     if c <= 4 * seen["executors_range"][1]})
    grid = service.ask("/v1/applications/%s/speedup?model=%s&problem_sizes=%s&executors=%s" % (
        application, candidate["model"], ",".join(map(str, sizes)), ",".join(map(str, counts))))
    left, top, w, h = 80, 66, 52, 34
    width, height = left + len(counts) * w + 24, top + len(sizes) * h + 92
    drawing = Drawing(width, height, "Speedup of %s by %s" % (name, candidate["model"]))
    drawing.text(left, 26, "Speedup of %s" % name, "start", font_size=17, font_weight="bold")
    drawing.text(left, 47, "model %s, fitted to %d runs; leave-one-out error %.1f %%" % (
        candidate["model"], candidate["fit"]["observations"], candidate["fit"]["loo_mape_percent"]), "start", FAINT)
    draw_cells(drawing, grid, sizes, counts, left, top, w, h)
    ridge = []
    for i, crest in enumerate(reversed(grid["best_executors_by_size"])):
        at = place_among(crest["executors"], counts)
        if at is not None and not crest["still_improving"]:
            ridge.append((left + (at + 0.5) * w, top + (i + 1) * h - 5))
    if len(ridge) > 1:
        drawing.line(ridge, RIDGE, 1, stroke_dasharray="4 4")
    for x, y in ridge:
        drawing.shape("circle", cx=x, cy=y, r=5, fill=RIDGE, stroke="#ffffff")
    bottom = top + len(sizes) * h
    drawing.text(left + len(counts) * w / 2, bottom + 42, "executors")
    drawing.text(0, 0, "problem size", transform="translate(24 %.1f) rotate(-90)" % (top + len(sizes) * h / 2))
    caption = "italic: outside what was observed"
    if ridge:
        caption += "; red: the ridge, the best executors for each problem size"
    drawing.text(left, bottom + 72, caption, "start", FAINT, font_size=12)
    drawing.save(folder / "speedup.svg")


# --- the fit ---

def draw_axes(drawing, box, x_of, counts, y_ticks, y_of, y_label):
    left, top, right, bottom = box
    for value in y_ticks:
        drawing.line([(left, y_of(value)), (right, y_of(value))], "#d8dee4", 1)
        drawing.text(left - 8, y_of(value) + 4, number(value), "end")
    for count in counts:
        drawing.text(x_of(count), bottom + 20, number(count))
    drawing.text((left + right) / 2, bottom + 42, "executors")
    drawing.text(left, top - 12, y_label, "start", FAINT)


def draw_durations(drawing, service, candidate, runs, colours, box, x_of, counts):
    left, top, right, bottom = box
    durations = [r["duration_s"] for r in runs]
    low, high = min(durations) / 1.6, max(durations) * 1.5
    y_of = log_axis(low, high, bottom, top)
    ticks = [v for v in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000) if low < v < high]
    draw_axes(drawing, box, x_of, counts, ticks, y_of, "duration, s: runs, the law, its 95 % interval")
    ends = (min(r["executors"] for r in runs), max(r["executors"] for r in runs))
    steps = [ends[0] * (ends[1] / ends[0]) ** (i / 40) for i in range(41)]
    clip = lambda y: min(max(y, low), high)
    for size, colour in colours.items():
        curve = service.predict(candidate, [(size, m) for m in steps])
        at = [(x_of(p["executors"]), p) for p in curve if p["duration_s"]]
        band = [(x, p["interval_s"]) for x, p in at if p["interval_s"]]
        if band:
            edge = [(x, y_of(clip(i[1] or high))) for x, i in band] + \
                   [(x, y_of(clip(i[0]))) for x, i in reversed(band)]
            drawing.shape("polygon", points=path_of(edge), fill=colour, fill_opacity="0.10")
        drawing.line([(x, y_of(clip(p["duration_s"]))) for x, p in at], colour)
    for run in runs:
        drawing.shape("circle", cx=float(x_of(run["executors"])), cy=float(y_of(run["duration_s"])), r=4,
                      fill=colours[run["problem_size"]], stroke="#ffffff")


def draw_residuals(drawing, service, candidate, runs, colours, box, x_of, counts):
    left, top, right, bottom = box
    predicted = service.predict(candidate, [(r["problem_size"], r["executors"]) for r in runs])
    errors = [100 * (p["duration_s"] - r["duration_s"]) / r["duration_s"] for r, p in zip(runs, predicted)]
    most = max(10, 10 * math.ceil(max(map(abs, errors)) / 10))
    y_of = lambda value: (top + bottom) / 2 - value / most * (bottom - top) / 2
    draw_axes(drawing, box, x_of, counts, [-most, -most / 2, 0, most / 2, most], y_of, "predicted - actual, % of actual")
    drawing.line([(left, y_of(0)), (right, y_of(0))], INK, 1)
    for run, error in zip(runs, errors):
        x = float(x_of(run["executors"]))
        drawing.line([(x, y_of(0)), (x, y_of(error))], colours[run["problem_size"]], 1)
        drawing.shape("circle", cx=x, cy=float(y_of(error)), r=4, fill=colours[run["problem_size"]], stroke="#ffffff")


def draw_fit(service, application, name, models, candidate, folder):
    runs = service.runs(application)
    sizes = sorted({r["problem_size"] for r in runs})
    most = min(len(sizes), len(LINES))
    shown = [sizes[i * (len(sizes) - 1) // max(most - 1, 1)] for i in range(most)]
    runs = [r for r in runs if r["problem_size"] in shown]
    colours = dict(zip(shown, LINES))
    counts = sorted({r["executors"] for r in runs})
    drawing = Drawing(860, 430, "Fit of %s to the runs of %s" % (candidate["model"], name))
    drawing.text(64, 26, "%s: the model %s and its errors" % (name, candidate["model"]), "start", font_size=17,
                 font_weight="bold")
    drawing.text(64, 47, "%sfitted to %d runs; leave-one-out error %.1f %%" % (
        "selected; " if candidate["model"] == models["selected_model"] else "", candidate["fit"]["observations"],
        candidate["fit"]["loo_mape_percent"]), "start", FAINT, font_size=12)
    for i, (size, colour) in enumerate(colours.items()):
        drawing.shape("circle", cx=70 + 130 * i, cy=414, r=5, fill=colour)
        drawing.text(80 + 130 * i, 418, "problem size %s" % number(size), "start", font_size=12)
    for panel, box in ((draw_durations, (64, 88, 440, 350)), (draw_residuals, (516, 88, 836, 350))):
        x_of = log_axis(counts[0], counts[-1], box[0] + 16, box[2] - 16)
        panel(drawing, service, candidate, runs, colours, box, x_of, counts)
    drawing.save(folder / "fit.svg")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("base_url")
    parser.add_argument("token_file")
    parser.add_argument("application")
    parser.add_argument("output_folder", type=pathlib.Path)
    parser.add_argument("--model", help="kind to draw; the one selected when left out")
    asked = parser.parse_args()
    service = Service(asked.base_url, asked.token_file)
    application = urllib.parse.quote(asked.application, safe="")
    models = service.ask("/v1/applications/%s/models" % application)
    kind = asked.model or models["selected_model"]
    candidate = next((c for c in models["candidates"] if c["model"] == kind and c["fit"]), None)
    if candidate is None or candidate["fit"]["loo_mape_percent"] is None:
        raise SystemExit("%s: %s" % (asked.application, models["reasons"][0]["message"] if asked.model is None
                                     else "there is no %s with an error to show" % kind))
    asked.output_folder.mkdir(parents=True, exist_ok=True)
    for draw in (draw_surface, draw_fit):
        draw(service, application, asked.application, models, candidate, asked.output_folder)


if __name__ == "__main__":
    main()
