"""The parts of ./check: what each builds and runs, and how its result is counted.

A part is a row of PARTS and a function that prints what the tools say and answers counts. Adding one
is a function and a row. Parts that cannot run at all (a build that fails) count as one failure.
What failed is told once more at the end, in few lines: often only the end of the output is kept.
"""
import argparse
import base64
import collections
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import xml.etree.ElementTree

from ports import free_port

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHARED = pathlib.Path(os.environ.get("PROVISOR_SHARED") or ROOT.parent / "shared").resolve()
PYTHON = "/usr/bin/python3"

CORES = os.cpu_count() or 2

# name: (directory, meson options, environment of setup, what to build of it; nothing: all)
BUILDS = {
    "release": ("build-check", ["-Dwerror=true", "-Dbuildtype=release"], {"CC": "gcc"}, []),
    # -O1: what sanitizers find is the same, and half the time is compiled away.
    "sanitize": ("build-sanitize", ["-Dwerror=true", "-Ddebug=true", "-Doptimization=1", "-Db_sanitize=address,undefined"],
                 {"CC": "gcc"}, []),
    "fuzz": ("build-fuzz", ["-Dwerror=true", "-Dbuildtype=debugoptimized", "-Db_sanitize=address,undefined",
                            "-Db_lundef=false", "-Dfuzz=true"], {"CC": "clang"}, ["fuzzers"]),
}
SANITIZER_ENV = {
    "ASAN_OPTIONS": "abort_on_error=1:detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "halt_on_error=1:abort_on_error=1:print_stacktrace=1",
}

Counts = collections.namedtuple("Counts", "passed failed skipped")


class PartFailed(Exception):
    """The part could not run to its end."""


failures = []  # (what, its report in few lines), of the part that runs


def add(*counts):
    return Counts(*(sum(c[i] for c in counts) for i in range(3)))


def say(text):
    print(text, flush=True)


# Lines that tell what went wrong: of sanitizers, pytest, Criterion, pgTAP and compilers.
TELLING = re.compile(r"runtime error|ERROR: |SUMMARY: |#[0-4] 0x|^E  |^not ok|^\s*#.*\.c:\d+|: (error|warning): |[Aa]ssert|libFuzzer:")


def failed(what, report="", lines=8):
    """Remember what failed for the summary at the end, with the lines of its report that tell most."""
    said = [line.rstrip()[:200] for line in report.splitlines() if line.strip()]
    telling = [line for line in said if TELLING.search(line)]
    failures.append((what, telling[:lines] or said[-lines:]))


def environment(**more):
    env = {k: v for k, v in os.environ.items() if not k.startswith("PROVISOR_") or k == "PROVISOR_FUZZ_SECONDS"}
    env.update(PROVISOR_SHARED=str(SHARED), PYTHONDONTWRITEBYTECODE="1", LC_ALL="C.UTF-8")
    env.update({k: str(v) for k, v in more.items()})
    return env


def quiet(title, words, **kwargs):
    """Run a tool whose output matters only when it fails."""
    began = time.monotonic()
    say("  %s" % title)
    result = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            errors="replace", stdin=subprocess.DEVNULL, **kwargs)
    if result.returncode != 0:
        say(result.stdout[-12000:])
        raise PartFailed("%s failed (status %d)" % (title, result.returncode))
    say("  %s: %.0f s" % (title, time.monotonic() - began))
    return result.stdout


built = {}


def build(kind):
    """The directory of this kind of build, up to date."""
    if kind not in built:
        name, options, env, targets = BUILDS[kind]
        directory = ROOT / name
        if not (directory / "build.ninja").is_file():
            quiet("configure " + name, ["meson", "setup", directory, *options], cwd=ROOT, env=environment(**env))
        quiet("build " + name, ["ninja", "-C", directory, "-j%d" % CORES, *targets], env=environment(**env))
        built[kind] = directory
    return built[kind]


def junit_cases(path):
    try:
        return list(xml.etree.ElementTree.parse(path).iter("testcase"))
    except (OSError, xml.etree.ElementTree.ParseError) as e:
        raise PartFailed("no readable report in %s: %s" % (path, e))


def junit_counts(path):
    """Counts of a JUnit file, one a test case."""
    counts = [0, 0, 0]
    for case in junit_cases(path):
        kinds = {child.tag for child in case}
        counts[1 if kinds & {"failure", "error"} else 2 if "skipped" in kinds else 0] += 1
    return Counts(*counts)


def meson_tests(kind, suite, **env):
    directory = build(kind)
    logs = directory / "meson-logs"
    for name in ("testlog.junit.xml", "testlog.json"):
        (logs / name).unlink(missing_ok=True)
    result = subprocess.run(["meson", "test", "-C", str(directory), "--no-rebuild", "--suite", suite, "--print-errorlogs"],
                            env=environment(**env), stdin=subprocess.DEVNULL)
    counts = junit_counts(logs / "testlog.junit.xml")
    bad = 0
    # A program that fails beside its subtests, by a leak say, is in no count of JUnit's.
    for line in (logs / "testlog.json").read_text().splitlines():
        test = json.loads(line)
        if test["result"] in ("FAIL", "ERROR", "TIMEOUT", "UNEXPECTEDPASS", "INTERRUPT"):
            bad += 1
            failed("%s (%s, status %s, %s)" % (test["name"], test["result"], test["returncode"], directory.name),
                   test.get("stdout", "") + "\n" + test.get("stderr", ""))
    if result.returncode != 0 and not bad:
        bad = 1
        failed("meson test --suite %s in %s: status %d" % (suite, directory.name, result.returncode))
    return counts._replace(failed=max(counts.failed, bad))


def pytest(folder, kind=None, *options, **env):
    if kind:
        env["PROVISOR_BUILD"] = build(kind)
    with tempfile.TemporaryDirectory(prefix="provisor-check-") as scratch:
        report = pathlib.Path(scratch) / "report.xml"
        result = subprocess.run([PYTHON, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", "-rs",
                                 "--junitxml", str(report), *options, str(ROOT / folder)],
                                cwd=ROOT, env=environment(**env), stdin=subprocess.DEVNULL)
        if result.returncode == 5:
            raise PartFailed("no tests found in " + folder)
        counts = junit_counts(report)
        for case in junit_cases(report):
            for bad in case.findall("failure") + case.findall("error"):
                name = "%s::%s" % (case.get("classname", "").replace(".", "/"), case.get("name"))
                failed("%s%s" % (name, " (%s)" % kind if kind else ""), bad.text or bad.get("message", ""))
    if result.returncode not in (0, 1) or (result.returncode == 1 and counts.failed == 0):
        failed("pytest %s: status %d" % (folder, result.returncode))
        counts = counts._replace(failed=counts.failed + 1)
    return counts


# A service and a PostgreSQL a process, and whole files of tests in one: modules share what they start.
# A process a core: more would end sooner, and what waits for something by the clock would then wait in vain
# now and then.
SPREAD = ("-n", str(CORES), "--dist", "loadfile", "--max-worker-restart", "4")


def c_files():
    return sorted(p for folder in ("service", "tests") for p in (ROOT / folder).rglob("*") if p.suffix in (".c", ".h"))


# --- services for parts that talk to a real one ----------------------------------------------------


@contextlib.contextmanager
def private_database():
    """Connection strings of a fresh PostgreSQL: (service, owner, directory)."""
    command = ROOT / "ops" / "private-postgres"
    with tempfile.TemporaryDirectory(prefix="provisor-check-") as scratch:
        os.chmod(scratch, 0o755)
        data = pathlib.Path(scratch) / "data"
        quiet("start a private PostgreSQL", [command, "start", "--data-dir", data])
        try:
            yield (data / "database_url").read_text().strip(), (data / "database_owner_url").read_text().strip(), data
        finally:
            quiet("stop it", [command, "stop", "--data-dir", data])


def wait_ready(base_url, process, log):
    end = time.monotonic() + 30
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(base_url + "/readyz", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    raise PartFailed("provisord is not ready: " + log.read_text(errors="replace")[-3000:])


@contextlib.contextmanager
def running_service(kind):
    """(base URL, file with an admin token) of provisord on a fresh PostgreSQL."""
    provisord = build(kind) / "service" / "provisord"
    with private_database() as (url, owner_url, data):
        port = free_port()
        env = environment(PROVISOR_DATABASE_URL=url, PROVISOR_DATABASE_OWNER_URL=owner_url, PROVISOR_LISTEN_PORT=port)
        quiet("migrate", [provisord, "migrate"], env=env)
        token = subprocess.run([provisord, "token", "create", "--team", "check", "--name", "check", "--scopes",
                                "read,write,admin"], env=env, stdout=subprocess.PIPE, check=True).stdout
        (data / "token").write_bytes(token)
        log = data / "provisord.log"
        with open(log, "wb") as out:
            process = subprocess.Popen([provisord, "serve"], env=env, stdout=out, stderr=out)
        try:
            base_url = "http://127.0.0.1:%d" % port
            wait_ready(base_url, process, log)
            yield base_url, data / "token"
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=40)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


# --- parts ----------------------------------------------------------------------------------------


def part_format():
    """clang-format finds nothing to change"""
    files = c_files()
    lots = [files[i::CORES] for i in range(CORES)]

    def dry(lot):
        return subprocess.run(["clang-format", "--dry-run", "-Werror", *map(str, lot)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)

    with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
        results = list(pool.map(dry, lots))
    found = {}
    for line in "\n".join(r.stdout for r in results).splitlines():
        if ": error: " in line:
            found.setdefault(line.split(":")[0], []).append(line)
    if any(r.returncode for r in results) and not found:
        raise PartFailed("clang-format: " + results[0].stdout[-2000:])
    for path, lines in found.items():
        say("\n".join(lines[:6]))
        failed(os.path.relpath(path, ROOT), "\n".join(lines[:2]))
    return Counts(len(files) - len(found), len(found), 0)


def part_house():
    """dependencies, headers, the tree"""
    return pytest("tests/house", "release", "-n", str(CORES))


def part_unit():
    """Criterion tests of every module"""
    return meson_tests("release", "unit")


def part_golden():
    """published and hand-computed values against the core"""
    return meson_tests("release", "golden")


def part_vectors():
    """the shared request/response vectors against the real service"""
    runner = SHARED / "golden" / "run_vectors.py"
    if not runner.is_file():
        say("  skipped: no shared data at %s (set PROVISOR_SHARED)" % SHARED)
        return Counts(0, 0, 1)
    calls = ("feasibility", "stage-plans", "contention", "copy-plans", "models-fit")
    vectors = SHARED / "golden" / "vectors"
    folders = [vectors / f for c in calls for f in (c, "errors/" + c)]
    with running_service("release") as (base_url, token):
        result = subprocess.run([PYTHON, "-B", str(runner), "--base-url", base_url, "--token-file", str(token),
                                 *map(str, folders)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    say(result.stdout.rstrip())
    try:
        words = result.stdout.rstrip().splitlines()[-1].replace(",", "").split()
        counts = Counts(int(words[0]), int(words[2]), 0)
    except (IndexError, ValueError):
        raise PartFailed("run_vectors.py gave no summary")
    if result.returncode != 0 and counts.failed == 0:
        counts = counts._replace(failed=1)
    if counts.failed:
        failed("run_vectors.py", "\n".join(l for l in result.stdout.splitlines() if not l.startswith("ok")), 20)
    return counts


def part_db():
    """pgTAP: schema, constraints, row level security"""
    files = sorted((ROOT / "tests" / "db").glob("*.sql")) or sorted((ROOT / "db" / "tests").glob("*.sql"))
    if not files:
        raise PartFailed("no pgTAP files found")
    provisord = build("release") / "service" / "provisord"
    total = Counts(0, 0, 0)
    with private_database() as (url, owner_url, data):
        quiet("migrate", [provisord, "migrate"],
              env=environment(PROVISOR_DATABASE_URL=url, PROVISOR_DATABASE_OWNER_URL=owner_url))
        for path in files:
            result = subprocess.run([ROOT / "ops" / "private-postgres", "psql", "--data-dir", data, "-d", "provisor",
                                     "-qAt", "-v", "ON_ERROR_STOP=1", "-f", path],
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            counts = tap(result.stdout)
            if result.returncode != 0:
                counts = counts._replace(failed=counts.failed + 1)
            if counts.failed:
                say("--- %s\n%s" % (path.relative_to(ROOT), result.stdout[-6000:]))
                failed(str(path.relative_to(ROOT)), result.stdout)
            total = add(total, counts)
    return total


def part_store():
    """every call of the store on a real PostgreSQL"""
    with private_database() as (url, owner_url, _):
        return meson_tests("release", "database", PROVISOR_DATABASE_URL=url, PROVISOR_DATABASE_OWNER_URL=owner_url)


def tap(text):
    """Counts of a TAP stream; a plan that is not kept is a failure."""
    passed = failed = skipped = 0
    plan = None
    for line in text.splitlines():
        if line.startswith("1.."):
            plan = int(line[3:].split()[0])
        elif line.startswith("not ok"):
            failed += 1
        elif line.startswith("ok "):
            if "# skip" in line.lower():
                skipped += 1
            else:
                passed += 1
    if plan is None or plan != passed + failed + skipped:
        failed += 1
    return Counts(passed, failed, skipped)


def part_api():
    """the real service on a real PostgreSQL, every reply held against the contract"""
    return pytest("tests/api", "release", *SPREAD)


def part_fault():
    """kill -9, outages, restarts"""
    return pytest("tests/fault", "release", *SPREAD)


def part_walk():
    """./run and the README's walk-through, line by line"""
    return pytest("tests/e2e")


def part_interop():
    """streams written by Java's own libraries, read by ours, and the other way round"""
    return pytest("tests/interop", "release")


def fuzz_words(target, seconds, scratch):
    """libFuzzer on one target: what it finds goes to scratch, new inputs to scratch/grown."""
    grown = scratch / "grown"
    grown.mkdir()
    words = [target, "-max_total_time=%d" % seconds, "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1",
             "-artifact_prefix=%s/" % scratch, grown]
    name = target.name[len("fuzz_"):]
    for seeds in (ROOT / "tests" / "fuzz" / "corpus" / name, target.parent / "seeds" / name):
        if seeds.is_dir():
            words.append(seeds)
    for dictionary in (ROOT / "tests" / "fuzz").glob(name + ".dict"):
        words.append("-dict=%s" % dictionary)
    return [str(w) for w in words]


def keep_input(path):
    """Words on an input that broke a target: where it is kept, and all of it when that is little."""
    kept = ROOT / "build-fuzz" / path.name
    shutil.copy(path, kept)
    data = path.read_bytes()
    text = "the input of %d bytes is kept as %s" % (len(data), kept)
    if len(data) <= 4096:
        text += "; in base64:\n" + base64.b64encode(data).decode()
    return text


def fuzz(target, seconds):
    """Whether one target found nothing in so many seconds."""
    with tempfile.TemporaryDirectory(prefix="provisor-fuzz-") as folder:
        scratch = pathlib.Path(folder)
        result = subprocess.run(fuzz_words(target, seconds, scratch), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, errors="replace", env=environment(**SANITIZER_ENV))
        runs = [l.split()[-1] for l in result.stdout.splitlines() if l.startswith("stat::number_of_executed_units")]
        lines = ["  %-24s %s runs, status %d" % (target.name, runs[0] if runs else "?", result.returncode)]
        if result.returncode != 0:
            inputs = [keep_input(p) for p in sorted(scratch.iterdir()) if p.is_file()]
            lines += [result.stdout[-6000:], *inputs]
            failed("%s (status %d)" % (target.name, result.returncode), result.stdout, 10)
            failures[-1][1].extend("\n".join(inputs).splitlines())
    say("\n".join(lines))
    return result.returncode == 0


def part_fuzz():
    """every fuzz target for some seconds, from its corpus (PROVISOR_FUZZ_SECONDS, default 8)"""
    directory = build("fuzz") / "tests" / "fuzz"
    targets = sorted(p for p in directory.glob("fuzz_*") if p.is_file() and os.access(p, os.X_OK))
    if not targets:
        raise PartFailed("no fuzz targets were built")
    seconds = int(os.environ.get("PROVISOR_FUZZ_SECONDS", "8"))
    replayed = meson_tests("release", "fuzz")
    with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
        passed = sum(pool.map(lambda target: fuzz(target, seconds), targets))
    return add(replayed, Counts(passed, len(targets) - passed, 0))


def part_sanitize():
    """unit, golden, fuzz corpus, api and fault again under ASan, UBSan and LSan"""
    counts = [meson_tests("sanitize", suite, **SANITIZER_ENV) for suite in ("unit", "golden", "fuzz")]
    for folder in ("tests/api", "tests/fault"):
        # Bounds on resident memory do not hold there: sanitizers keep freed memory and shadows.
        counts.append(pytest(folder, "sanitize", "-m", "not resident_memory", *SPREAD, **SANITIZER_ENV))
    return add(*counts)


def part_contract():
    """the OpenAPI document itself: lint, examples"""
    return pytest("tests/contract", "release")


def part_clang():
    """what clang warns of in sources that the fuzz targets do not hold"""
    directory = build("fuzz")
    commands = json.loads((directory / "compile_commands.json").read_text())
    built_there = set(subprocess.run(["ninja", "-C", directory, "-t", "inputs", "fuzzers"], check=True, text=True,
                                     stdout=subprocess.PIPE).stdout.split("\n"))
    # Generated sources need their generators, which only a whole build runs.
    wanted = [c for c in commands if c["output"] not in built_there and c["file"].startswith("..")]

    def check(command):
        words = [w for w in shlex.split(command["command"]) if w not in ("ccache", "-MD")]
        for option in ("-o", "-MQ", "-MF"):
            at = words.index(option)
            del words[at:at + 2]
        return subprocess.run([*words, "-fsyntax-only"], text=True, cwd=command["directory"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)

    with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
        results = list(pool.map(check, wanted))
    bad = 0
    for command, result in zip(wanted, results):
        if result.returncode != 0:
            bad += 1
            say(result.stdout[-3000:])
            failed(command["file"], result.stdout)
    return Counts(len(wanted) - bad, bad, 0)


def part_tidy():
    """clang-tidy with the rules of .clang-tidy"""
    build("fuzz")
    files = [p for p in c_files() if p.suffix == ".c" and (ROOT / "service") in p.parents]
    script = "printf '%s\\0' \"$@\" | xargs -0 -n 4 -P \"$(nproc)\" clang-tidy --quiet -p " + str(ROOT / "build-fuzz")
    result = subprocess.run(["bash", "-c", script, "tidy", *map(str, files)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)
    found = [l for l in result.stdout.splitlines() if ": warning:" in l or ": error:" in l]
    say("\n".join(dict.fromkeys(found)))
    bad = {l.split(":")[0] for l in found}
    for path in sorted(bad):
        failed(os.path.relpath(path, ROOT), "\n".join(l for l in found if l.startswith(path)))
    if result.returncode != 0 and not bad:
        raise PartFailed("clang-tidy: " + result.stderr[-3000:])
    return Counts(len(files) - len(bad), len(bad), 0)


def part_container():
    """the Dockerfile, built without a daemon, and its result started"""
    if os.geteuid() != 0:
        say("  skipped: building an image without a daemon needs root here")
        return Counts(0, 0, 1)
    return pytest("tests/container")


# name, function, whether it belongs to the default run
PARTS = [
    ("format", part_format, True),
    ("house", part_house, True),
    ("unit", part_unit, True),
    ("golden", part_golden, True),
    ("vectors", part_vectors, True),
    ("db", part_db, True),
    ("store", part_store, True),
    ("contract", part_contract, True),
    ("api", part_api, True),
    ("fault", part_fault, True),
    ("walk", part_walk, True),
    ("interop", part_interop, True),
    ("fuzz", part_fuzz, True),
    ("clang", part_clang, True),
    ("sanitize", part_sanitize, True),
    ("tidy", part_tidy, False),
    ("container", part_container, True),
]


SUMMARY_LINES_MAX = 110


def tell_failures(found):
    """What failed, part by part, in as many lines as the end of a log may be expected to keep."""
    lines = []
    for part, what, report in found:
        lines.append("FAILED %s: %s" % (part, what))
        lines += ["    " + line for line in report]
    if len(lines) > SUMMARY_LINES_MAX:  # the names at least
        lines = ["FAILED %s: %s" % (part, what) for part, what, _ in found]
    say("")
    say("\n".join(lines[:SUMMARY_LINES_MAX]))
    if len(lines) > SUMMARY_LINES_MAX:
        say("... and %d more" % (len(lines) - SUMMARY_LINES_MAX))


def run_part(name, function):
    """(counts, failures) of a part."""
    failures.clear()
    try:
        counts = function()
    except (PartFailed, OSError, subprocess.SubprocessError) as e:
        say("  %s" % e)
        failed("the part did not run to its end", str(e))
        counts = Counts(0, 1, 0)
    return counts, [(name, what, report) for what, report in failures]


def main():
    names = [name for name, _, _ in PARTS]
    parser = argparse.ArgumentParser(prog="./check", description="Build and run the tests.")
    parser.add_argument("--list", action="store_true", help="list the parts and stop")
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts to run: " + ", ".join(names))
    wanted = parser.parse_args()
    if wanted.list:
        for name, function, default in PARTS:
            print("%-10s %s%s" % (name, function.__doc__, "" if default else " (only when named)"))
        return 0
    unknown = [n for n in wanted.names if n not in names]
    if unknown:
        parser.error("no part named %s; there are: %s" % (", ".join(unknown), ", ".join(names)))
    total = Counts(0, 0, 0)
    summary = []
    found = []
    for name, function, default in PARTS:
        if name not in wanted.names and (wanted.names or not default):
            continue
        say("==> %s: %s" % (name, function.__doc__))
        began = time.monotonic()
        counts, missed = run_part(name, function)
        found += missed
        total = add(total, counts)
        summary.append("%-10s %5d passed %3d failed %3d skipped %6.0f s" % (name, *counts, time.monotonic() - began))
        say("    " + summary[-1])
    say("")
    say("\n".join(summary))
    if found:
        tell_failures(found)
    say("%d passed, %d failed, %d skipped" % total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
