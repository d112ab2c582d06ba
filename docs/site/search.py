"""The index of the site's search, made from the one of mkdocs; docs/site/search.js reads it.

    {"docs": {"sections": [[location, title, text, weight], ...], "aliases": {word: phrase}}}
"""
import html
import json
import pathlib
import re

import yaml

HERE = pathlib.Path(__file__).resolve().parent
BEGINNING = 200  # letters of a section of a page that few readers mean
THEME_SCRIPT = re.compile(r'<script src="([./]*)assets/javascripts/bundle\.')
# What the theme's script finds instead of a request for the index: only the worker needs the sections.
SETTINGS = "<script>var __search = {index: Promise.resolve({config: %s, docs: {}})};</script>"


def plain(text):
    """Text of HTML, on one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", re.sub(r"<wbr ?/?>", "", text))).split())


def weight_of(location, weights):
    return next((weight for path, weight in weights.items() if location.startswith(path)), 1)


def shortened(text):
    """The beginning, and then each further word once."""
    end = text.find(" ", BEGINNING)
    if end < 0:
        return text
    begin = text[:end]
    known = set(re.findall(r"[\w./{}-]+", begin))
    words = dict.fromkeys(word.strip("./-") for word in re.findall(r"[\w./{}-]+", text[end:]))
    return " ".join([begin, *(word for word in words if len(word) > 2 and word not in known and not word.replace(".", "").isdigit())])


def entries(made):
    """(location, title, text) of each section. mkdocs gives a page all its text, and then its heading's section: one entry here."""
    page = None
    for entry in made["docs"]:
        location, title, text = (entry[name] for name in ("location", "title", "text"))
        if "#" not in location:
            page = location, title
        elif page is not None:
            yield page[0], plain(page[1]), plain(text)
            page = None
        else:
            yield location, plain(title), plain(text)


def index(made, settings):
    """The index as text; made: that of mkdocs."""
    sections = []
    for location, title, text in entries(made):
        weight = weight_of(location, settings["weights"])
        if location.startswith("reference/") and "#" in location:
            text = "%s %s" % (location.partition("#")[2], text)  # the name of the call
        sections.append([location, title, text if weight == 1 else shortened(text), weight])
    return compact({"docs": {"sections": sections, "aliases": settings["aliases"]}})


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def install(site):
    """Write the index, the worker in the place of the theme's, and the search's settings into the pages."""
    path = site / "search" / "search_index.json"
    made = json.loads(path.read_text())
    path.write_text(index(made, yaml.safe_load((HERE / "search.yml").read_text())))
    worker, = (site / "assets" / "javascripts" / "workers").glob("search.*.min.js")
    worker.write_text((HERE / "search.js").read_text())
    script = SETTINGS % compact(made["config"])
    for page in site.rglob("*.html"):
        page.write_text(THEME_SCRIPT.sub(lambda found: script + found[0], page.read_text()))
