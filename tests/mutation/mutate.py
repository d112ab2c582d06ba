"""Would the tests notice? Change one place of a source at a time, build, and run the tests of its room.

    tests/mutation/mutate.py [--per-file N] [--seed S] [--least PERCENT] FILE...

FILEs outside the rooms below are passed over. The work is done on a copy of the tree in build-mutation, so the checkout
itself stays unchanged. A mutant is noticed if a test program of its room fails, or takes ten times as long as without
the mutation. A mutant does not count if it does not compile, has the same object code as the original, moves a bound
between doubles, or is listed in tests/mutation/equivalent.txt. The status is 1 if fewer than PERCENT of a room's
mutants are noticed.
"""
import argparse
import collections
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "build-mutation"

# Tests that repeat an estimate until its statistics show, as in tests/unit/meson.build: of no use here.
LEFT_OUT_TESTS = {"unit/test_core_scaling": "!(scaling_bootstrap/intervals_*)"}

# The test programs of a room, fastest first; the sources of each room are mutated and no others.
ROOMS = {
    "service/core/advice": ["unit/test_core_advice", "unit/test_core_history"],
    "service/core/scaling": ["unit/test_core_scaling", "unit/test_core_history", "unit/test_core_advice", "golden/test_usba", "golden/test_ipso"],
    "service/core/spark": ["unit/test_core_spark", "unit/test_core_advice"],
    "service/core/deadline": ["unit/test_core_deadline", "unit/test_core_advice", "golden/test_xspark_edf", "golden/test_xspark_plans"],
}

# A kind of change: its name, what is found, what it becomes (one or several choices).
KINDS = [
    ("bound", r"(?<![<>=\-!+*/&|])<=(?!=)", ["<"]),
    ("bound", r"(?<![<>=\-!+*/&|])>=(?!=)", [">"]),
    ("bound", r"(?<=\s)<(?=\s)", ["<="]),
    ("bound", r"(?<=\s)>(?=\s)", [">="]),
    ("comparison", r"(?<=\s)==(?=\s)", ["!="]),
    ("comparison", r"(?<=\s)!=(?=\s)", ["=="]),
    ("direction", r"(?<=\s)<=?(?=\s)", [">"]),
    ("direction", r"(?<=\s)>=?(?=\s)", ["<"]),
    ("logic", r"(?<=\s)&&(?=\s)", ["||"]),
    ("logic", r"(?<=\s)\|\|(?=\s)", ["&&"]),
    ("arithmetic", r"(?<=\s)\+(?=\s)", ["-"]),
    ("arithmetic", r"(?<=\s)-(?=\s)", ["+"]),
    ("arithmetic", r"(?<=\s)\*(?=\s)", ["/"]),
    ("arithmetic", r"(?<=\s)/(?=\s)", ["*"]),
    ("arithmetic", r"(?<=\s)\+=(?=\s)", ["-="]),
    ("extreme", r"\bfmin\(", ["fmax("]),
    ("extreme", r"\bfmax\(", ["fmin("]),
    ("constant", r"(?<![\w.])\d+\.\d+(?![\w.])", ["*2", "0.0"]),
    ("condition", r"\bif \((?=[^()]*(?:\([^()]*\)[^()]*)*\)\s*$)", ["if (!(%s)"]),
    ("statement", r"^\s+(?:return (?:true|false|PV_OK|0);|[\w.>\-\[\]]+ [-+*]?= [^;]+;)$", [";"]),
]
# About as many are tried where nobody says how many for each file: a quarter of an hour.
MUTANTS_MOST = 120

# Lines that only handle a failed allocation, assertions, declarations and labels.
LEFT_OUT = re.compile(r"\bassert\(|no_memory|PV_E_MEMORY|== NULL|!= NULL|^\s*(?:\*|/\*|//|#|case |enum |struct |static (?:const|inline))|^\S|arena_mark|arena_rewind")
COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)

# probe: the line with % for the operator of a bound; it does not compile if an operand is a double.
Mutant = collections.namedtuple("Mutant", "line kind before after start end text probe")


def blank(match):
    return re.sub(r"[^\n]", "\x01", match.group())


def whole_condition(line):
    """A condition `if (...)` that ends its line, negated."""
    at = line.index("if (") + 4
    end = line.rstrip().rstrip("{").rstrip()
    return line[:at] + "!(" + end[at:-1] + "))" + line[len(end):]


def mutants_of(source):
    """Every mutant of a source text, in order."""
    plain = COMMENT_OR_TEXT.sub(blank, source)
    out, offset = [], 0
    lines = source.split("\n")
    for number, (line, bare) in enumerate(zip(lines, plain.split("\n")), 1):
        if not LEFT_OUT.search(line):
            for kind, pattern, choices in KINDS:
                for found in re.finditer(pattern, bare):
                    for choice in choices:
                        after = mutate_line(line, kind, found, choice)
                        if after is None or after == line or (kind == "bound" and is_same_at_equality(lines, number)):
                            continue
                        probe = mutate_line(line, kind, found, "%") if needs_probe(kind, line, found) else None
                        out.append(Mutant(number, kind, line.strip(), after.strip(), offset, offset + len(line), after, probe))
        offset += len(line) + 1
    return out


def is_same_at_equality(lines, number):
    """`if (a > b)` and then `a = b;`, or `return a < b;` behind `if (a != b)`: where both are equal, < and <= do the same."""
    line, before = lines[number - 1], lines[number - 2] if number > 1 else ""
    clamp = re.fullmatch(r"\s*(?:else )?if \(([^()]+?) [<>]=? ([^()]+?)\)", line)
    order = re.fullmatch(r"\s*return (.+?) [<>]=? (.+?)(?: \? .*)?;", line)
    then = lines[number].strip() if number < len(lines) else ""
    if clamp:
        return then in ("%s = %s;" % clamp.groups(), "%s = %s;" % clamp.groups()[::-1])
    return bool(order) and any("%s != %s" % sides in before for sides in (order.groups(), order.groups()[::-1]))


def needs_probe(kind, line, found):
    """A bound other than 0: of doubles, it moves only what is exactly equal."""
    return kind == "bound" and not re.match(r"\s*0(?:\.0)?\b(?!\.)", line[found.end():])


def mutate_line(line, kind, found, choice):
    start, end = found.span()
    if kind == "bound" and re.search(r"[<>]=? [^?]* \? ", line):
        return None  # `a < b ? a : b` is the same where both are equal
    if kind == "bound" and re.search(r"\(.+ > .+\) - \(.+ < .+\)", line):
        return None  # of a comparison of items for qsort, which differ
    if kind == "bound" and re.match(r"\s*(?:for \(.*;.*\+(?:\+|= \w+)\)|while \(\*?\w+ < )", line):
        return None  # one round more reads behind the end, which sanitizers see and values need not
    if kind == "arithmetic" and re.match(r"\s*(?:\(1 [-+] )?1e-(?:9|1\d)\b", line[found.end():]):
        return None  # an allowance for rounding: it moves a bound between doubles
    if kind == "condition":
        return whole_condition(line) if line.rstrip().rstrip("{").rstrip().endswith(")") else None
    if kind == "statement":
        if re.match(r"\s+(?:const |double |size_t |bool |int64_t |enum |struct )", line):
            return None
        return line[: len(line) - len(line.lstrip())] + ";"
    if kind == "constant":
        value = float(found.group())
        choice = ("%r" % (2 * value)) if choice == "*2" else choice
        return None if float(choice) == value else line[:start] + choice + line[end:]
    return line[:start] + choice + line[end:]


def drawn(mutants, n, rng):
    """At most n mutants, at most one a line, kinds drawn evenly."""
    by_kind = collections.defaultdict(list)
    for mutant in mutants:
        by_kind[mutant.kind].append(mutant)
    for group in by_kind.values():
        rng.shuffle(group)
    chosen, lines = [], set()
    while by_kind and len(chosen) < n:
        for kind in rng.sample(sorted(by_kind), len(by_kind)):
            while by_kind[kind] and by_kind[kind][-1].line in lines:
                by_kind[kind].pop()
            if not by_kind[kind]:
                del by_kind[kind]
            elif len(chosen) < n:
                chosen.append(by_kind[kind].pop())
                lines.add(chosen[-1].line)
    return sorted(chosen, key=lambda m: (m.line, m.text))


class Tree:
    """A copy of the checkout with a build of its own."""

    def __init__(self):
        self.source = WORK / "tree"
        self.build = WORK / "build"
        self.seconds = {}
        names = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True,
                               capture_output=True).stdout.decode().split("\0")
        self.source.mkdir(parents=True, exist_ok=True)
        for name in filter(None, names):
            old, new = ROOT / name, self.source / name
            if old.is_file() and not (new.is_file() and new.read_bytes() == old.read_bytes()):
                new.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(old, new)
        wanted = set(filter(None, names))
        for path in list(self.source.rglob("*.[ch]")):
            if str(path.relative_to(self.source)) not in wanted:
                path.unlink()
        if not (self.build / "build.ninja").is_file():
            env = dict(os.environ, CC="ccache gcc" if shutil.which("ccache") else "gcc", PATH="/usr/bin:/bin:" + os.environ["PATH"])
            subprocess.run(["meson", "setup", self.build, self.source, "-Dbuildtype=plain", "-Doptimization=1", "-Dcli=enabled",
                            "-Dsite=disabled", "-Dc_args=-DROUNDS_SHARE=4 -Werror=type-limits"], check=True, env=env, capture_output=True)

    def make(self, targets):
        return subprocess.run(["ninja", "-C", self.build, *targets], capture_output=True).returncode == 0

    @staticmethod
    def object_name(path):
        return "service/core/libcore.a.p/" + str(path.relative_to("service/core")).replace("/", "_") + ".o"

    def object_code(self, path):
        return (self.build / self.object_name(path)).read_bytes()

    def compiles(self, path):
        words = ["gcc", "-std=c17", "-D_POSIX_C_SOURCE=200809L", "-w", "-fsyntax-only", "-I", "service", path]
        return subprocess.run(words, cwd=self.source, capture_output=True).returncode == 0

    def suites(self, path):
        """The Criterion suites of the test files that are named after the module, or include its header."""
        module, own, others = path.stem, [], []
        header = '"%s"' % path.relative_to("service").with_suffix(".h")
        for test in sorted((self.source / "tests/unit/core").glob("*/test_*.c")):
            text = test.read_text()
            group = own if test.stem.endswith("_" + module) else others if header in text else []
            group += re.findall(r"^Test\((\w+),", text, re.M)[:1]
        return own + others

    def passes(self, program, suites=None):
        """Whether a test program passes, or its suites of these names."""
        words = [self.build / "tests" / program]
        words += ["--tap", "--jobs=2", "--fail-fast"] if program.startswith("unit/") else []
        chosen = "@(%s)/*" % "|".join(suites) if suites else LEFT_OUT_TESTS.get(program)
        words += ["--filter", chosen] if chosen else []
        env = dict(os.environ, PROVISOR_SHARED=os.environ.get("PROVISOR_SHARED", str(ROOT.parent / "shared")))
        began = time.monotonic()
        bound = 10 * self.seconds[program] + 20 if program in self.seconds else 900
        try:
            result = subprocess.run(words, capture_output=True, env=env, timeout=bound, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return False
        if suites is None:
            self.seconds.setdefault(program, time.monotonic() - began)
        # 77: a golden program without the shared data skips.
        return result.returncode in (0, 77) and b"\nnot ok" not in result.stdout


def judge(tree, path, mutant, original, room, code):
    """'compiler', 'equivalent', or the program that noticed, or '' if the mutant survived."""
    def write(text):
        (tree.source / path).write_text(original[: mutant.start] + text + original[mutant.end:])

    if mutant.probe is not None:
        write(mutant.probe)
        if not tree.compiles(path):
            return "equivalent"
    write(mutant.text)
    if not tree.make([tree.object_name(path)]):
        return "compiler"
    if tree.object_code(path) == code:
        return "equivalent"
    suites = tree.suites(path)
    for program in ROOMS[room]:
        if not tree.make(["tests/" + program]):
            return "compiler"
        if program == ROOMS[room][0] and suites and not tree.passes(program, suites):
            return program
        if not tree.passes(program):
            return program
    return ""


def equivalents():
    """(file, line, the line changed) of tests/mutation/equivalent.txt."""
    lines = (ROOT / "tests" / "mutation" / "equivalent.txt").read_text().splitlines()
    rows = [re.split(r" \| ", line) for line in lines if line and not line.startswith("#")]
    return {tuple(text.replace("\\|", "|") for text in row[:3]) for row in rows}


def room_of(path):
    return next((room for room in ROOMS if str(path).startswith(room + "/")), None)


def mutate_file(tree, path, options, scores):
    room = room_of(path)
    original = (ROOT / path).read_text()
    rng = random.Random("%s %d" % (path, options.seed))
    if not tree.make(["tests/" + program for program in ROOMS[room]]):
        sys.exit("the tree does not build without a mutation")
    for program in ROOMS[room]:
        if program not in tree.seconds and not tree.passes(program):
            sys.exit("%s fails without a mutation" % program)
    code = tree.object_code(path)
    known = equivalents()
    mutants = [m for m in mutants_of(original) if (str(path), m.before, m.after) not in known]
    for mutant in drawn(mutants, options.per_file, rng):
        try:
            result = judge(tree, path, mutant, original, room, code)
        finally:
            (tree.source / path).write_text(original)
        if result in ("compiler", "equivalent"):
            continue
        scores[room][0] += bool(result)
        scores[room][1] += 1
        if not result:
            print("survived: %s:%d: %s  ->  %s" % (path, mutant.line, mutant.before, mutant.after), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--per-file", type=int, help="default: 6, or fewer if the files are many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--least", type=float, default=85)
    options = parser.parse_args()
    files = [f for f in options.files if f.suffix == ".c" and room_of(f)]
    options.per_file = options.per_file or min(6, max(1, MUTANTS_MOST // max(1, len(files))))
    scores = collections.defaultdict(lambda: [0, 0])
    if files:
        tree = Tree()
        for path in files:
            mutate_file(tree, path, options, scores)
    bad = 0
    for room, (noticed, n) in sorted(scores.items()):
        share = 100.0 * noticed / n if n else 100.0
        bad += share < options.least
        print("%s: %d of %d mutants noticed (%.0f %%)" % (room, noticed, n, share))
    print("%d passed, %d failed" % (len(scores) - bad, bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
