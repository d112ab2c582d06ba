"""The contract as Markdown pages: one for each tag, an overview with what all calls share, the problem types.

pages(document, problems) gives {path: text}. A body is shown where it is used, with its nested shapes folded; an
example reply is made from its schema (sample.py). The pages are Markdown with HTML blocks, for docs/site/build.py.
"""
import json
import re
from html import escape

from sample import sample

METHODS = ("post", "put", "get", "patch", "delete")
TITLES = {"copies": "Copy plans", "scheduling": "Scheduling and simulations", "health": "Health and documents", "deadlines": "Deadlines and quotas"}
# Replies that any call may give are explained once, on the overview.
COMMON = ("400", "401", "403", "413", "415", "422", "default")
NESTING_MAX = 7


def inline(text):
    """`code` and **strong**: all the markup inside a paragraph that the contract's descriptions use."""
    safe = escape(" ".join(str(text).split()), quote=False)
    safe = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", safe)
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", safe)


def prose(text):
    """Paragraphs, and lists of lines that begin with a dash."""
    out = ""
    for paragraph in re.split(r"\n\s*\n", str(text or "").strip()):
        lead, *items = re.split(r"(?:^|\n)\s*- ", paragraph)
        out += "<p>%s</p>" % inline(lead) if lead.strip() else ""
        out += "<ul>%s</ul>" % "".join("<li>%s</li>" % inline(i) for i in items) if items else ""
    return out


def described(text):
    """Of a member: one paragraph stands in its line."""
    blocks = prose(text)
    return blocks[3:-4] if blocks.count("<p>") == 1 and blocks.endswith("</p>") else blocks


def bound(value):
    """A bound of the contract as people write it: 1e12, 0.999, 4096."""
    if (0 < abs(value) < 1e-4 or abs(value) >= 1e9) and float("%.0e" % value) == value:
        return re.sub(r"e([-+])0*(\d)", lambda m: "e" + m[1].strip("+") + m[2], "%.0e" % value)
    return str(int(value) if float(value).is_integer() else value)


def anchor_of(tag):
    return tag.replace("_", "-")


class Reference:
    def __init__(self, document):
        self.document = document

    def resolve(self, node):
        """The node behind a $ref, with what stands next to the $ref laid over it; and the name of the shape."""
        name = None
        while isinstance(node, dict) and "$ref" in node:
            target = self.document
            for part in node["$ref"][2:].split("/"):
                target = target[part]
            name = name or node["$ref"].rsplit("/", 1)[1]
            node = dict(target, **{k: v for k, v in node.items() if k != "$ref"})
        if isinstance(node, dict) and len(node.get("allOf", ())) == 1:
            # A shape with a description of its own.
            inner, name = self.resolve(node["allOf"][0])
            node = dict(inner, **{k: v for k, v in node.items() if k != "allOf"})
        return node, name

    def calls(self):
        for path, item in self.document["paths"].items():
            for method in METHODS:
                if method in item:
                    yield method, path, dict(item[method], parameters=[
                        self.resolve(p)[0] for p in item.get("parameters", []) + item[method].get("parameters", [])])

    # --- shapes ---

    def kind(self, schema):
        """A schema in a few words."""
        schema, name = self.resolve(schema)
        if not schema:
            return "any value"
        options = schema.get("oneOf") or schema.get("anyOf")
        if options and "properties" not in schema:
            return " or ".join(dict.fromkeys(self.kind(o) for o in options))
        if "const" in schema:
            return "<code>%s</code>" % escape(json.dumps(schema["const"]))
        types = schema.get("type", "object" if "properties" in schema else "any value")
        types = types if isinstance(types, list) else [types]
        words = []
        for one in types:
            if one == "array":
                inner = self.kind(schema["items"]) if isinstance(schema.get("items"), dict) else "values"
                words.append("list of " + inner)
            elif one == "object" and isinstance(schema.get("additionalProperties"), dict) and "properties" not in schema:
                words.append("map of " + self.kind(schema["additionalProperties"]))
            elif one == "object" and name:
                words.append("object <em>%s</em>" % name)
            else:
                words.append(schema["format"] if one == "string" and schema.get("format") in ("date-time", "uuid") else one)
        return " or ".join(words)

    def facts(self, schema):
        """Bounds, values allowed, default."""
        schema, _ = self.resolve(schema)
        facts = []
        for key, text in (("minimum", "≥ %s"), ("exclusiveMinimum", "&gt; %s"), ("maximum", "≤ %s"),
                          ("exclusiveMaximum", "&lt; %s"), ("minLength", "at least %s characters"),
                          ("maxLength", "at most %s characters"), ("minItems", "at least %s items"),
                          ("maxItems", "at most %s items")):
            if key in schema:
                one = schema[key] == 1 and key.endswith(("Length", "Items"))
                facts.append((text[:-1] if one else text) % bound(schema[key]))
        values = schema.get("enum") or [v for o in schema.get("oneOf", ()) for v in self.resolve(o)[0].get("enum", ())]
        if values:
            facts.append("one of " + ", ".join("<code>%s</code>" % escape(json.dumps(v).strip('"')) for v in values))
        if "default" in schema:
            facts.append("default <code>%s</code>" % escape(json.dumps(schema["default"]).strip('"')))
        return facts

    def nested(self, schema):
        """[(title or None, object schema)]: the objects inside a value of this schema that are worth unfolding."""
        schema, name = self.resolve(schema)
        if "properties" in schema:
            return [(None, schema, name)]
        options = schema.get("oneOf") or schema.get("anyOf") or ()
        found = [(self.kind(option),) + inner[1:] for option in options for inner in self.nested(option)]
        if len(found) == 1:
            found = [(None,) + found[0][1:]]
        for key in ("items", "additionalProperties", "contentSchema"):
            if isinstance(schema.get(key), dict):
                found += self.nested(schema[key])
        return found

    def members(self, schema, above=()):
        """An object's members as a list, nested objects folded below the member that holds them."""
        rows = []
        required = schema.get("required", ())
        for name, inner in schema.get("properties", {}).items():
            resolved, _ = self.resolve(inner)
            facts = self.facts(inner)
            row = '<dt><code>%s</code> <span class="pv-kind">%s</span>%s</dt>' % (
                escape(name), self.kind(inner), ' <span class="pv-required">required</span>' if name in required else "")
            body = described(resolved.get("description", ""))
            if facts:
                body += ' <span class="pv-facts">%s</span>' % ", ".join(facts)
            for title, part, part_name in self.nested(inner):
                if part_name in above or len(above) >= NESTING_MAX:
                    body += '<p class="pv-again">members as in the enclosing <em>%s</em></p>' % part_name
                    continue
                body += "<details class=\"pv-nested\"><summary>%s</summary>%s</details>" % (
                    title or "members of <code>%s</code>" % escape(name), self.members(part, above + (part_name,)))
            rows.append('<div>%s<dd>%s</dd></div>' % (row, body))
        return '<dl class="pv-members">%s</dl>' % "".join(rows)

    def body(self, schema):
        """A body where it is used: its kind, facts and members."""
        resolved, name = self.resolve(schema)
        text = '<p class="pv-body"><span class="pv-kind">%s</span>%s</p>' % (
            self.kind(schema), "".join(" " + f for f in self.facts(schema)))
        text += prose(resolved.get("description"))
        for title, part, part_name in self.nested(schema):
            if title:
                text += '<p class="pv-option">%s</p>' % title
            text += self.members(part, (part_name,))
        return text

    # --- one call ---

    def parameters(self, operation):
        if not operation["parameters"]:
            return ""
        rows = []
        for p in operation["parameters"]:
            facts = self.facts(p.get("schema", {}))
            rows.append('<div><dt><code>%s</code> <span class="pv-kind">%s, %s</span>%s</dt><dd>%s%s</dd></div>' % (
                escape(p["name"]), p["in"], self.kind(p.get("schema", {})),
                ' <span class="pv-required">required</span>' if p.get("required") else "", described(p.get("description", "")),
                ' <span class="pv-facts">%s</span>' % ", ".join(facts) if facts else ""))
        return '<p class="pv-head">Parameters</p><dl class="pv-members">%s</dl>' % "".join(rows)

    def curl(self, method, path, operation, media, example):
        url = re.sub(r"\{(\w+)\}", lambda m: {"name": "nightly-etl", "id": "$ID", "delivery_id": "$DELIVERY_ID", "path": "tour/"}[m[1]], path)
        words = ["curl -sS"]
        if operation["security"]:
            words.append('-H "Authorization: Bearer $TOKEN"')
        if method != "get":
            words.append("-X " + method.upper())
        if media == "application/json":
            words.append("-H 'Content-Type: application/json'")
            words.append('"$URL%s"' % url)
            words.append("-d '%s'" % json.dumps(example, indent=2, ensure_ascii=False).replace("'", "'\\''"))
        elif media:
            words += ["-H 'Content-Type: %s'" % media, '"$URL%s"' % url, "--data-binary @FILE"]
        else:
            words.append('"$URL%s"' % url)
        text, line = "", ""
        for word in words:
            if line and (len(line) + len(word) > 90 or word.startswith("-d")):
                text += line + " \\\n"
                line = "  " + word
            else:
                line += (" " if line else "") + word
        return text + line

    def request(self, operation):
        out = ""
        for media, holder in operation.get("requestBody", {}).get("content", {}).items():
            schema = holder.get("schema", {})
            out += '<p class="pv-head">Body <code>%s</code></p>%s' % (escape(media), self.body(schema) if schema else "")
        return out

    def examples(self, method, path, operation):
        """The call as a command, and what it replies: before the lists of members, for that is what people try first."""
        content = operation.get("requestBody", {}).get("content", {})
        out = ""
        media = next(iter(content), None)
        examples = {k: v["value"] for k, v in content.get(media, {}).get("examples", {}).items()} if media else {}
        if media == "application/json" and not examples:
            examples = {"": sample(self, content[media]["schema"])}
        shown = list(examples.items()) if media == "application/json" else [("", None)]
        for i, (name, example) in enumerate(shown):
            title = "Example" if len(shown) == 1 else "Example: %s" % name.replace("_", " ")
            out += "<details%s><summary>%s</summary><pre><code>%s</code></pre></details>" % (
                " open" if i == 0 else "", title, escape(self.curl(method, path, operation, media, example), quote=False))
        return out + self.example_reply(operation)

    def example_reply(self, operation):
        """The last reply of success that has a body of JSON: of a call that stores, what is stored."""
        holders = [self.resolve(reply)[0].get("content", {}).get("application/json")
                   for status, reply in operation["responses"].items() if status.startswith("2")]
        holder = next((h for h in reversed(holders) if h and self.nested(h.get("schema", {}))), None)
        if holder is None:
            return ""
        shown = next((v["value"] for v in holder.get("examples", {}).values()), holder.get("example"))
        shown = sample(self, holder["schema"]) if shown is None else shown
        return "<details><summary>Example of a reply</summary><pre><code>%s</code></pre></details>" % escape(
            json.dumps(shown, indent=2, ensure_ascii=False), quote=False)

    def replies(self, operation):
        out, others = "", []
        for status, reply in operation["responses"].items():
            reply, _ = self.resolve(reply)
            if status in COMMON:
                continue
            if not status.startswith("2"):
                others.append((status, reply))
                continue
            out += '<p class="pv-head">Reply %s</p>%s' % (status, prose(reply["description"]))
            for media, holder in reply.get("content", {}).items():
                schema = holder.get("schema", {})
                if media != "application/json":
                    out += '<p class="pv-body"><code>%s</code></p>' % escape(media)
                if not self.nested(schema):
                    continue
                out += "<details><summary>Members</summary>%s</details>" % self.body(schema)
        if others:
            out += '<p class="pv-head">Other replies of this call</p><dl class="pv-members">%s</dl>' % "".join(
                "<div><dt><code>%s</code></dt><dd>%s</dd></div>" % (s, inline(r["description"])) for s, r in others)
        return out

    def call(self, method, path, operation):
        scopes = [s for need in operation["security"] for s in need["bearer"]]
        head = '<p class="pv-call"><span class="pv-method pv-%s">%s</span> <code>%s</code> <span class="pv-kind">%s</span></p>' % (
            method, method.upper(), escape(path).replace("/", "/<wbr>"),
            "scope <code>%s</code>" % scopes[0] if scopes else "no token")
        block = head + prose(operation.get("description")) + self.examples(method, path, operation) + \
            self.parameters(operation) + self.request(operation) + self.replies(operation)
        return "## %s { #%s }\n\n%s\n" % (operation["summary"].rstrip("."), operation["operationId"], as_block(block))


    # --- events that the service sends ---

    def events(self):
        """Each with its examples and what it may hold, as text for the page of its tag."""
        out = ["## Events { #events }\n", "What the service sends to webhooks, with `POST`.\n"]
        for name, item in self.document.get("webhooks", {}).items():
            operation = item["post"]
            block = prose(operation["summary"].rstrip(".") + ". " + operation.get("description", ""))
            content = operation["requestBody"]["content"]
            for example in content["application/json"].get("examples", {}).values():
                block += "<pre><code>%s</code></pre>" % escape(json.dumps(example["value"], indent=2, ensure_ascii=False), quote=False)
            standard = content["application/json"]["schema"]["anyOf"][0]
            block += "<details><summary>Members</summary>%s</details>" % self.body(standard)
            out.append("### %s { #%s }\n\n%s" % (name, operation["operationId"], as_block(block)))
        first = self.resolve(next(iter(self.document["webhooks"].values()))["post"])[0]
        shared = self.parameters(dict(first, parameters=[self.resolve(p)[0] for p in first["parameters"]])) + self.replies(first)
        forms = "".join('<details><summary><code>%s</code></summary>%s</details>' % (name, self.body({"$ref": "#/components/schemas/" + name}))
                        for name in ("CloudEvent", "EventText"))
        out.append("### Of every event { #every-event }\n\n" + as_block(shared + '<p class="pv-head">Other formats</p>' + forms))
        return "\n".join(out)


def as_block(html):
    """HTML that Markdown passes through as it is: no blank line inside, one block."""
    return '<div class="pv">' + html.replace("\n\n", "\n&#10;") + "</div>\n"


def title_of(tag):
    return TITLES.get(tag, tag.capitalize())


def overview(reference, tags):
    info = reference.document["info"]
    out = ["# API reference\n", "Version %s of the contract. For programs: [/openapi.yaml](/openapi.yaml), [/openapi.json](/openapi.json)."
           " [Versions and compatibility](../compatibility.md) says what may change.\n" % info["version"],
           info["description"].strip() + "\n", "## All calls { #calls }\n"]
    for tag in tags:
        out.append("**[%s](%s.md)**: %s\n" % (title_of(tag["name"]), anchor_of(tag["name"]), tag["description"]))
        for method, path, operation in reference.calls():
            if operation["tags"][0] == tag["name"]:
                out.append("- [`%s %s`](%s.md#%s) %s" % (method.upper(), path, anchor_of(tag["name"]), operation["operationId"],
                                                        operation["summary"].rstrip(".")))
        out.append("")
    out.append("## Replies common to all calls { #errors }\n\nThe body of a refusal is `application/problem+json`; its `type` leads to"
               " [what it means](problems.md).\n")
    seen = {}
    for _, _, operation in reference.calls():
        for status in COMMON:
            if status in operation["responses"]:
                seen.setdefault(status, reference.resolve(operation["responses"][status])[0])
    rows = "".join("<div><dt><code>%s</code></dt><dd>%s</dd></div>" % (s, inline(seen[s]["description"])) for s in COMMON if s in seen)
    out.append(as_block('<dl class="pv-members">%s</dl>' % rows))
    problem = next(iter(seen["422"]["content"].values()))["schema"]
    out.append("### Problem details { #problem }\n\n" + as_block(reference.body(problem)))
    return "\n".join(out)


def problem_table(problems):
    rows = ["| type | status | what to do |", "|---|---|---|"]
    rows += ["| [`%s`](reference/problems.md#problem-%s) | %s | %s |" % (name, name, problem["status"], problem["advice"])
             for name, problem in problems.items()]
    return "\n".join(rows)


def problem_page(problems):
    out = ["# Problem types\n", "The member `type` of problem details is `/problems/<name>`, which leads to this page.\n"]
    for name, problem in problems.items():
        out.append("## %s (%s) { #problem-%s }\n\nStatus %s. %s\n\n%s\n" % (
            name, problem["status"], name, problem["status"], problem["meaning"], problem["advice"]))
    return "\n".join(out)


def pages(document, problems):
    reference = Reference(document)
    result = {"reference/index.md": overview(reference, document["tags"]), "reference/problems.md": problem_page(problems)}
    for tag in document["tags"]:
        calls = [reference.call(*c) for c in reference.calls() if c[2]["tags"][0] == tag["name"]]
        if calls:
            if any(item["post"]["tags"][0] == tag["name"] for item in document.get("webhooks", {}).values()):
                calls.append(reference.events())
            result["reference/%s.md" % anchor_of(tag["name"])] = "# %s\n\n%s\n\nReplies that any call may give are on the" \
                " [overview](index.md#errors).\n\n%s" % (title_of(tag["name"]), tag["description"], "\n".join(calls))
    return result
