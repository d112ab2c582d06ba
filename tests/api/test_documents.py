"""What the service shows of itself: the way to its documents, the contract as YAML and JSON, the documentation site."""
import gzip
import html
import html.parser
import json
import re
import sys
import urllib.parse

import jsonschema
import pytest
import requests
import yaml

from conftest import ROOT
from contract import Contract, bundle

sys.path.append(str(ROOT / "docs" / "site"))
import reference  # noqa: E402
from sample import sample  # noqa: E402

CONTRACT = Contract()
OTHER_HOST = re.compile(r"^(?:[a-z]+:)?//")


class Page(html.parser.HTMLParser):
    """Links, ids, and whatever a browser would load by itself."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.ids, self.styles = [], [], set(), 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids.add(found.get("id"))
        self.styles += tag == "style" or "style" in found
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        elif tag == "link" and found.get("href") and found.get("rel") not in ("canonical", "next", "prev"):
            self.loads.append(found["href"])
        elif found.get("src"):
            self.loads.append(found["src"])


@pytest.fixture(scope="module")
def site(client):
    """Every page that links from /docs/ lead to, by path: {path: (text, parsed)}."""
    pages, waiting = {}, ["/docs/"]
    while waiting:
        path = waiting.pop()
        if path in pages:
            continue
        text = client.get(path, 200, token=False).text
        pages[path] = (text, Page(text))
        for link in pages[path][1].links:
            target = urllib.parse.urlsplit(urllib.parse.urljoin(path, link))
            if not target.netloc and target.path.startswith("/docs/") and not target.path.endswith((".svg", ".ipynb")):
                waiting.append(target.path)
    return pages


def test_the_root_leads_to_the_documents(client):
    found = client.get("/", token=False)
    version = CONTRACT.document["info"]["version"]
    assert set(found.json().values()) == {"provisor", "/docs/", "/docs/reference/", "/openapi.yaml", version}
    assert 'rel="service-desc"' in found.headers["Link"] and 'rel="service-doc"' in found.headers["Link"]
    page = client.get("/", token=False, headers={"Accept": "text/html,*/*;q=0.8"})
    assert page.headers["Content-Type"].startswith("text/html") and page.headers["Vary"] == "Accept"
    assert "version " + version in page.text
    for link in Page(page.text).links:
        client.get(link, 200, token=False)


def test_the_contract_as_json_is_the_one_as_yaml(client):
    reply = client.get("/openapi.json", token=False)
    assert reply.json() == json.loads(json.dumps(yaml.safe_load(bundle.bundle())))
    client.get("/openapi.json", 304, token=False, headers={"If-None-Match": reply.headers["ETag"]})


def test_every_link_of_the_site_leads_somewhere(site, client):
    assert len(site) > 25
    for path, (_, page) in site.items():
        for link in page.links + page.loads:
            target = urllib.parse.urlsplit(urllib.parse.urljoin(path, link))
            if target.netloc or not target.path.startswith("/"):
                continue
            if target.path not in site:
                client.get(target.path, 200, token=False)
            elif target.fragment:
                assert urllib.parse.unquote(target.fragment) in site[target.path][1].ids, (path, link)


def test_the_site_needs_no_other_host_and_no_style_in_its_pages(site, client):
    seen = set()
    for path, (text, page) in site.items():
        assert [l for l in page.loads if OTHER_HOST.match(l)] == [], path
        assert page.styles == 0, "%s: the policy allows no style inside a page" % path
        seen.update(urllib.parse.urljoin(path, l) for l in page.loads)
    sheets = [p for p in seen if p.endswith(".css")]
    assert len(sheets) >= 2
    for sheet in sheets:
        text = client.get(sheet, 200, token=False).text
        assert not re.search(r"url\(\s*[\"']?(?:https?:)?//|@import", text), sheet


def test_each_call_and_each_member_of_its_bodies_is_in_the_reference(site):
    pages = {path: page for path, page in site.items() if path.startswith("/docs/reference/")}
    for method, template, operation in CONTRACT.operations():
        tag = operation["tags"][0]
        text, page = pages["/docs/reference/%s/" % tag]
        assert operation["operationId"] in page.ids, operation["operationId"]
        for holder in operation.get("requestBody", {}).get("content", {}).values():
            for name in CONTRACT.resolve(holder.get("schema", {})).get("properties", {}):
                assert "<code>%s</code>" % name in text, (operation["operationId"], name)


def call_of(site, operation_id):
    """The HTML of one call in the reference."""
    text = next(t for p, (t, page) in site.items() if p.startswith("/docs/reference/") and operation_id in page.ids)
    begin = text.index('id="%s"' % operation_id)
    end = text.find("<h2", begin)
    return text[begin:end if end > 0 else len(text)]


def test_the_main_call_begins_with_its_plainest_request_and_a_reply(site):
    call = call_of(site, "createAdvice")
    command, reply = call.index("<summary>Example: application</summary>"), call.index("<summary>Example of a reply</summary>")
    assert command < reply < call.index("Parameters</p>") < call.index("Reply 201</p>")
    assert "curl -sS" in call[command:reply] and '"application": "nightly-etl"' in call[command:reply]
    assert '"verdict": "met"' in call[reply:call.index("Parameters</p>")]
    overview = site["/docs/reference/"][0]
    assert overview.index("#createAdvice") < overview.index("#createApplication"), "first what the service is for"


def test_lists_of_the_contract_are_lists_and_bounds_are_short(site):
    call = call_of(site, "createAdvice")
    assert re.search(r"<li><code>spark-submit</code>: flags", call) and re.search(r"<li><code>min_cost</code>", call)
    for path, (text, _) in site.items():
        if path.startswith("/docs/reference/"):
            assert not re.search(r"[≥≤] [\d.]*(e-0|e\+|\d0{10}|\d\.0\b)|at least 1 (characters|items)", text), path


def test_the_search_knows_calls_and_words(client):
    index = client.get("/docs/search/search_index.json", token=False).json()
    texts = {location: text for location, _, text, _ in index["docs"]["sections"]}
    assert "reference/advice/#createAdvice" in texts
    assert any("exemption" in text for location, text in texts.items() if location.startswith("glossary/"))


def test_examples_of_replies_that_are_made_up_obey_their_schemas():
    made = reference.Reference(CONTRACT.document)
    checked = 0
    for method, template, operation in CONTRACT.operations():
        for status, reply in operation["responses"].items():
            schema = CONTRACT.resolve(reply).get("content", {}).get("application/json", {}).get("schema")
            if schema is None or not status.startswith("2"):
                continue
            errors = list(CONTRACT.validator(schema).iter_errors(sample(made, schema)))
            assert not errors, "%s %s: %s" % (operation["operationId"], list(errors[0].absolute_path), errors[0].message)
            checked += 1
    assert checked > 40


def test_every_reply_that_is_an_advice_shows_one_of_the_service():
    made = reference.Reference(CONTRACT.document)
    example = CONTRACT.document["components"]["schemas"]["Advice"]["example"]
    for path, method in (("/v1/advice", "post"), ("/v1/advice/{id}", "get"), ("/v1/advice", "get")):
        shown = html.unescape(made.example_reply(CONTRACT.document["paths"][path][method]))
        held = json.loads(re.search(r"<code>(.*)</code>", shown, re.S).group(1))
        assert example in (held, *held.get("items", ())), (path, method)


def test_pages_carry_a_strict_policy_and_a_tag(client, site):
    for path in ("/docs/", "/docs/reference/advice/", "/docs/assets/reference.css"):
        reply = client.get(path, token=False)
        policy = dict(p.strip().split(" ", 1) for p in reply.headers["Content-Security-Policy"].split(";"))
        assert policy["default-src"] == "'none'" and policy["frame-ancestors"] == "'none'"
        assert "unsafe" not in reply.headers["Content-Security-Policy"] and "http" not in reply.headers["Content-Security-Policy"]
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert client.get(path, 304, token=False, headers={"If-None-Match": reply.headers["ETag"]}).content == b""
        head = client.request("HEAD", path, 200, token=False)
        assert head.content == b"" and head.headers["ETag"] == reply.headers["ETag"]


def test_what_a_page_loads_has_its_own_type(site, client):
    kinds = {".css": "text/css", ".js": "text/javascript", ".png": "image/png", ".svg": "image/svg+xml"}
    seen = set()
    for path, (_, page) in site.items():
        for load in {urllib.parse.urljoin(path, l) for l in page.loads} - seen:
            seen.add(load)
            suffix = "." + load.rsplit(".", 1)[1]
            assert client.get(load, token=False).headers["Content-Type"].startswith(kinds[suffix]), load
    assert {"." + s.rsplit(".", 1)[1] for s in seen} == set(kinds)


@pytest.mark.parametrize("encoding,packed", [("gzip", True), ("br, gzip;q=0.5", True), ("*", True), ("gzip;q=0", False),
                                             ("identity", False), ("*;q=0", False), ("GZIP", True), ("gzip ; q=0.0", False)])
def test_documents_are_packed_for_who_can_unpack(service, encoding, packed):
    reply = requests.get(service.base_url + "/docs/", headers={"Accept-Encoding": encoding}, stream=True)
    body = reply.raw.read(decode_content=False)
    assert reply.headers["Vary"] == "Accept-Encoding"
    assert (reply.headers.get("Content-Encoding") == "gzip") == packed == reply.headers["ETag"].endswith('-gzip"')
    assert b"<html" in (gzip.decompress(body) if packed else body)


@pytest.mark.parametrize("path,location", [("/docs", "/docs/"), ("/docs/tour", "/docs/tour/"),
                                           ("/docs/reference/advice", "/docs/reference/advice/")])
def test_a_folder_without_its_slash_leads_to_it(client, path, location):
    assert client.get(path, 308, token=False, allow_redirects=False).headers["Location"] == location


@pytest.mark.parametrize("path", ["/docs/nowhere", "/docs/nowhere/", "/docs/tour/index.htm", "/docs//", "/docs/../openapi.yaml",
                                  "/docs/%2e%2e/openapi.yaml", "/docs/..%2f..%2f..%2fetc%2fpasswd", "/docs/%2e%2e/%2e%2e/etc/passwd",
                                  "/docs//etc/passwd", "/docs/assets", "/docs/assets/", "/docs/tour//index.html", "/docs/.",
                                  "/docs/" + "a/" * 5000])
def test_only_what_the_table_names_is_there(service, path):
    with requests.Session() as session:
        request = requests.Request("GET", service.base_url + "/").prepare()
        request.url = service.base_url + path
        assert session.send(request, allow_redirects=False).status_code == 404, path
