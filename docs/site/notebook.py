"""A notebook as a page of the documentation site: its text as it is, code in fences, and what an execution showed.

The site's policy allows no style and no script inside a page, and pictures as files or data. So HTML of outputs is written anew from a
list of elements and attributes that are known to do no harm, pictures become files beside the page, and SVG has attributes instead of styles.
"""
from __future__ import annotations

import base64
import html
import html.parser
import json
import re
import xml.etree.ElementTree

# Elements that outputs may have, each with the attributes that are kept. What is in DROPPED goes with all within it.
KEPT = {"table": (), "caption": (), "thead": (), "tbody": (), "tr": (), "th": ("scope", "colspan", "rowspan"), "td": ("colspan", "rowspan"),
        "figure": (), "figcaption": (), "img": ("src", "alt"), "p": (), "br": (), "ul": (), "ol": (), "li": (), "strong": (), "em": (), "code": (), "pre": ()}
DROPPED = ("style", "script", "head", "title")
VOID = ("img", "br")
PICTURES = {"image/svg+xml": "svg", "image/png": "png"}
# Within these the page's Markdown is left alone; anywhere else, signs that mean something in it are written as references.
BLOCKS = ("table", "figure", "p", "ul", "ol", "pre")
MARKS = re.compile(r"[\\`*_{}\[\]()#+.!|~:=-]")
# What pictures are drawn with; not scripts, foreign objects, links and animations, which do something when the file is opened by itself.
DRAWN = ("svg", "defs", "g", "path", "clipPath", "rect", "circle", "line", "polyline", "polygon", "use", "image", "text", "tspan", "title", "desc", "pattern")
WITHIN = ("#", "data:image/png;base64,")  # what a picture may refer to
DATA = re.compile(r"data:(image/[a-z+]+);base64,([A-Za-z0-9+/=\s]+)")


class Unfit(ValueError):
    """The notebook cannot be a page."""


class Pictures:
    """Files beside the page, by name."""

    def __init__(self, name):
        self.name, self.files = name, {}

    def add(self, kind, content):
        """The name under which the page shows it."""
        if kind not in PICTURES:
            raise Unfit("%s: a picture of type %s" % (self.name, kind))
        name = "%d.%s" % (len(self.files) + 1, PICTURES[kind])
        self.files[name] = self.drawing(content) if kind == "image/svg+xml" else content
        return name

    def drawing(self, content):
        text = plain_svg(content.decode())
        try:
            elements = list(xml.etree.ElementTree.fromstring(text).iter())
        except xml.etree.ElementTree.ParseError as error:
            raise Unfit("%s: a picture is no XML: %s" % (self.name, error)) from None
        for element in elements:
            if plain_name(element.tag) not in DRAWN:
                raise Unfit("%s: a picture has the element %s" % (self.name, plain_name(element.tag)))
            for key, value in element.attrib.items():
                key = plain_name(key)
                if key.lower().startswith("on") or (key == "href" and not value.startswith(WITHIN)):
                    raise Unfit("%s: a picture has %s=%s" % (self.name, key, value[:80]))
        return text.encode()


def plain_name(name):
    """Without its namespace."""
    return name.rpartition("}")[2]


def plain_svg(text):
    """Styles as attributes, which mean the same and are no inline styles. What `*` has goes to the root, from which the others inherit."""
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    rules = re.findall(r"<style[^>]*>\s*(?:<!\[CDATA\[)?\s*\*\s*\{([^}]*)\}\s*(?:\]\]>)?\s*</style>", text)
    text = re.sub(r"<style\b.*?</style>", "", text, flags=re.S)
    text = re.sub(r'\bstyle="([^"]*)"', lambda match: attributes_of(match[1]), text)
    return re.sub(r"<svg\b", "<svg %s" % attributes_of("; ".join(rules)), text, count=1) if rules else text


def attributes_of(style):
    pairs = []
    for name, value in re.findall(r"([\w-]+)\s*:\s*([^;]+)", html.unescape(style)):
        font = re.match(r"(?:(italic|oblique|normal) )?(?:(bold|normal|\d+) )?([\d.]+)px (.*)", value) if name == "font" else None
        if font:
            given = {"font-style": font[1], "font-weight": font[2], "font-size": font[3] + "px", "font-family": font[4]}
            pairs += [(key, part) for key, part in given.items() if part]
        else:
            pairs.append((name, value.strip()))
    return " ".join('%s="%s"' % (name, html.escape(value)) for name, value in pairs)


class Output(html.parser.HTMLParser):
    """HTML of an output as HTML of the page: `lines`, one for each element at the top."""

    def __init__(self, pictures):
        super().__init__()
        self.pictures, self.lines = pictures, [""]
        self.open, self.dropping = [], 0

    def handle_starttag(self, tag, attributes):
        if tag in DROPPED:
            self.dropping += 1
        if self.dropping or tag not in KEPT:
            return
        found = {name: value or "" for name, value in attributes if name in KEPT[tag]}
        if tag == "img":
            found = self.picture(found)
        elif tag == "th":
            found.setdefault("scope", "col" if "thead" in self.open else "row")
        self.write("<%s%s>" % (tag, "".join(' %s="%s"' % (name, html.escape(value)) for name, value in found.items())))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in DROPPED:
            self.dropping = max(0, self.dropping - 1)
        elif tag in self.open and not self.dropping:
            while True:
                last = self.open.pop()
                self.write("</%s>" % last)
                if last == tag:
                    break
            if not self.open:
                self.lines.append("")

    def handle_data(self, text):
        if not self.dropping and (text.strip() or "pre" in self.open):
            text = html.escape(text, quote=False)
            if not self.open or self.open[0] not in BLOCKS:
                text = MARKS.sub(lambda mark: "&#%d;" % ord(mark[0]), text)
            self.write(text.replace("\n", "&#10;") if "pre" in self.open else re.sub(r"\s+", " ", text))

    def write(self, text):
        self.lines[-1] += text

    def picture(self, found):
        data = DATA.fullmatch(found.get("src", ""))
        if data is None or not found.get("alt"):
            raise Unfit("%s: a picture without data or without a text alternative" % self.pictures.name)
        return {"src": self.pictures.add(data[1], base64.b64decode(data[2])), "alt": found["alt"]}


def fence(text, language):
    marks = max([2, *(len(run) for run in re.findall(r"`+", text))]) + 1
    return "%s%s\n%s\n%s" % ("`" * marks, language, text.rstrip("\n"), "`" * marks)


def overwritten(text):
    """As a terminal shows it: what follows a carriage return takes the place of what was there."""
    return "\n".join(line.rstrip("\r").rpartition("\r")[2].rstrip() for line in text.split("\n"))


def joined(lines):
    return lines if isinstance(lines, str) else "".join(lines)


def shown(data, pictures):
    """The richest form of an output."""
    if "text/html" in data:
        output = Output(pictures)
        output.feed(joined(data["text/html"]))
        output.close()
        return "\n\n".join(line for line in output.lines if line.strip())
    if "text/plain" in data and not PICTURES.keys() & data.keys():
        return fence(joined(data["text/plain"]), "output")
    raise Unfit("%s: an output of %s has no text alternative" % (pictures.name, ", ".join(sorted(data))))


def outputs(cell, pictures):
    """Pieces of the page; what was printed in one go is one fence, however often it was flushed."""
    pieces, printed = [], ""
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            printed += joined(output["text"])
            continue
        if output["output_type"] == "error":
            raise Unfit("%s: the cell %s failed" % (pictures.name, cell["id"]))
        pieces += [fence(overwritten(printed), "output")] if printed.strip() else []
        printed = ""
        pieces.append(shown(output["data"], pictures))
    return pieces + ([fence(overwritten(printed), "output")] if printed.strip() else [])


def sources_of(book):
    return [(cell["cell_type"], cell["id"], joined(cell["source"])) for cell in book["cells"]]


def page(path, executed, up):
    """(Markdown, files beside the page by name) of a notebook.

    path: the notebook as it is in the repository; executed: the same with outputs, or None; up: from the page to the root of the pages.
    Unfit: a cell failed, a picture says nothing in words, or `executed` is of another version of the notebook.
    """
    name = path.stem
    book = json.loads(path.read_text())
    if executed is not None:
        with_outputs = json.loads(executed.read_text())
        if sources_of(with_outputs) != sources_of(book):
            raise Unfit("%s is not what %s is now: execute it again" % (executed, path.name))
        book = with_outputs
    pictures, pieces = Pictures(name), []
    for cell in book["cells"]:
        source = joined(cell["source"])
        if cell["cell_type"] == "markdown":
            pieces.append(source)
        elif cell["cell_type"] == "code":
            pieces.append(fence(source, "python"))
            pieces += outputs(cell, pictures) if executed is not None else []
        if len(pieces) == 1:
            pieces.append(about(name, executed is not None, up))
    return "\n\n".join(pieces) + "\n", {**pictures.files, path.name: path.read_bytes()}


def about(name, executed, up):
    how = "[how to open it](%spython.md#notebooks)" % up
    if executed:
        return "This page is a notebook: [download it](%s/%s.ipynb), and see %s. What it shows here comes from a service with the sample's history." % (name, name, how)
    return "This page is a notebook: [download it](%s/%s.ipynb). Here are its text and its code; what they show, you see when you execute it: %s." % (name, name, how)
