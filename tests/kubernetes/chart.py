"""The chart of clients/kubernetes/chart as helm renders it, of the subset of Helm's templates that it uses.

Actions: fields and variables, pipelines, `if`, `with`, `range` (also `$key, $value :=`), `else`, `else if`, `define`, `include`, comments, and the
dashes that trim. Functions: FUNCTIONS below. Anything else is an error, as are fields that are not there: so the chart stays within
what is tested here. Values are merged as helm merges them and held against values.schema.json.
"""
import copy
import json
import pathlib
import re

import jsonschema
import yaml

CHART = pathlib.Path(__file__).resolve().parents[2] / "clients" / "kubernetes" / "chart"
ACTION = re.compile(r"\{\{(-\s)?\s*(.*?)\s*(\s-)?\}\}", re.S)
TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\||\(|\)|:=|,|-?\d+(?:\.\d+)?(?![\w.])|\$?[\w.]*[\w.]|\$)')


class TemplateError(Exception):
    pass


# --- reading ---


def split(text):
    """[("text", s) or ("action", s)], trimmed as the dashes say."""
    parts, at, trim = [], 0, False
    for match in ACTION.finditer(text):
        before = text[at:match.start()]
        if trim:
            before = before.lstrip(" \t\r\n")
        if match[1]:
            before = before.rstrip(" \t\r\n")
        parts += [("text", before), ("action", match[2].strip())]
        at, trim = match.end(), bool(match[3])
    rest = text[at:]
    parts.append(("text", rest.lstrip(" \t\r\n") if trim else rest))
    return parts


def tokens(source):
    found, at = [], 0
    while at < len(source):
        match = TOKEN.match(source, at)
        if not match or match.end() == at:
            raise TemplateError("cannot read %r" % source[at:])
        found.append(match[1])
        at = match.end()
    return found


def parse(parts, ends=()):
    """Nodes up to one of the ends, and that end: (kind, ...)."""
    nodes = []
    while parts:
        kind, text = parts.pop(0)
        if kind == "text":
            nodes.append(("text", text))
            continue
        word = text.split(None, 1)[0] if text else ""
        rest = text[len(word):].strip()
        if text.startswith("/*"):
            continue
        if word in ("end", "else"):
            if word not in ends:
                raise TemplateError("%r has no beginning" % text)
            return nodes, text
        if word in ("if", "with", "range", "define"):
            nodes.append(parse_block(word, rest, parts))
        else:
            nodes.append(("print", tokens(text)))
    if ends:
        raise TemplateError("a block has no end")
    return nodes, None


def parse_block(word, rest, parts):
    body, end = parse(parts, ("end",) if word == "define" else ("end", "else"))
    if word == "define":
        return ("define", json.loads(rest), body)
    otherwise = []
    if end != "end":
        condition = end[len("else"):].strip()
        if condition.startswith("if "):
            otherwise = [parse_block("if", condition[3:], parts)]
        else:
            otherwise, _ = parse(parts, ("end",))
    return (word, tokens(rest), body, otherwise)


# --- functions ---


def text_of(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() or isinstance(value, int):
        if abs(value) >= 1e6:
            raise TemplateError("helm prints %r with an exponent: make it a string" % value)
        return str(int(value))
    if isinstance(value, (dict, list)):
        raise TemplateError("%r is printed as Go prints it: use toYaml" % (value,))
    return str(value)


def quote(value):
    return json.dumps(text_of(value), ensure_ascii=False)


def to_yaml(value):
    return yaml.safe_dump(value, default_flow_style=False, sort_keys=True, width=1 << 20, allow_unicode=True).removesuffix("\n...\n").rstrip("\n")


def indent(n, text):
    return "\n".join(" " * int(n) + line for line in text.split("\n"))


FUNCTIONS = {
    "quote": quote,
    "toYaml": to_yaml,
    "nindent": lambda n, text: "\n" + indent(n, text),
    "default": lambda otherwise, value: value if value else otherwise,
    "eq": lambda a, b: a == b,
    "not": lambda value: not value,
    "and": lambda *values: next((v for v in values if not v), values[-1]),
    "or": lambda *values: next((v for v in values if v), values[-1]),
    "upper": lambda text: text.upper(),
}


# --- carrying out ---


class Renderer:
    def __init__(self, chart):
        self.chart, self.defined = chart, {}

    def field(self, value, path, source):
        for name in [n for n in path.split(".") if n]:
            if not isinstance(value, dict) or name not in value:
                raise TemplateError("%s: there is no %r" % (source, name))
            value = value[name]
        return value

    def operand(self, words, scope):
        word = words.pop(0)
        if word == "(":
            value, depth, inner = None, 1, []
            while depth:
                word = words.pop(0)
                depth += (word == "(") - (word == ")")
                inner.append(word)
            value = self.pipeline(inner[:-1], scope)
            return value
        if word.startswith('"'):
            return json.loads(word)
        if re.fullmatch(r"-?\d+", word):
            return int(word)
        if word in ("true", "false"):
            return word == "true"
        if word.startswith("."):
            return self.field(scope["."], word, word)
        if word.startswith("$"):
            name, _, path = word.partition(".")
            return self.field(scope[name], path, word)
        raise TemplateError("%r is no value" % word)

    def command(self, words, scope, piped):
        name = words[0]
        if name == ".Files.Get":
            arguments = [self.operand([w], scope) for w in words[1:]]
            return (self.chart / arguments[0]).read_text()
        if name == "include" or name in FUNCTIONS:
            rest, arguments = list(words[1:]), []
            while rest:
                arguments.append(self.operand(rest, scope))
            arguments += piped
            if name == "include":
                template, context = arguments
                return self.render(self.defined[template], {".": context, "$": context})
            return FUNCTIONS[name](*arguments)
        rest = list(words)
        value = self.operand(rest, scope)
        if rest or piped:
            raise TemplateError("%r is no function" % name)
        return value

    def pipeline(self, words, scope):
        commands, depth = [[]], 0
        for word in words:
            depth += (word == "(") - (word == ")")
            if word == "|" and depth == 0:
                commands.append([])
            else:
                commands[-1].append(word)
        piped = []
        for command in commands:
            piped = [self.command(command, scope, piped)]
        return piped[0]

    def render(self, nodes, scope):
        return "".join(self.render_node(node, scope) for node in nodes)

    def render_node(self, node, scope):
        kind = node[0]
        if kind == "text":
            return node[1]
        if kind == "print":
            return text_of(self.pipeline(node[1], scope))
        if kind == "define":
            return ""
        _, words, body, otherwise = node
        names = []
        if ":=" in words:
            names = [w for w in words[:words.index(":=")] if w != ","]
            words = words[words.index(":=") + 1:]
        value = self.pipeline(words, scope)
        if not value:
            return self.render(otherwise, scope)
        if kind == "if":
            return self.render(body, scope)
        if kind == "with":
            return self.render(body, {**scope, ".": value})
        pairs = sorted(value.items()) if isinstance(value, dict) else list(enumerate(value))
        return "".join(self.render(body, {**scope, ".": item, **dict(zip(names, (key, item) if len(names) == 2 else (item,)))})
                       for key, item in pairs)


def merge(base, over):
    """Maps member by member; everything else is replaced; null removes."""
    merged = dict(base)
    for key, value in over.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict) and isinstance(merged.get(key), dict):
            merged[key] = merge(merged[key], value)
        else:
            merged[key] = value
    return merged


def values_of(over=None, chart=CHART):
    values = merge(yaml.safe_load((chart / "values.yaml").read_text()), copy.deepcopy(over or {}))
    schema = json.loads((chart / "values.schema.json").read_text())
    jsonschema.validate(values, schema, cls=jsonschema.Draft7Validator)
    return values


def render(over=None, release="provisor", namespace="provisor", chart=CHART):
    """{(kind, name): object} as helm would make them; jsonschema.ValidationError for values that it would refuse."""
    about = yaml.safe_load((chart / "Chart.yaml").read_text())
    root = {"Values": values_of(over, chart), "Release": {"Name": release, "Namespace": namespace},
            "Chart": {"Name": about["name"], "Version": about["version"], "AppVersion": about["appVersion"]}}
    renderer, files = Renderer(chart), {}
    for path in sorted((chart / "templates").iterdir()):
        nodes, _ = parse(split(path.read_text()))
        files[path.name] = nodes
        renderer.defined.update({node[1]: node[2] for node in nodes if node[0] == "define"})
    objects = {}
    for name, nodes in files.items():
        if name.startswith("_"):
            continue
        text = renderer.render(nodes, {".": root, "$": root})
        for document in yaml.safe_load_all(text):
            if document is not None:
                key = (document["kind"], document["metadata"]["name"])
                if key in objects:
                    raise TemplateError("%s twice" % (key,))
                objects[key] = document
    return objects
