"""Notebooks as pages of the documentation site: executed as for publishing, converted, built by mkdocs; and what a converter has to withstand."""
import base64
import importlib
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree

import pytest

from conftest import BUILD, FOLDER, NAMES, ROOT, Html

sys.path.insert(0, str(ROOT / "docs" / "site"))
build = importlib.import_module("build")
notebook = importlib.import_module("notebook")

CONTRACT = BUILD / "openapi" / "provisor.yaml"
BYTES_MAX = 2 << 20  # what all pages of notebooks may add to the program
XLINK = "{http://www.w3.org/1999/xlink}"
LOADED = re.compile(r"<(?:img|script)[^>]*\bsrc=\"([^\"]*)\"|<a[^>]*\bhref=\"([^\"]*)\"")


def documents_of(site):
    """(bytes by path, hashes of inline scripts)"""
    document = build.yaml.load(CONTRACT.read_text(), build.LOADER)
    found = {path: content for path, _, content in build.documents(site, CONTRACT, document)}
    return found, build.inline_scripts(content.decode() for path, content in found.items() if path.endswith(".html"))


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """By the program that whoever publishes the site calls."""
    folder = tmp_path_factory.mktemp("published")
    for parent in (folder, *folder.parents):
        if str(parent).startswith("/tmp/") and parent.stat().st_uid == os.getuid():
            parent.chmod(0o755)
    result = subprocess.run([str(ROOT / "ops" / "execute-notebooks"), "--build-dir", str(BUILD), str(folder)], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=180)
    assert result.returncode == 0, result.stderr[-6000:]
    return folder


@pytest.fixture(scope="module")
def sites(executed, tmp_path_factory):
    """With what the execution showed, and as a plain build has it."""
    folder = tmp_path_factory.mktemp("site")
    build.write_pages(ROOT, CONTRACT, folder / "pages", executed)
    build.run_mkdocs("mkdocs", folder / "pages", folder / "site", folder)
    return documents_of(folder / "site"), documents_of(BUILD / "service" / "api" / "site" / "site")


@pytest.fixture
def published(sites):
    return sites[0][0]


def page(found, name):
    return found["docs/notebooks/%s/index.html" % name].decode()


def article(found, name):
    return re.search(r"<article.*?</article>", page(found, name), re.S)[0]


def test_all_are_executed(executed):
    assert sorted(path.name for path in executed.iterdir()) == ["%s.ipynb" % name for name in NAMES]


@pytest.mark.parametrize("name", NAMES)
def test_pictures_have_text_and_are_there(published, name):
    images = Html(article(published, name)).images
    assert len(images) >= 2
    for source, alt in images:
        assert len(alt) > 60
        root = xml.etree.ElementTree.fromstring(published["docs/notebooks/%s/%s" % (name, source)])
        assert root.tag.endswith("}svg") and [e for e in root.iter() if e.tag.endswith("}style") or "style" in e.attrib] == []
        assert [e for e in root.iter() if e.tag.endswith(("}script", "}foreignObject"))] == []
        assert all(e.get(XLINK + "href").startswith(("#", "data:image/png;base64,")) for e in root.iter() if e.get(XLINK + "href"))


@pytest.mark.parametrize("name", NAMES)
def test_the_policy_allows_all_of_the_page(sites, name):
    """docs/site/build.py hashes inline scripts into the policy: notebooks add none; nor styles, nor anything that another host would send."""
    (found, hashes), (_, hashes_without) = sites
    assert hashes == hashes_without
    text = article(found, name)
    assert re.findall(r"<script|<style|\bstyle=|\bon\w+=|javascript:|\bsrc=\"(?:data|https?|//)", text) == []


@pytest.mark.parametrize("name", NAMES)
def test_tables_keep_caption_and_heads(published, name):
    tables = Html(article(published, name)).tables
    assert tables and all(caption and heads and rows for caption, heads, rows in tables)
    assert "<th>" not in article(published, name)


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(published, name):
    for groups in LOADED.findall(page(published, name)):
        target = "".join(groups).partition("#")[0]
        if not target or re.match(r"[a-z]+:", target):
            continue
        path = os.path.normpath(os.path.join("docs/notebooks/%s/" % name, target)) if not target.startswith("/") else target[1:]
        assert path in published or os.path.join(path, "index.html") in published, target


@pytest.mark.parametrize("name", NAMES)
def test_the_notebook_can_be_downloaded(published, name):
    assert published["docs/notebooks/%s/%s.ipynb" % (name, name)] == (FOLDER / (name + ".ipynb")).read_bytes()
    assert 'href="%s.ipynb"' % name in article(published, name)
    assert 'href="../../python/#notebooks"' in article(published, name) and 'id="notebooks"' in published["docs/python/index.html"].decode()


def test_outputs_are_told_from_code(published):
    text = article(published, NAMES[0])
    assert '<code class="language-output">' in text and '<code class="language-python">' in text
    assert ".language-output" in published["docs/assets/reference.css"].decode()


@pytest.mark.parametrize("name", NAMES)
def test_without_an_execution_there_are_text_and_code(sites, name):
    found = sites[1][0]
    text = article(found, name)
    assert "language-python" in text and "language-output" not in text and "<table" not in text and "<img" not in text
    assert "when you execute it" in text and "when you execute it" not in article(sites[0][0], name)


def test_it_stays_small(sites):
    size = {False: 0, True: 0}
    for with_outputs, (found, _) in zip((True, False), sites):
        size[with_outputs] = sum(len(content) for path, content in found.items() if path.startswith("docs/notebooks/"))
        assert sum(map(len, found.values())) < build.SITE_BYTES_MAX
    assert size[False] < size[True] < BYTES_MAX


# --- what the converter withstands ---


def shown(text):
    output = notebook.Output(notebook.Pictures("x"))
    output.feed(text)
    output.close()
    return "".join(output.lines)


def book(tmp_path, outputs=None, source="1 + 1"):
    path = tmp_path / "x.ipynb"
    cells = [{"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# Title"]},
             {"cell_type": "code", "id": "b", "metadata": {}, "execution_count": None, "source": [source], "outputs": outputs or []}]
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


def executed_page(tmp_path, *outputs):
    (tmp_path / "executed").mkdir()
    return notebook.page(book(tmp_path), book(tmp_path / "executed", list(outputs)), "../")


@pytest.mark.parametrize("text, expected", [
    ("<script>alert(1)</script><p>a</p>", "<p>a</p>"),
    ("<style>p { color: red }</style><p style='color: red' onclick='x()' class='y'>a</p>", "<p>a</p>"),
    ("<p>a &lt;script&gt; &amp; b</p>", "<p>a &lt;script&gt; &amp; b</p>"),
    ("<iframe src='https://example.org'></iframe><object data='x'></object><p>a<svg onload='x()'></svg></p>", "<p>a</p>"),
    ("<table><tr><td>a", "<table><tr><td>a"),
    ("<table><thead><tr><th>h</th></tr></thead><tbody><tr><th>r</th><td colspan='2'>c</td></tr></tbody></table>",
     '<table><thead><tr><th scope="col">h</th></tr></thead><tbody><tr><th scope="row">r</th><td colspan="2">c</td></tr></tbody></table>'),
    ("<p>one\n\n  two</p>", "<p>one two</p>"),
    ("<pre>one\n\n# two</pre>", "<pre>one&#10;&#10;# two</pre>"),
    ("</script></style><script>alert(1)</script><p>a</p>", "<p>a</p>"),
    ("<div>[a](javascript:x)</div>", "&#91;a&#93;&#40;javascript&#58;x&#41;"),
    ("<strong>*a*</strong>", "<strong>&#42;a&#42;</strong>"),
    ("<p>[a] (b)</p>", "<p>[a] (b)</p>"),
])
def test_html_is_written_anew(text, expected):
    assert shown(text) == expected


@pytest.mark.parametrize("text", ["<img src='https://example.org/x.png' alt='x'>", "<img src='javascript:x' alt='x'>", "<img alt='x'>",
                                  "<img src='data:image/png;base64,AAAA'>", "<img src='data:image/png;base64,AAAA' alt=''>",
                                  "<img src='data:text/html;base64,AAAA' alt='x'>", "<img src='data:image/gif;base64,AAAA' alt='x'>"])
def test_pictures_without_data_or_words_are_refused(text):
    with pytest.raises(notebook.Unfit, match="x: a picture"):
        shown(text)


def test_pictures_become_files(tmp_path):
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><style type="text/css">*{stroke-linejoin: round; stroke-linecap: butt}</style>' \
          '<text style="font: 700 12px \'DejaVu Sans\', sans-serif; text-anchor: middle; fill: #fff">a</text></svg>'
    data = base64.b64encode(svg.encode()).decode()
    text, files = executed_page(tmp_path, {"output_type": "display_data", "metadata": {}, "data": {
        "text/html": ['<figure><img src="data:image/svg+xml;base64,%s" alt="a &quot;b&quot;"></figure>' % data]}})
    assert '<figure><img src="1.svg" alt="a &quot;b&quot;"></figure>' in text and sorted(files) == ["1.svg", "x.ipynb"]
    root = xml.etree.ElementTree.fromstring(files["1.svg"])
    assert root.attrib == {"stroke-linejoin": "round", "stroke-linecap": "butt"}
    assert root[0].attrib == {"font-weight": "700", "font-size": "12px", "font-family": "'DejaVu Sans', sans-serif", "text-anchor": "middle", "fill": "#fff"}


@pytest.mark.parametrize("inside", [
    "<script>alert(1)</script>", "<g onclick='alert(1)'/>", "<g style=\"onload: alert(1)\"/>", "<foreignObject><p/></foreignObject>",
    "<a xlink:href='https://example.org'><text>x</text></a>", "<image xlink:href='https://example.org/x.png'/>", "<use href='javascript:alert(1)'/>",
    "<set attributeName='href' to='x'/>", "<g>"])
def test_pictures_that_do_more_than_show_are_refused(inside):
    svg = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">%s</svg>' % inside
    with pytest.raises(notebook.Unfit, match="x: a picture"):
        notebook.Pictures("x").add("image/svg+xml", svg.encode())


def test_what_was_printed_is_as_a_terminal_shows_it(tmp_path):
    text, _ = executed_page(tmp_path, {"output_type": "stream", "name": "stderr", "text": ["\rwork 10 %"]},
                            {"output_type": "stream", "name": "stderr", "text": ["\rwork done  ", "\n"]}, {"output_type": "stream", "name": "stdout", "text": ["a\n```\nb\n"]})
    assert text.endswith("````output\nwork done\na\n```\nb\n````\n")


def test_a_failed_cell_is_refused(tmp_path):
    with pytest.raises(notebook.Unfit, match="cell b failed"):
        executed_page(tmp_path, {"output_type": "error", "ename": "E", "evalue": "", "traceback": []})


def test_an_output_without_words_is_refused(tmp_path):
    with pytest.raises(notebook.Unfit, match="no text alternative"):
        executed_page(tmp_path, {"output_type": "display_data", "metadata": {}, "data": {"image/png": "AAAA", "text/plain": "<Figure>"}})


def test_outputs_of_another_version_are_refused(tmp_path):
    (tmp_path / "old").mkdir()
    old = book(tmp_path / "old", source="1 + 2")
    with pytest.raises(notebook.Unfit, match="execute it again"):
        notebook.page(book(tmp_path), old, "../")
