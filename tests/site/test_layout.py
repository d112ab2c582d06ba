"""Every page of the documentation site, measured in a browser: nothing is cut, no word of code is broken, no page slides sideways."""
import pytest

from conftest import SITE

PAGES = sorted("/docs/" if path.parent == SITE else "/docs/%s/" % path.parent.relative_to(SITE) for path in SITE.rglob("index.html"))
WIDTHS = (1280, 390)

# Of the page as it is shown: words of code in cells that lie on more than one line; blocks of code that are wider than
# their box, or whose text the button to copy covers; how far the page slides sideways.
MEASURE = r"""(() => {
  const words = element => {
    const found = [], walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode())
      for (const word of node.data.matchAll(/\S+/g)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        found.push([word[0], [...range.getClientRects()].filter(box => box.width > 0)]);
      }
    return found;
  };
  const broken = [...document.querySelectorAll("td code, th code")].flatMap(words)
    .filter(([, boxes]) => new Set(boxes.map(box => Math.round(box.top))).size > 1).map(([word]) => word);
  const blocks = [...document.querySelectorAll("article pre > code")].filter(code => code.offsetWidth > 0);
  const cut = blocks.filter(code => code.scrollWidth > code.clientWidth + 1 || code.getBoundingClientRect().right > innerWidth);
  const covered = blocks.filter(code => {
    const button = code.parentElement.querySelector(".md-clipboard");
    if (button === null) return false;
    const there = button.getBoundingClientRect();
    return words(code).some(([, boxes]) => boxes.some(box =>
      box.right > there.left && box.left < there.right && box.bottom > there.top && box.top < there.bottom));
  });
  const begin = code => code.textContent.slice(0, 60);
  return {broken, cut: cut.map(begin), covered: covered.map(begin), blocks: blocks.length,
          sideways: document.documentElement.scrollWidth - innerWidth};
})()"""


@pytest.fixture(scope="module")
def measured(browser, service):
    found = {}
    for width in WIDTHS:
        browser.size(width, 900)
        for page in PAGES:
            browser.open(service.base_url + page)
            found[width, page] = browser.run(MEASURE)
    return found


def test_there_is_something_to_measure(measured):
    assert len(PAGES) > 60 and sum(m["blocks"] for m in measured.values()) > 600


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("fault", ["broken", "cut", "covered"])
def test_code_is_whole(measured, width, fault):
    assert {page: m[fault][:3] for (at, page), m in measured.items() if at == width and m[fault]} == {}


@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_slides_sideways(measured, width):
    assert {page: m["sideways"] for (at, page), m in measured.items() if at == width and m["sideways"] > 0} == {}


def test_the_measure_sees_faults(browser, service):
    """A word that breaks, a line that is cut, a button over text, and a page that is too wide."""
    browser.size(390, 900)
    browser.open(service.base_url + "/docs/configuration/")
    browser.run("""(() => {
      const add = (html, style) => {
        document.querySelector("article").insertAdjacentHTML("afterbegin", html);
        for (const [name, value] of Object.entries(style)) document.querySelector(".bad").style[name] = value;
        document.querySelector(".bad").classList.remove("bad");
      };
      add('<table><tr><td><code class="bad">a-very-long-word</code></td></tr></table>', {display: "block", width: "3em", whiteSpace: "normal", overflowWrap: "anywhere"});
      add('<pre><button class="md-clipboard"></button><code class="bad">' + "x".repeat(200) + "</code></pre>", {whiteSpace: "pre", paddingRight: "0", overflow: "auto"});
      add('<p class="bad">x</p>', {width: "500px"});
    })()""")
    found = browser.run(MEASURE)
    assert found["broken"] and found["cut"] and found["covered"] and found["sideways"] > 0
