"""A strict reader of Prometheus' text format 0.0.4: what promtool would complain about fails."""
import math
import re

SAMPLE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,(?=.)|$)')


def labels_of(text):
    at, found = 0, {}
    while at < len(text or ""):
        match = LABEL.match(text, at)
        assert match, "labels %s" % text
        assert match.group(1) not in found, text
        found[match.group(1)] = match.group(2)
        at = match.end()
    return found


class Family:
    def __init__(self, name, help_text):
        self.name, self.help, self.type, self.samples = name, help_text, None, {}

    def check(self):
        assert self.type in ("counter", "gauge", "histogram") and self.samples, self.name
        if self.type == "counter":
            assert self.name.endswith("_total") and all(v >= 0 for v in self.samples.values()), self.name
        if self.type == "gauge":
            assert not self.name.endswith("_total"), self.name
        if self.type == "histogram":
            self.check_histogram()

    def check_histogram(self):
        series = {}
        for (name, labels), value in self.samples.items():
            rest = tuple(kv for kv in labels if kv[0] != "le")
            series.setdefault(rest, {})[name[len(self.name):], dict(labels).get("le")] = value
        for labels, parts in series.items():
            buckets = sorted((float(le), v) for (suffix, le), v in parts.items() if suffix == "_bucket")
            assert buckets and buckets[-1][0] == math.inf, "%s %s" % (self.name, labels)
            assert [v for _, v in buckets] == sorted(v for _, v in buckets), "%s %s" % (self.name, labels)
            assert parts["_count", None] == buckets[-1][1] and ("_sum", None) in parts
            assert len(parts) == len(buckets) + 2


def parse(text):
    """{name: Family}; fails where the text breaks a rule of the format."""
    assert text.endswith("\n")
    families, family = {}, None
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name, help_text = line[7:].split(" ", 1)
            assert name not in families, "%s comes twice" % name
            assert help_text.strip() and help_text[0].isupper() and help_text.rstrip().endswith("."), line
            family = families[name] = Family(name, help_text)
        elif line.startswith("# TYPE "):
            name, kind = line[7:].split(" ")
            assert name == family.name and family.type is None and not family.samples, line
            family.type = kind
        else:
            match = SAMPLE.match(line)
            assert match, line
            name, value = match.group(1), float(match.group(3))
            base = re.sub("_(bucket|sum|count)$", "", name) if family.type == "histogram" else name
            assert base == family.name, "%s under %s" % (line, family.name)
            key = name, tuple(labels_of(match.group(2)).items())
            assert key not in family.samples, line
            family.samples[key] = value
    for family in families.values():
        family.check()
    return families
