"""What pictures show, read back from what matplotlib drew."""
import os
import re
import warnings
import xml.etree.ElementTree

HOSTILE = ["<script>alert(1)</script>", "$x^2$ and $\\frac{", "_hidden", "y" * 255, "\u05d0\u05d1\u05d2 \u202e rtl", "a\nb\tc", "100 % \\ {}"]


def drawn(plot):
    """The picture's SVG, which must not make matplotlib complain."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = plot.svg()
    xml.etree.ElementTree.fromstring(text)
    assert plot.alt and plot.alt in xml.etree.ElementTree.fromstring(text).find(".//{*}description").text
    check_layout(plot)
    return text


def labelled(axes):
    """{label: what is drawn with it} of lines that have one."""
    return {line.get_label(): line for line in axes.get_lines() if not line.get_label().startswith("_")}


def points(axes, colour=None, marker=None):
    """Of all lines, those with such a marker."""
    found = []
    for line in axes.get_lines():
        if line.get_transform() == axes.transData and (marker is None or line.get_marker() == marker) and (
                colour is None or line.get_color() == colour):
            found += [(x, y) for x, y in zip(line.get_xdata(), line.get_ydata())]
    return found


def texts(axes):
    return [text.get_text() for text in axes.texts]


def luminance(colour):
    from matplotlib.colors import to_rgb
    red, green, blue = to_rgb(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def look(line):
    """All but the colour."""
    return (str(line.get_linestyle()), str(line.get_marker()), line.get_fillstyle(), round(line.get_linewidth(), 1),
            str(line.get_markerfacecolor()) in ("none", "#FFFFFF"))


def tell_apart(axes):
    """Series that differ in neither lightness nor dashes, marker or filling: none in a good picture."""
    lines = list(labelled(axes).values())
    return [(a.get_label(), b.get_label()) for place, a in enumerate(lines) for b in lines[:place]
            if look(a) == look(b) and abs(luminance(a.get_color()) - luminance(b.get_color())) < 0.15]


def columns(html):
    """Captions and heads of tables."""
    return re.findall(r"<caption>(.*?)</caption>", html), re.findall(r'<th scope="col">(.*?)</th>', html)


_checked = set()


def check_layout(plot):
    """Every picture of its own once in each test, however many names the test has: texts are whole and apart at three sizes."""
    test = os.environ["PYTEST_CURRENT_TEST"].partition("[")[0]
    if plot._own and (test, type(plot.axes), len(plot.figure.axes)) not in _checked:
        _checked.add((test, type(plot.axes), len(plot.figure.axes)))
        assert layout_faults(plot) == []


# Sizes at which every picture has to be readable, in pixels at 100 dots an inch.
SIZES = [(350, 250), (700, 400), (1400, 800)]
TOUCH = 1.0  # pixels by which boxes may share an edge


def boxes(figure):
    """(what it is, its box) of each text, legend and label of a tick that is shown."""
    from matplotlib.legend import Legend
    from matplotlib.text import Text
    renderer = figure.canvas.get_renderer()
    found = []
    for legend in figure.findobj(Legend):
        if legend.get_visible():
            found.append(("legend", legend.get_window_extent(renderer)))
    in_legends = {text for legend in figure.findobj(Legend) for text in legend.findobj(Text)}
    ticks = {}
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for major in (True, False):
                for tick in axis.get_major_ticks() if major else axis.get_minor_ticks():
                    within = low - 1e-9 * abs(high - low) <= tick.get_loc() <= high + 1e-9 * abs(high - low)
                    ticks.update({tick.label1: within, tick.label2: within})
    for text in figure.findobj(Text):
        if text in in_legends or not text.get_visible() or not text.get_text().strip() or not ticks.get(text, True):
            continue
        if text.axes is not None and not (text.axes.get_visible() and text.axes.axison):
            continue
        box = text.get_window_extent(renderer)
        if box.width > 0 and box.height > 0:
            found.append((text.get_text(), box))
    return found


def layout_faults(plot, sizes=SIZES):
    """Texts that overlap each other or leave the picture, at each size."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    faults = []
    before = plot.figure.get_size_inches().copy()
    for width, height in sizes:
        plot.figure.set_dpi(100)
        plot.figure.set_size_inches(width / 100, height / 100)
        FigureCanvasAgg(plot.figure)
        plot._layout.settle()  # as each picture does before it is written
        plot.figure.draw_without_rendering()
        there = boxes(plot.figure)
        for place, (name, box) in enumerate(there):
            if box.x0 < -TOUCH or box.y0 < -TOUCH or box.x1 > width + TOUCH or box.y1 > height + TOUCH:
                faults.append("%dx%d: %r leaves the picture (%d %d %d %d)" % (width, height, name, *box.extents))
            for other, theirs in there[:place]:
                if min(box.x1, theirs.x1) - max(box.x0, theirs.x0) > TOUCH and min(box.y1, theirs.y1) - max(box.y0, theirs.y0) > TOUCH:
                    faults.append("%dx%d: %r lies on %r" % (width, height, name, other))
    plot.figure.set_size_inches(before)
    return faults
