"""What makes a picture readable at the size that it is given: smaller letters in a small one, legends under the axes and as
wide as the picture, titles in two lines, and of texts that would lie on each other only the first.

`Layout.settle` may be called again at another size: it begins with what the picture was made with.
"""
from __future__ import annotations

import textwrap
import weakref
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Tuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FULL = (6.0, 3.6)  # inches from which on letters have their own size
SMALLEST = 0.6
LEGEND_GAP = 4.0  # pixels between an axis and the legend under it
TICK_SHARE = 0.3  # of the picture's width that names of ticks may take
PASSES = 3

# By axes: what its legend was made of, so that it can be made again with other columns.
_legends: weakref.WeakKeyDictionary[Any, Tuple[Sequence[Any], Sequence[str], Dict[str, Any]]] = weakref.WeakKeyDictionary()


def legend(axes: Axes, handles: Optional[Sequence[Any]] = None, labels: Optional[Sequence[str]] = None, **settings: Any) -> Any:
    """matplotlib's, which is made again when the picture has another size."""
    if handles is None:
        handles, labels = axes.get_legend_handles_labels()
    if labels is None:
        labels = [handle.get_label() for handle in handles]
    _legends[axes] = (handles, labels, settings)
    return axes.legend(handles, labels, **settings)


class Layout:
    """Of one figure, with what it was made with: sizes and texts before they were fitted."""

    def __init__(self, figure: Figure) -> None:
        self.figure = figure
        self.before: List[Tuple[Any, float, str]] = []
        self.hidden: List[Any] = []
        self.names: List[Tuple[Any, Any]] = []

    def settle(self) -> None:
        self._restore()
        self._scale()
        for _ in range(PASSES):
            self.figure.draw_without_rendering()
            moved = [self._fit_titles(), self._fit_names(), self._fit_legends()]
            if not any(moved):
                break
        for _ in range(PASSES):  # what is hidden gives room to the others, which then lie elsewhere
            self.figure.draw_without_rendering()
            if not self._hide_overlapping():
                break

    # --- what it was made with ---

    def _texts(self) -> Iterator[Any]:
        from matplotlib.text import Text
        yield from self.figure.findobj(Text)

    def _restore(self) -> None:
        for text, size, words in self.before:
            text.set_fontsize(size)
            if text.get_text() != words:
                text.set_text(words)
        for text in self.hidden:
            text.set_visible(True)
        for formatter, names in self.names:
            formatter.seq = names
        self.before, self.hidden, self.names = [], [], []
        for axes, (handles, labels, settings) in list(_legends.items()):
            if axes.figure is self.figure:
                axes.legend(handles, labels, **settings)

    def _scale(self) -> None:
        """Smaller letters in a picture that is smaller than FULL."""
        width, height = self.figure.get_size_inches()
        share = max(SMALLEST, min(1.0, width / FULL[0], height / FULL[1]))
        self.before = [(text, text.get_fontsize(), text.get_text()) for text in self._texts()]
        for text, size, _ in self.before:
            text.set_fontsize(share * size)
        for axes in self.figure.axes:
            if not hasattr(axes, "_tick_size"):
                names = [axis.get_ticklabels() for axis in (axes.xaxis, axes.yaxis)]
                axes._tick_size = [texts[0].get_fontsize() if texts else 10.0 for texts in names]
            for axis, size in zip((axes.xaxis, axes.yaxis), axes._tick_size):
                axis.set_tick_params(which="both", labelsize=share * size)
        self.share = share

    # --- fitting ---

    def _fit_titles(self) -> bool:
        """Titles that are wider than the picture, and labels that are longer than their axis, get several lines."""
        moved = False
        width, height = self.figure.bbox.size
        titles = [t for axes in self.figure.axes for t in (axes.title, axes._left_title, axes._right_title, axes.xaxis.label)]
        for text, most in [(t, width) for t in titles + ([self.figure._suptitle] if self.figure._suptitle else [])] + [
                (axes.yaxis.label, min(height, 1.3 * axes.bbox.height)) for axes in self.figure.axes]:
            box = text.get_window_extent()
            long = box.height if text.get_rotation() == 90 else box.width
            if text.get_text() and "\n" not in text.get_text() and long > 0.98 * most:
                letters = max(8, int(len(text.get_text()) * 0.9 * most / long))
                text.set_text("\n".join(textwrap.wrap(text.get_text(), letters)[:3]))
                moved = True
        return moved

    def _fit_names(self) -> bool:
        """Names of ticks take at most a share of the picture."""
        from matplotlib.ticker import FixedFormatter
        moved = False
        for axes in self.figure.axes:
            formatter = axes.yaxis.get_major_formatter()
            if not isinstance(formatter, FixedFormatter):
                continue
            widest = max([t.get_window_extent().width for t in axes.yaxis.get_ticklabels()] or [0])
            most = TICK_SHARE * self.figure.bbox.width
            if widest > 1.02 * most:
                letters = max(4, int(max(map(len, formatter.seq)) * most / widest))
                self.names.append((formatter, formatter.seq))
                formatter.seq = [name if len(name) <= letters else name[: letters - 1] + "\N{HORIZONTAL ELLIPSIS}"
                                 for name in formatter.seq]
                moved = True
        return moved

    def _fit_legends(self) -> bool:
        """A legend that is wider than the picture has fewer columns; one under the axes stands clear of their labels."""
        moved = False
        for axes in self.figure.axes:
            if axes not in _legends or axes.get_legend() is None:
                continue
            handles, labels, settings = _legends[axes]
            made, columns = axes.get_legend(), settings.get("ncol", 1)
            columns = getattr(made, "_ncols", columns)
            anchor = settings.get("bbox_to_anchor")
            below = anchor is not None and anchor[1] < 0
            changed = dict(settings, ncol=columns)
            if made.get_window_extent().width > 0.98 * self.figure.bbox.width and columns > 1:
                changed["ncol"] = columns - 1
            if anchor is not None and below:
                under = axes.xaxis.get_tightbbox(self.figure._get_renderer())
                low = (under.y0 if under is not None else axes.bbox.y0) - LEGEND_GAP
                half = made.get_window_extent().width / 2 + LEGEND_GAP
                middle = min(max(axes.bbox.x0 + anchor[0] * axes.bbox.width, half), max(half, self.figure.bbox.width - half))
                changed["bbox_to_anchor"] = ((middle - axes.bbox.x0) / max(1.0, axes.bbox.width),
                                             min(-0.01, (low - axes.bbox.y0) / max(1.0, axes.bbox.height)))
            at = made.get_bbox_to_anchor().transformed(axes.transAxes.inverted())
            if changed["ncol"] == columns and (not below or max(abs(at.x0 - changed["bbox_to_anchor"][0]),
                                                                abs(at.y0 - changed["bbox_to_anchor"][1])) < 0.01):
                continue
            again = axes.legend(handles, labels, **changed)
            for text in (*again.get_texts(), again.get_title()):
                text.set_fontsize(self.share * text.get_fontsize())
            moved = True
        return moved

    # --- what is left out ---

    def _ticks(self) -> Iterator[Any]:
        for axes in self.figure.axes:
            for axis in (axes.xaxis, axes.yaxis):
                for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                    yield from (tick.label1, tick.label2)

    def _leaves(self, box: Any) -> bool:
        width, height = self.figure.bbox.size
        return bool(box.x0 < -1 or box.y0 < -1 or box.x1 > width + 1 or box.y1 > height + 1)

    def _hide_overlapping(self) -> bool:
        """Legends and titles stay; then labels, ticks and other texts, as far as there is room and none leaves the picture.

        True: something was hidden."""
        from matplotlib.legend import Legend
        renderer = self.figure._get_renderer()
        in_legends = {text for found in self.figure.findobj(Legend) for text in found.findobj() if hasattr(text, "get_text")}
        fixed = [t for axes in self.figure.axes
                 for t in (axes.title, axes._left_title, axes._right_title, axes.xaxis.label, axes.yaxis.label)]
        fixed += [self.figure._suptitle] if self.figure._suptitle else []
        ticks = list(self._ticks())
        special = {*in_legends, *fixed, *ticks}
        others = sorted((t for t in self._texts() if t not in special), key=lambda t: bool(t.get_weight() != "bold"))
        before = len(self.hidden)
        taken = []
        for found in self.figure.findobj(Legend):
            box = found.get_window_extent(renderer)
            if self._leaves(box):
                found.set_visible(False)
                self.hidden.append(found)
            elif found.get_visible():
                taken.append(box)
        for text in (*fixed, *ticks, *others):
            if not text.get_visible() or not text.get_text().strip():
                continue
            box = text.get_window_extent(renderer)
            if self._leaves(box) or any(_overlap(box, there) for there in taken):
                text.set_visible(False)
                self.hidden.append(text)
            else:
                taken.append(box)
        return len(self.hidden) > before


def _overlap(a: Any, b: Any) -> bool:
    return bool(min(a.x1, b.x1) - max(a.x0, b.x0) > 0.5 and min(a.y1, b.y1) - max(a.y0, b.y0) > 0.5)
