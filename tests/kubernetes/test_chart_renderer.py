"""The renderer of the chart: what it makes of each construction, and that it refuses what it does not know."""
import pytest
import yaml

import chart


def render(text, **values):
    nodes, _ = chart.parse(chart.split(text))
    renderer = chart.Renderer(chart.CHART)
    renderer.defined.update({n[1]: n[2] for n in nodes if n[0] == "define"})
    root = {"Values": values}
    return renderer.render(nodes, {".": root, "$": root})


@pytest.mark.parametrize("template,values,result", [
    ("a {{ .Values.x }} b", {"x": 1}, "a 1 b"), ("a \n {{- .Values.x -}} \n b", {"x": "y"}, "ayb"), ("{{ .Values.x | quote }}", {"x": 'a"b'}, '"a\\"b"'),
    ("{{ .Values.x | default \"d\" }}", {"x": ""}, "d"), ("{{ .Values.x }}", {"x": True}, "true"), ("{{/* no\nword */}}x", {}, "x"),
    ("{{ if .Values.x }}a{{ else if eq .Values.y \"2\" }}b{{ else }}c{{ end }}", {"x": "", "y": "2"}, "b"),
    ("{{ if .Values.x }}a{{ else if .Values.y }}b{{ else }}c{{ end }}", {"x": 0, "y": []}, "c"),
    ("{{ if and .Values.x (not .Values.y) }}a{{ end }}", {"x": 1, "y": 0}, "a"), ("{{ if or .Values.x .Values.y }}a{{ end }}", {"x": 0, "y": 0}, ""),
    ("{{ with .Values.x }}{{ .y }}{{ $.Values.z }}{{ end }}", {"x": {"y": 1}, "z": 2}, "12"), ("{{ with .Values.x }}a{{ else }}b{{ end }}", {"x": {}}, "b"),
    ("{{ range .Values.x }}<{{ . }}>{{ end }}", {"x": ["a", "b"]}, "<a><b>"),
    ("{{ range $k, $v := .Values.x }}{{ $k | upper }}={{ $v }};{{ end }}", {"x": {"b": 1, "a": 2}}, "A=2;B=1;"),
    ("x:{{ .Values.x | toYaml | nindent 2 }}", {"x": {"b": [1], "a": {"c": "d"}}}, "x:\n  a:\n    c: d\n  b:\n  - 1"),
    ("{{ define \"t\" }}[{{ .Values.x }}]{{ end }}{{ include \"t\" . | quote }}", {"x": 1}, '"[1]"')])
def test_constructions(template, values, result):
    assert render(template, **values) == result


@pytest.mark.parametrize("template", ["{{ .Values.missing }}", "{{ lookup \"v1\" }}", "{{ if .Values.x }}", "{{ end }}", "{{ .Values.x | tpl }}", "{{ .Values.map }}",
                                      "{{ .Values.large }}", "{{ else }}", "{{ .Values.x % 2 }}"])
def test_what_is_not_known_is_refused(template):
    with pytest.raises((chart.TemplateError, KeyError)):
        render(template, x=1, map={"a": 1}, large=1000000)


def test_values_are_merged_as_helm_does():
    assert chart.merge({"a": {"b": 1, "c": 2}, "d": [1]}, {"a": {"c": None, "e": 3}, "d": [2]}) == {"a": {"b": 1, "e": 3}, "d": [2]}


def test_what_to_yaml_writes_reads_back():
    for value in ({"a": "b: c #d"}, {"a": ["x", {"y": "1"}]}, {}, [], {"on": "off", "n": "1"}, "text", {"long": "w " * 200}):
        assert yaml.safe_load(chart.to_yaml(value)) == value
