"""The part of Argo's templates and expressions that clients/argo uses: tags as docs/variables.md of Argo Workflows has
them, expressions as expr-lang defines them. What is not known here is refused, so that a manifest cannot use it unseen."""
import json
import re

TOKEN = re.compile(r"""\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<string>'[^'\\]*'|"[^"\\]*")|(?P<name>[A-Za-z_]\w*)|(?P<operator>==|!=|&&|\|\||[()\[\],.!]))""")


class Refused(Exception):
    pass


def tokens(text):
    at, made = 0, []
    while text[at:].strip():
        match = TOKEN.match(text, at)
        if not match:
            raise Refused("not understood: %r" % text[at:])
        made.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return made + [("end", "")]


def jsonpath(text, path):
    """$.a.b of a JSON text; what is not there is an error, as in Argo."""
    if not re.fullmatch(r"\$(\.\w+)+", path):
        raise Refused("no path: " + path)
    value = json.loads(text)
    for name in path[2:].split("."):
        if not isinstance(value, dict) or name not in value:
            raise Refused("nothing at %s" % path)
        value = value[name]
    return value


FUNCTIONS = {"toJson": lambda value: json.dumps(value, separators=(",", ":")), "jsonpath": jsonpath, "sprig.set": lambda of, key, value: {**of, key: value}}


class Expression:
    """A parser by precedence: || && comparison (==, !=, in, matches), then what is called and indexed."""

    def __init__(self, text, env):
        self.tokens, self.env, self.at = tokens(text), env, 0

    def value(self):
        made = self.either()
        if self.tokens[self.at][0] != "end":
            raise Refused("not understood: %r" % (self.tokens[self.at:],))
        return made

    def take(self, *texts):
        if self.tokens[self.at][1] in texts and self.tokens[self.at][0] in ("operator", "name"):
            self.at += 1
            return self.tokens[self.at - 1][1]
        return None

    def need(self, text):
        if not self.take(text):
            raise Refused("%r is missing before %r" % (text, self.tokens[self.at]))

    def either(self):
        made = self.both()
        while self.take("||"):
            other = self.both()
            made = made or other
        return made

    def both(self):
        made = self.comparison()
        while self.take("&&"):
            other = self.comparison()
            made = made and other
        return made

    def comparison(self):
        left = self.term()
        operator = self.take("==", "!=", "in", "matches")
        if not operator:
            return left
        right = self.term()
        if operator in ("==", "!="):
            return (type(left) is type(right) and left == right) == (operator == "==")
        return left in right if operator == "in" else re.search(right, left) is not None

    def term(self):
        if self.take("!"):
            return not self.term()
        if self.take("("):
            made = self.either()
            self.need(")")
            return made
        if self.take("["):
            return self.until("]")
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            return float(text) if "." in text else int(text)
        if kind == "string":
            return text[1:-1]
        if kind == "name":
            return self.member(text)
        raise Refused("not understood: %r" % text)

    def until(self, end):
        made = []
        while not self.take(end):
            made.append(self.either())
            if not self.take(","):
                self.need(end)
                break
        return made

    def member(self, path):
        while self.take("."):
            path += "." + self.tokens[self.at][1]
            self.at += 1
        if self.take("("):
            if path not in FUNCTIONS:
                raise Refused("no function %s" % path)
            return FUNCTIONS[path](*self.until(")"))
        if path not in self.env:
            raise Refused("nothing is named %s" % path)
        return self.env[path]


def evaluate(text, env):
    return Expression(text, env).value()


def text_of(value):
    """As Argo writes a result into a text."""
    if value is None or isinstance(value, (dict, list)):
        raise Refused("not a text: %r" % (value,))
    return str(value).lower() if isinstance(value, bool) else str(value)


def substitute(value, env):
    """A manifest with its tags replaced."""
    if isinstance(value, dict):
        return {key: substitute(of, env) for key, of in value.items()}
    if isinstance(value, list):
        return [substitute(of, env) for of in value]
    if not isinstance(value, str):
        return value

    def one(match):
        tag = match[1]
        if tag.startswith("="):
            return text_of(evaluate(tag[1:], env))
        if tag not in env:
            raise Refused("nothing is named %s" % tag)
        return text_of(env[tag])
    return re.sub(r"\{\{(.*?)\}\}", one, value, flags=re.S)


def tags(value):
    """Names that tags of a manifest refer to."""
    text = json.dumps(value)
    found = set()
    for tag in re.findall(r"\{\{(.*?)\}\}", text):
        if tag.startswith("="):
            found |= set(re.findall(r"(?:inputs|workflow|tasks|steps|node)(?:\.\w[\w-]*)+", tag))
        else:
            found.add(tag)
    return found
