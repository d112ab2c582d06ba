#!/usr/bin/python3
"""Write the modules that follow from the contract: provisor/schemas, provisor/requests, provisor/calls.

    generate.py [DIRECTORY]      the package's directory, default src/provisor beside this folder

Nothing of it is kept in the repository. setup.py calls this for a wheel and for a source distribution; whoever works on
the package calls it once (git ignores the result).

    schemas    a dataclass for each object of a reply
    requests   a TypedDict for each object of a request
    calls      a method for each row of methods.py that is not written by hand, and CALLS: what each call is
Each is a module a topic, as openapi/schemas and the tags have them.
"""
from __future__ import annotations

import pathlib
import re
import sys
from typing import Callable

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from calls import Calls  # noqa: E402
from contract import Contract, camel  # noqa: E402
from shapes import Types, hand_written  # noqa: E402

TYPING = "TYPE_CHECKING Any ClassVar Dict FrozenSet Iterable List Literal Mapping Optional Sequence TypedDict Union".split()


def used(names: list[str], text: str) -> list[str]:
    code = re.sub(r'""".*?"""', "", text, flags=re.S)
    return [name for name in names if re.search(r"(?<![\w.])%s\b" % name, code)]


def module(about: str, body: str, local: str = "", checking: str = "") -> str:
    """A file: its docstring, what it imports, its body. local: imports from the package; checking: those that are needed for types only."""
    if checking:
        checking = "\nif TYPE_CHECKING:\n" + checking
    text = '"""%s. Written from the contract by clients/python/tools/generate.py."""\nfrom __future__ import annotations\n\n' % about
    text += "".join("import %s\n" % name for name in used(["dataclasses", "datetime"], body))
    names = used(TYPING, body + checking)
    text += "from typing import %s\n" % ", ".join(names) if names else ""
    return text + ("\n" + local if local else "") + checking + "\n\n" + body


def named(text: str, place: Callable[[str, str], str]) -> str:
    """With the marks of classes replaced by what place(mark, name) says: "«" of replies, "‹" of requests."""
    return re.sub(r"([«‹])(\w+)[»›]", lambda match: place(match[1], match[2]), text)


def class_modules(types: Types, about: str) -> dict[str, str]:
    """{topic: text of the module}. Classes of other topics are imported for type checkers only."""
    written, files = hand_written(), {}
    for topic in sorted({made.topic for made in types.made.values()}):
        others: set[str] = set()

        def place(mark: str, name: str, topic: str = topic, others: set[str] = others) -> str:
            if mark == "«" and name in written:
                others.add("from .. import results")
                return "results." + name
            there = types.made[name].topic
            if there == topic:
                return name
            others.add("from . import " + there)
            return "%s.%s" % (there, name)

        body = "\n\n".join(named(types.texts[name], place) for name, made in types.made.items() if made.topic == topic)
        names = used(["Convert", "Record", "any_of", "instant", "many", "mapped", "one"], body)
        checking = "".join("    %s\n" % line for line in sorted(others))
        files[topic] = module("%s: %s" % (about, topic), body, "from ..record import %s\n" % ", ".join(names) if names else "", checking)
    return files


def by_topic(types: Types) -> list[tuple[str, list[str]]]:
    topics = sorted({made.topic for made in types.made.values()})
    return [(topic, sorted(n for n, made in types.made.items() if made.topic == topic)) for topic in topics]


def schemas_init(types: Types) -> str:
    imported = "".join("    from .%s import (\n%s    )\n" % (topic, "".join("        %s as %s,\n" % (n, n) for n in names))
                       for topic, names in by_topic(types))
    body = "# Where each is: a module is read when something of it is needed.\nTOPICS: Dict[str, str] = {\n"
    body += "".join('    "%s": "%s",\n' % (name, made.topic) for name, made in sorted(types.made.items())) + "}\n\n\n"
    body += '''if not TYPE_CHECKING:

    def __getattr__(name):
        if name not in TOPICS:
            raise AttributeError("provisor.schemas has no %s" % name)
        from importlib import import_module
        return getattr(import_module("." + TOPICS[name], __name__), name)
'''
    return module("Objects of replies", body, checking=imported)


def requests_init(types: Types) -> str:
    return module("Objects of requests", "".join("from .%s import (\n%s)\n" % (topic, "".join("    %s as %s,\n" % (n, n) for n in names))
                                                 for topic, names in by_topic(types)))


def calls_modules(calls: Calls) -> dict[str, str]:
    written, files, classes = hand_written(), {}, []
    for topic, texts in sorted(calls.methods.items()):
        needed: set[str] = set()

        def place(mark: str, name: str, needed: set[str] = needed) -> str:
            there = "requests" if mark == "‹" else "results" if name in written else "schemas"
            needed.add(there)
            return "%s.%s" % (there, name)

        body = 'class %sCalls(Caller):\n    """Calls of the topic %s."""\n\n' % (camel(topic), topic) + named("\n".join(texts), place)
        checking = "    from .. import %s\n" % ", ".join(sorted(needed)) if needed else ""
        checking += "    from ..record import Record\n" if used(["Record"], body) else ""
        encode = used(["UNSET", "Unset", "given"], body)
        local = "from ..caller import Caller\n" + ("from ..encode import %s\n" % ", ".join(encode) if encode else "")
        local += ("from ..pages import Pages\n" if used(["Pages"], body) else "") + "from .table import CALLS\n"
        files[topic] = module("Calls: " + topic, body, local, checking)
        classes.append((topic, camel(topic) + "Calls"))
    rows = "".join('    "%s": %s,\n' % pair for pair in calls.described.items())
    files["table"] = module("What each call is", "CALLS: Dict[str, Call] = {\n%s}\n" % rows, "from ..caller import Call\n")
    body = "class Calls(\n%s):\n    \"\"\"All of them.\"\"\"\n" % "".join("    %s,\n" % name for _, name in classes)
    local = "".join("from .%s import %s\n" % pair for pair in classes) + "from .table import CALLS as CALLS\n"
    files["__init__"] = module("The calls of the contract", body, local)
    return files


def generate(package: pathlib.Path) -> None:
    calls = Calls(Contract())
    folders = {
        "schemas": {"__init__": schemas_init(calls.records), **class_modules(calls.records, "Objects of replies")},
        "requests": {"__init__": requests_init(calls.requests), **class_modules(calls.requests, "Objects of requests")},
        "calls": calls_modules(calls),
    }
    for folder, files in folders.items():
        directory = package / folder
        directory.mkdir(parents=True, exist_ok=True)
        for old in directory.glob("*.py"):
            old.unlink()
        for name, text in files.items():
            (directory / (name + ".py")).write_text(text)


if __name__ == "__main__":
    generate(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "src" / "provisor")
