"""What all pictures share: the object that `plot()` returns, colours, and how names of others become labels.

Colours are those of Okabe and Ito, which colour-blind people tell apart; surfaces are in cividis, whose lightness rises
evenly. No picture says anything by colour alone: lines differ in dashes and markers, areas in hatches.
"""
from __future__ import annotations

import base64
import io
import os
import pathlib
import re
import threading
import warnings
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union

from ..tables import escaped
from .layout import Layout, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY = "#6B6B6B"
SURFACE = "cividis"
LABEL_MAX = 40

# Settings of matplotlib and filters of warnings are of the process: of two threads that set them at once, one would leave its own behind.
_WRITING = threading.Lock()
# A file of XML must not hold these at all, not even escaped.
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

Size = Tuple[float, float]  # inches
SIZE: Size = (7.0, 4.2)


class Style(NamedTuple):
    """Of a series. `dashes` is a matplotlib line style."""

    colour: str
    dashes: Any
    marker: str
    hatch: str


# In this order neighbours differ in lightness as well.
STYLES: List[Style] = [
    Style(BLUE, "-", "o", ""),
    Style(ORANGE, "--", "s", "//"),
    Style(BLACK, ":", "^", ".."),
    Style(SKY, "-.", "D", "\\\\"),
    Style(VERMILION, (0, (5, 1, 1, 1, 1, 1)), "v", "xx"),
    Style(YELLOW, (0, (8, 2)), "P", "++"),
    Style(GREEN, (0, (3, 1)), "X", "oo"),
    Style(PURPLE, (0, (1, 3)), "*", "--"),
]


def style(number: int) -> Style:
    """That of the series of this number. After all colours, dashes and markers are combined anew, so that none repeats soon."""
    turn, place = divmod(number, len(STYLES))
    other = STYLES[(place + turn) % len(STYLES)]
    own = STYLES[place]
    return own._replace(dashes=other.dashes, marker=other.marker, hatch=own.hatch + other.hatch) if turn else own


def ink(colour: str) -> str:
    """Black or white, whichever shows on the colour: hatches and letters on an area of it."""
    red, green, blue = (int(colour[place:place + 2], 16) for place in (1, 3, 5))
    return "#FFFFFF" if 0.299 * red + 0.587 * green + 0.114 * blue < 130 else BLACK


def label(text: Any, most: int = LABEL_MAX) -> str:
    """A text of a reply as matplotlib may draw it: `$` begins no formula, a leading `_` hides no legend entry, one line, cut."""
    plain = "".join(c if c.isprintable() else " " for c in str(text)).strip()
    if len(plain) > most:
        plain = plain[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"
    plain = plain.replace("$", r"\$")
    return " " + plain if plain.startswith("_") else plain


def matplotlib_figure(size: Size) -> Figure:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plot() needs matplotlib: pip install matplotlib, or Debian's python3-matplotlib") from error
    return Figure(figsize=size, layout="constrained")


def canvas(ax: Optional[Axes], size: Size = SIZE) -> Tuple[Figure, Axes]:
    """The caller's axes and their figure, or new ones, which pyplot does not know and so does not show a second time."""
    if ax is not None:
        return ax.figure, ax
    figure = matplotlib_figure(size)
    return figure, figure.add_subplot()


def number(value: Optional[float], unit: str = "") -> str:
    """For texts: three or four digits."""
    if value is None:
        return "unknown"
    if abs(value) < 1e-9:
        value = 0.0  # what rounding leaves of nothing
    text = "%d" % round(value) if abs(value) >= 999.5 else "%.3g" % value
    return text + (" " + unit if unit else "")


def counted(count: int, singular: str, plural: Optional[str] = None) -> str:
    return "%d %s" % (count, singular if count == 1 else plural or singular + "s")


def listed(texts: Sequence[str], most: int = 8) -> str:
    """For texts: of many, so many from the first to the last."""
    if len(texts) > most:
        texts = [texts[round(place * (len(texts) - 1) / (most - 1))] for place in range(most)]
    return ", ".join(texts)


def log_ticks(axis: Any, values: Iterable[float], most: int = 12) -> None:
    """At these values of a logarithmic axis, written as they are; one that would touch the tick before it is left out."""
    from matplotlib.ticker import FixedLocator, NullLocator
    ascending = sorted(set(values))
    ratio = (ascending[-1] / ascending[0]) ** (1 / most) if ascending else 1.0
    kept: List[float] = []
    for value in ascending:
        if not kept or value >= max(ratio, 1.15) * kept[-1]:
            kept.append(value)
    axis.set_major_locator(FixedLocator(kept))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda value, _: number(value))


def plain_log_ticks(axis: Any) -> None:
    """A logarithmic axis with 1, 2 and 5 of each power of ten, written as they are."""
    from matplotlib.ticker import LogLocator, NullFormatter, NullLocator
    axis.set_major_locator(LogLocator(10, (1, 2, 5)))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(lambda value, _: number(value))


def legend_below(axes: Axes, columns: int = 3, **settings: Any) -> None:
    """Of what has a label, under the axes, where it hides nothing."""
    handles = settings.get("handles") or axes.get_legend_handles_labels()[0]
    if handles:
        settings.setdefault("bbox_to_anchor", (0.5, -0.15))
        legend(axes, loc="upper center", frameon=False, ncol=min(columns, len(handles)), fontsize="small", **settings)


def empty(axes: Axes, why: str) -> None:
    """Instead of a picture of nothing."""
    axes.text(0.5, 0.5, why, transform=axes.transAxes, ha="center", va="center", wrap=True)
    axes.set_xticks([])
    axes.set_yticks([])


class Plot:
    """A picture. A notebook shows it with its text alternative; `save` writes it to a file.

    figure, axes: matplotlib's, to be changed as you like (axes: the main ones)
    alt: what the picture says, in words
    """

    def __init__(self, figure: Figure, axes: Axes, alt: str, own: bool = True, title: Optional[str] = None) -> None:
        """own: the figure was made for this picture; that of a caller is shown by the caller.
        title: of the whole, if that of the axes is the title of a part."""
        self.figure, self.axes, self.alt, self._own, self._title = figure, axes, alt, own, title
        self._layout = Layout(figure)

    def save(self, path: Union[str, os.PathLike[str]], **settings: Any) -> None:
        """Write it in the format that the path ends in (svg, png, pdf), with the text alternative in the file's metadata.

        settings: those of matplotlib's Figure.savefig."""
        kind = settings.get("format") or pathlib.Path(path).suffix.lstrip(".") or "png"
        settings.setdefault("metadata", self._metadata(str(kind).lower()))
        self._write(path, **settings)

    def svg(self) -> str:
        """As SVG. Letters stay text."""
        out = io.BytesIO()
        self._write(out, format="svg", metadata=self._metadata("svg"))
        return out.getvalue().decode()

    def _metadata(self, kind: str) -> Dict[str, Optional[str]]:
        title, alt = (_NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text) for text in (self.title, self.alt))
        if kind == "svg":
            return {"Title": title, "Description": alt, "Date": None}
        if kind == "pdf":
            return {"Title": title, "Subject": alt, "CreationDate": None}
        return {"Title": title, "Description": alt} if kind == "png" else {}

    def _write(self, out: Any, **settings: Any) -> None:
        import matplotlib
        with _WRITING, matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "provisor"}), warnings.catch_warnings():
            # A letter that matplotlib's font lacks: whoever shows the SVG has it.
            warnings.filterwarnings("ignore", "Glyph .* missing from current font")
            if self._own:
                self._layout.settle()
            self.figure.savefig(out, **settings)

    @property
    def title(self) -> str:
        return str(self.axes.get_title() if self._title is None else self._title).replace(r"\$", "$").replace("\n", " ")

    def _repr_html_(self) -> Optional[str]:
        if not self._own:
            return None
        data = base64.b64encode(self.svg().encode()).decode()
        return '<figure><img src="data:image/svg+xml;base64,%s" alt="%s"/></figure>' % (data, escaped(self.alt))

    def __repr__(self) -> str:
        from ..brief import one_line
        return one_line("Plot", None, [self.alt])
