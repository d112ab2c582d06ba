"""What all pictures share: names as labels, styles, saving, and how a notebook shows one."""
import builtins
import importlib
import re
import sys
import threading
import xml.etree.ElementTree

import pytest

import provisor.plots.figure as figure
from artists import HOSTILE, drawn, luminance
from provisor.plots import Plot

ALT = "Two points: 1 and <b>2</b> & \"3\"."


def a_plot(title="a title"):
    made, axes = figure.canvas(None)
    axes.plot([1, 2], [1, 2])
    axes.set_title(figure.label(title))
    return Plot(made, axes, ALT)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_become_labels(name):
    text = figure.label(name)
    assert len(text) <= figure.LABEL_MAX + 4 and "\n" not in text and "\u202e" not in text and not text.startswith("_")
    assert not re.search(r"(?<!\\)\$", text), "begins a formula"
    plot = a_plot(name)
    svg = drawn(plot)
    assert "<script>" not in svg and ("alert" not in name or "&lt;script&gt;" in svg)
    html = plot._repr_html_()
    assert "<script>" not in html and "\u202e" not in html


def test_a_number_of_a_text():
    assert [figure.number(v) for v in (None, 0, 0.12345, 12.345, 999.4, 999.7, 1234.5, 1e7)] == ["unknown", "0", "0.123", "12.3", "999", "1000", "1234", "10000000"]
    assert figure.number(2.5, "s") == "2.5 s" and figure.number(None, "s") == "unknown"
    assert figure.counted(1, "run") == "1 run" and figure.counted(0, "run") == "0 runs" and figure.counted(2, "box", "boxes") == "2 boxes"
    assert figure.listed(["a", "b"]) == "a, b"
    many = figure.listed([str(n) for n in range(100)], 5).split(", ")
    assert len(many) == 5 and many[0] == "0" and many[-1] == "99"


def test_neighbours_among_styles_differ_in_lightness_and_all_in_look():
    styles = [figure.style(n) for n in range(64)]
    for a, b in zip(styles[:8], styles[1:8]):
        assert abs(luminance(a.colour) - luminance(b.colour)) > 0.08, (a, b)
    looks = [(s.colour, str(s.dashes), s.marker) for s in styles]
    assert len(set(looks)) == len(looks)
    assert len({(str(s.dashes), s.marker) for s in styles[:8]}) == 8 and len({s.hatch for s in styles[:8]}) == 8


@pytest.mark.parametrize("kind, begins", [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_saving(tmp_path, kind, begins):
    path = tmp_path / ("picture." + kind)
    a_plot().save(path)
    content = path.read_bytes()
    assert content.startswith(begins)
    if kind == "svg":
        root = xml.etree.ElementTree.fromstring(content)
        assert root.find(".//{*}title").text == "a title" and root.find(".//{*}description").text == ALT
        again = tmp_path / "again.svg"
        a_plot().save(str(again))
        assert again.read_bytes() == content, "the same picture is the same file"
    elif kind == "png":
        assert ALT.encode("latin-1") in content
    else:
        assert b"Two points" in content


def test_settings_of_savefig_go_through(tmp_path):
    from matplotlib.image import imread
    a_plot().save(tmp_path / "a.png", dpi=50)
    assert imread(tmp_path / "a.png").shape[:2] == (210, 350)
    a_plot().save(tmp_path / "file", format="svg")
    assert (tmp_path / "file").read_bytes().startswith(b"<?xml")


def test_a_notebook_shows_the_picture_with_its_text():
    html = a_plot()._repr_html_()
    assert html.startswith('<figure><img src="data:image/svg+xml;base64,') and html.endswith("/></figure>")
    assert 'alt="Two points: 1 and &lt;b&gt;2&lt;/b&gt; &amp; &quot;3&quot;."' in html
    assert repr(a_plot()) == "<Plot: %s>" % ALT


@pytest.mark.parametrize("name", ["a\x00b\x1b[31m\x07", "\ud800", "\ufffe\uffff"])
@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_signs_that_a_file_must_not_hold(tmp_path, name, kind):
    made, axes = figure.canvas(None)
    axes.set_title(figure.label(name))
    plot = Plot(made, axes, "Of %s and \u05d0\tmore." % name)
    plot.save(tmp_path / ("file." + kind))
    described = xml.etree.ElementTree.fromstring(plot.svg()).find(".//{*}description").text
    assert described == "Of %s and \u05d0\tmore." % re.sub("[^a-z0-9\\[]", "\ufffd", name)


def test_threads_that_draw_leave_matplotlib_and_each_other_alone():
    import matplotlib
    before, plots, texts = dict(matplotlib.rcParams), [a_plot() for _ in range(8)], []
    threads = [threading.Thread(target=lambda plot=plot: texts.extend(plot.svg() for _ in range(5))) for plot in plots]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 40 and len(set(texts)) == 1
    assert dict(matplotlib.rcParams) == before


def test_the_callers_axes_are_shown_by_the_caller():
    from matplotlib.figure import Figure
    axes = Figure().add_subplot()
    made, same = figure.canvas(axes)
    assert same is axes and made is axes.figure
    assert Plot(made, same, ALT, own=False)._repr_html_() is None


def test_pyplot_is_not_told():
    a_plot()
    assert "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError("No module named 'matplotlib'")
        return real(name, *rest)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=re.escape("plot() needs matplotlib: pip install matplotlib")):
        figure.canvas(None)


def test_modules_of_plots_load_without_matplotlib():
    import subprocess
    program = ("import sys; sys.path.insert(0, sys.argv[1]); sys.modules['matplotlib'] = sys.modules['pandas'] = None\n"
               "import provisor.results, provisor.results.models, provisor.results.advice, provisor.plots.fit, provisor.plots.advice\n"
               "import provisor.plots.accuracy, provisor.plots.speedup, provisor.plots.diagnosis")
    where = importlib.util.find_spec("provisor").submodule_search_locations[0]
    subprocess.run([sys.executable, "-c", program, where.rpartition("/")[0]], check=True)


def test_ticks_do_not_touch():
    _, axes = figure.canvas(None)
    axes.set_xscale("log")
    figure.log_ticks(axes.xaxis, range(1, 41))
    ticks = axes.xaxis.get_major_locator()()
    assert 8 <= len(ticks) <= 13 and all(b >= 1.15 * a for a, b in zip(ticks, ticks[1:])) and ticks[0] == 1
    figure.log_ticks(axes.xaxis, [8])
    assert list(axes.xaxis.get_major_locator()()) == [8]
