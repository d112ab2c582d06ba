#!/usr/bin/python3
"""Build the documentation site from README.md, CONTRIBUTING.md, CHANGELOG.md, docs/, the notebooks and the contract.

    build.py CHECKOUT OPENAPI_YAML WORK OUTPUT_C OUTPUT_S DEPFILE MKDOCS [EXECUTED]

WORK/pages is what mkdocs reads, WORK/site what it makes. OUTPUT_C is the table of its files (service/api's
`struct document`), OUTPUT_S their bytes. MKDOCS is the program, or "-" for the contract without a site. EXECUTED is
a directory of executed notebooks (ops/execute-notebooks); without it the pages of notebooks have no outputs. Nothing is fetched: neither here nor by who reads the site.
"""
import base64
import gzip
import hashlib
import json
import mimetypes
import os
import pathlib
import re
import shutil
import subprocess
import sys

import yaml

import notebook
import reference
import search

HERE = pathlib.Path(__file__).resolve().parent
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# What the theme brings along and nothing asks for: maps of its scripts, its search in other languages.
UNUSED = re.compile(r"\.map$|^assets/javascripts/lunr/|^sitemap\.xml|^404\.html$")
TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".json": "application/json", ".svg": "image/svg+xml", ".png": "image/png", ".ipynb": "application/x-ipynb+json", ".yaml": "application/yaml"}
SITE_BYTES_MAX = 16 << 20
PROBLEMS_MARK = "<!-- problem types -->"  # where a page has a table of docs/problems.yaml
# What /docs/ shows if the program was built without its pages.
WITHOUT_SITE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>provisor</title></head>
<body><h1>provisor</h1>
<p>This program was built without its documentation pages. They are Markdown files in the folder <code>docs</code> of the source.
To see them here, start the service with <code>./run --site</code>, or build it with <code>meson setup -Dsite=enabled</code>.</p>
<p>Every call is described in the <a href="/openapi.yaml">OpenAPI document</a>.</p></body></html>
"""


def sources(checkout):
    """Every file the site is made from, by its path in the site."""
    docs = checkout / "docs"
    found = {"index.md": checkout / "README.md", "contributing.md": checkout / "CONTRIBUTING.md",
             "security.md": checkout / "SECURITY.md", "changelog.md": checkout / "CHANGELOG.md"}
    for path in sorted(docs.rglob("*")):
        if path.suffix in (".md", ".svg", ".css") and "site" not in path.relative_to(docs).parts[:-1]:
            found[str(path.relative_to(docs))] = path
    found["assets/reference.css"] = HERE / "reference.css"
    return found


def notebooks(checkout):
    return sorted((checkout / "clients" / "notebooks").glob("*.ipynb"))


def adapt(text, name):
    """Links between files of the checkout become links between pages of the site."""
    if name == "index.md":
        text = text.replace("](docs/", "](").replace("](CONTRIBUTING.md", "](contributing.md").replace("](SECURITY.md", "](security.md").replace("](CHANGELOG.md", "](changelog.md").replace("](openapi/)", "](/openapi.yaml)")
    up = "../" * name.count("/")
    text = re.sub(r"\]\((?:\.\./)+README\.md", "](%sindex.md" % up, text)
    text = re.sub(r"\]\((?:\.\./)+CONTRIBUTING\.md", "](%scontributing.md" % up, text)
    text = re.sub(r"\]\((?:\.\./)+SECURITY\.md", "](%ssecurity.md" % up, text)
    text = re.sub(r"\]\((?:\.\./)+CHANGELOG\.md", "](%schangelog.md" % up, text)
    text = re.sub(r"\]\((?:\.\./)+clients/notebooks/([\w-]+)\.ipynb\)", r"](%snotebooks/\1.md)" % up, text)
    # The clients themselves are not part of the site: their paths stay as words.
    text = re.sub(r"\[([^\]]*)\]\((?:\.\./)*clients/[^)]*\)", r"\1", text)
    if name in ("contributing.md", "security.md", "changelog.md"):
        text = text.replace("](docs/", "](")
    return re.sub(r"^```sh setup$", "```sh", text, flags=re.M)


def write_notebooks(checkout, executed, folder):
    """A page for each notebook; its pictures and the notebook itself are files in the folder that mkdocs makes of the page."""
    pages = folder / "notebooks"
    for path in notebooks(checkout):
        try:
            text, files = notebook.page(path, executed / path.name if executed else None, "../")
        except (notebook.Unfit, FileNotFoundError) as error:
            sys.exit("notebooks: %s" % error)
        (pages / path.stem).mkdir(parents=True)
        (pages / (path.stem + ".md")).write_text(text)
        for name, content in files.items():
            (pages / path.stem / name).write_bytes(content)


def write_pages(checkout, contract, folder, executed=None):
    shutil.rmtree(folder, ignore_errors=True)
    document = yaml.load(contract.read_text(), LOADER)
    problems = yaml.load((checkout / "docs" / "problems.yaml").read_text(), LOADER)
    texts = reference.pages(document, problems)
    for name, path in sources(checkout).items():
        if path.suffix == ".md":
            texts[name] = adapt(path.read_text(), name).replace(PROBLEMS_MARK, reference.problem_table(problems))
        else:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / name)
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    write_notebooks(checkout, executed, folder)
    return document


def run_mkdocs(mkdocs, folder, site, work):
    """Any broken link or page outside the navigation is an error (strict)."""
    config = yaml.load((HERE / "mkdocs.yml").read_text(), LOADER)
    config.update(docs_dir=str(folder), site_dir=str(site))
    (work / "mkdocs.yml").write_text(yaml.safe_dump(config, sort_keys=False))
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", SOURCE_DATE_EPOCH="0", LC_ALL="C.UTF-8")
    result = subprocess.run([mkdocs, "build", "--strict", "--quiet", "--clean", "-f", str(work / "mkdocs.yml")],
                            env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode != 0:
        sys.exit("mkdocs: " + result.stdout[-4000:])
    search.install(site)
    for path in site.rglob("*.html"):
        path.write_text(whole_words(path.read_text()))


def whole_words(page):
    """The page, in whose cells a word of code with a hyphen or slash does not break."""

    def words(code):
        return "<code>%s</code>" % re.sub(r"[^\s<>]*[-/][^\s<>]*", r'<span class="pv-word">\g<0></span>', code[1])

    def cell(found):
        return re.sub(r"<code>([^<]*)</code>", words, found[0])

    return re.sub(r"<(t[dh])\b.*?</\1>", cell, page, flags=re.S)


def inline_scripts(pages):
    """The policy's hashes of the scripts that stand inside the pages."""
    hashes = set()
    for text in pages:
        for attributes, body in re.findall(r"<script([^>]*)>(.*?)</script>", text, re.S):
            if "src=" not in attributes and "application/json" not in attributes and body:
                hashes.add(base64.b64encode(hashlib.sha256(body.encode()).digest()).decode())
    return sorted(hashes)


def documents(site, contract, document):
    """[(path, type, bytes)] in the order of their paths."""
    found = [("openapi.yaml", TYPES[".yaml"], contract.read_bytes()),
             ("openapi.json", TYPES[".json"], json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())]
    if site is not None:
        for path in site.rglob("*"):
            name = str(path.relative_to(site))
            if path.is_file() and not UNUSED.search(name):
                found.append(("docs/" + name, TYPES.get(path.suffix) or mimetypes.guess_type(name)[0], path.read_bytes()))
    size = sum(len(content) for _, _, content in found)
    if size > SITE_BYTES_MAX:
        sys.exit("the documents have %d bytes, which is more than %d" % (size, SITE_BYTES_MAX))
    return sorted(found, key=lambda d: d[0].encode())


def write_sources(found, hashes, version, out_c, out_s, folder):
    """The bytes as files that the assembler includes, and the table that names them."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    table, assembly = [], ["    .section .rodata"]

    def include(symbol, content):
        (folder / symbol).write_bytes(content)
        # The digest makes a change of the bytes a change of this text, so that they are assembled anew.
        assembly.append("    .global %s\n%s: /* %s */\n    .incbin \"%s\"\n    .byte 0" % (
            symbol, symbol, hashlib.sha256(content).hexdigest()[:16], folder / symbol))

    for i, (name, kind, content) in enumerate(found):
        include("document_%d" % i, content)
        packed = gzip.compress(content, 9, mtime=0)
        has_packed = len(packed) < 0.9 * len(content)
        if has_packed:
            include("document_%d_gzip" % i, packed)
        table.append('    {"%s", "%s", "%s", document_%d, %d, %s, %d},' % (
            name, kind, hashlib.sha256(content).hexdigest()[:16], i, len(content),
            "document_%d_gzip" % i if has_packed else "NULL", len(packed) if has_packed else 0))
    assembly.append('    .section .note.GNU-stack,"",%progbits')
    out_s.write_text("\n".join(assembly) + "\n")
    symbols = sorted({s for row in table for s in re.findall(r"document_\d+(?:_gzip)?", row)})
    out_c.write_text('#include "api/shared/documents.h"\n\n%s\n\nconst struct document documents[] = {\n%s\n};\n'
                     'const size_t documents_n = %d;\nconst char document_script_hashes[] = "%s";\n'
                     'const char contract_version[] = "%s";\n' % (
                         "\n".join("extern const char %s[];" % s for s in symbols), "\n".join(table), len(found),
                         "".join(" 'sha256-%s'" % h for h in hashes), version))


def main():
    checkout, contract, work, out_c, out_s, depfile = map(pathlib.Path, sys.argv[1:7])
    mkdocs = sys.argv[7]
    executed = pathlib.Path(sys.argv[8]) if sys.argv[8:] and sys.argv[8] else None
    work = work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    pages, site = work / "pages", None
    document = write_pages(checkout, contract, pages, executed)
    if mkdocs != "-":
        site = work / "site"
        run_mkdocs(mkdocs, pages, site, work)
    found = documents(site, contract, document)
    if site is None:
        found.insert(0, ("docs/index.html", TYPES[".html"], WITHOUT_SITE.encode()))
    hashes = inline_scripts(content.decode() for name, _, content in found if name.endswith(".html"))
    write_sources(found, hashes, document["info"]["version"], out_c, out_s, work / "bytes")
    inputs = [*sources(checkout).values(), *notebooks(checkout), *(executed.glob("*.ipynb") if executed else ()), checkout / "docs" / "problems.yaml", contract, *HERE.glob("*")]
    depfile.write_text("%s %s: %s\n" % (out_c, out_s, " ".join(map(str, inputs))))


if __name__ == "__main__":
    main()
