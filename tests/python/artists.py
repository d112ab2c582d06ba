"""What pictures show, read back from what matplotlib drew."""
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
