"""JUnit as Jenkins and GitLab read it: the elements and attributes of Jenkins' schema, which of them a gate uses, and sums that
agree. An unknown element or attribute is a fault."""
import xml.etree.ElementTree

# element: (attributes it has to have, those it may have, elements inside)
FORMAT = {
    "testsuites": (set(), {"name", "tests", "failures", "errors", "skipped", "time", "disabled"}, {"testsuite"}),
    "testsuite": ({"name", "tests"}, {"failures", "errors", "skipped", "time", "timestamp", "hostname", "id", "package", "file"},
                  {"properties", "testcase", "system-out", "system-err"}),
    "testcase": ({"name", "classname"}, {"time", "assertions", "status", "file", "line"}, {"skipped", "error", "failure", "system-out", "system-err"}),
    "failure": (set(), {"type", "message"}, set()),
    "error": (set(), {"type", "message"}, set()),
    "skipped": (set(), {"message"}, set()),
    "system-out": (set(), set(), set()),
}


def check(element):
    needed, allowed, inside = FORMAT[element.tag]
    assert needed <= set(element.keys()) <= needed | allowed, element.attrib
    assert {child.tag for child in element} <= inside, element.tag
    assert element.tag in ("failure", "error", "system-out") or not (element.text or "").strip(), "text in " + element.tag
    if element.tag == "testcase":
        assert len([child for child in element if child.tag in ("failure", "error", "skipped")]) <= 1
    if element.tag == "testsuite":
        for count, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(element.get(count, 0)) == len(element.findall("testcase/" + tag)), count
        assert int(element.get("tests")) == len(element.findall("testcase"))
    for child in element:
        check(child)


def results(path):
    """name: "passed", "failure", "error" or "skipped" of each test case of a file that is valid."""
    root = xml.etree.ElementTree.parse(path).getroot()
    assert root.tag == "testsuites"
    check(root)
    kinds = ("failure", "error", "skipped")
    return {case.get("name"): next((child.tag for child in case if child.tag in kinds), "passed") for case in root.iter("testcase")}
