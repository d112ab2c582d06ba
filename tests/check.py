"""The parts of ./check: what each needs, builds and runs, and how its result is counted.

A part is a row of PARTS and a function that says what its tools print and returns counts. Adding one is a
function and a row. Parts run side by side: one of those that go by the clock at a time, at normal priority, and
beside it, at a lower one, builds and parts that only compute, as many as there are cores. What a part prints
comes whole when it ends, and what failed is repeated at the end in few lines: often only the end is kept.

A part that cannot run at all (because its build fails, say) counts as one failure.
"""
import argparse
import base64
import collections
import concurrent.futures
import contextlib
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import xml.etree.ElementTree

from databases import TEMPLATE_FOLDER, Template
from ports import free_port

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHARED = pathlib.Path(os.environ.get("PROVISOR_SHARED") or ROOT.parent / "shared").resolve()
PYTHON = "/usr/bin/python3"

CORES = os.cpu_count() or 2
# Niceness of parts: of those that go by the clock; of others; of those that only compute and have no bounds on time
# of their own, which take what is left, as provisord's operations do.
NORMAL, LOW, LOWEST = 0, 10, 19

# name: (directory, compiler, meson options, what to build of it; nothing: all)
# Sanitizers find the same at -O1, with half the time compiled away, and need of debug information only lines.
LINES = ["-Doptimization=1", "-Ddebug=false", "-Dc_args=-gline-tables-only", "-Db_lundef=false"]
BUILDS = {
    "release": ("build-check", "gcc", ["-Dbuildtype=release", "-Dcli=enabled"], []),
    "sanitize": ("build-sanitize", "clang", [*LINES, "-Db_sanitize=address,undefined", "-Dcli=enabled"], []),
    "threads": ("build-threads", "clang", [*LINES, "-Db_sanitize=thread", "-Dcli=enabled"], ["threaded"]),
    "fuzz": ("build-fuzz", "clang", [*LINES, "-Db_sanitize=address,undefined", "-Dfuzz=true", "-Dcli=enabled"], ["fuzzers"]),
}
SANITIZER_ENV = {
    "ASAN_OPTIONS": "abort_on_error=1:detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "halt_on_error=1:abort_on_error=1:print_stacktrace=1",
}
THREADS_ENV = {
    # Work that is not done when a service has to end is left to end with the process, and so are the threads that do it.
    "TSAN_OPTIONS": "halt_on_error=1:abort_on_error=1:second_deadlock_stack=1:report_thread_leaks=0",
}

Counts = collections.namedtuple("Counts", "passed failed skipped")
Part = collections.namedtuple("Part", "name run builds cores long niceness")


class PartFailed(Exception):
    """The part could not run to its end."""


class Report(threading.local):
    """What the part of this thread says; what failed in it: (what, its report in few lines); seconds of the processor
    of each tool that it ran."""

    def __init__(self):
        self.lines, self.failures, self.niceness, self.processor = [], [], 0, []


here = Report()
printing = threading.Lock()


def say(text):
    here.lines.append(text)


def show(text):
    with printing:
        print(text, flush=True)


def add(*counts):
    return Counts(*(sum(c[i] for c in counts) for i in range(3)))


# Lines that tell what went wrong: of sanitizers, pytest, Criterion, pgTAP and compilers.
TELLING = re.compile(r"runtime error|ERROR: |WARNING: Thread|SUMMARY: |#[0-4] 0x|^E  |^not ok|^\s*#.*\.c:\d+|"
                     r": (error|warning): |[Aa]ssert|libFuzzer:")


def failed(what, report="", lines=8):
    """Remember what failed for the summary at the end, with the lines of its report that tell most."""
    said = [line.rstrip()[:200] for line in report.splitlines() if line.strip()]
    telling = [line for line in said if TELLING.search(line)]
    here.failures.append((what, telling[:lines] or said[-lines:]))


def environment(**more):
    env = {k: v for k, v in os.environ.items() if not k.startswith("PROVISOR_") or k == "PROVISOR_FUZZ_SECONDS"}
    env.update(PROVISOR_SHARED=str(SHARED), PYTHONDONTWRITEBYTECODE="1", LC_ALL="C.UTF-8")
    env.update({k: str(v) for k, v in more.items()})
    return env


def run(words, errors=subprocess.STDOUT, **kwargs):
    """The finished process of a tool, at the priority of this part, with what it printed."""
    niceness = here.niceness  # of this thread, not of the child's
    words = ["nice", "-n", niceness, *words] if niceness else words
    with subprocess.Popen([str(w) for w in words], stdout=subprocess.PIPE, stderr=errors, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, **kwargs) as process:
        text = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    here.processor.append(used.ru_utime + used.ru_stime)
    return subprocess.CompletedProcess(process.args, process.returncode, text)


def quiet(title, words, **kwargs):
    """Run a tool whose output matters only when it fails."""
    began = time.monotonic()
    result = run(words, **kwargs)
    if result.returncode != 0:
        say(result.stdout[-12000:])
        raise PartFailed("%s failed (status %d): %s" % (title, result.returncode, result.stdout[-3000:]))
    say("  %s: %.0f s" % (title, time.monotonic() - began))
    return result.stdout


def side_by_side(work, items):
    """work(item) of each, as many at once as there are cores; the priority is this part's."""
    niceness, processor = here.niceness, here.processor

    def one(item):
        here.niceness, here.processor = niceness, processor
        return work(item)

    with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
        return list(pool.map(one, items))


def directory_of(kind):
    return ROOT / BUILDS[kind][0]


def build(kind):
    """Bring this kind of build up to date."""
    name, compiler, options, targets = BUILDS[kind]
    directory = ROOT / name
    env = environment(CC="ccache " + compiler if shutil.which("ccache") else compiler)
    wanted = " ".join([env["CC"], *options])
    mark = directory / "check-options"
    if not (directory / "build.ninja").is_file() or not mark.is_file() or mark.read_text() != wanted:
        shutil.rmtree(directory, ignore_errors=True)  # made with other options, or by an interrupted setup
        quiet("configure " + name, ["meson", "setup", directory, "-Dwerror=true", *options], cwd=ROOT, env=env)
        mark.write_text(wanted)
    quiet("build " + name, ["ninja", "-C", directory, "-j%d" % CORES, *targets], env=env)


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


def meson_tests(kind, suite, *options, **env):
    """Run the tests of a suite of a build. What a filter of Criterion leaves out runs in another row or is of suite
    "statistics" (tests/unit/meson.build): no test that was skipped."""
    directory = directory_of(kind)
    # Parts that run at the same time in one build have logs of their own.
    base = "testlog-" + suite
    logs = [directory / "meson-logs" / (base + end) for end in (".junit.xml", ".json")]
    for path in logs:
        path.unlink(missing_ok=True)
    result = run(["meson", "test", "-C", directory, "--no-rebuild", "--suite", suite, "--logbase", base, "--num-processes", CORES,
                  *options], env=environment(**env))
    counts = junit_counts(logs[0])
    counts = counts._replace(skipped=counts.skipped - logs[0].read_text().count("# SKIP test was skipped"))
    say("\n".join(line for line in result.stdout.splitlines() if re.match(r" *\d+/\d+ .*(FAIL|ERROR|TIMEOUT)|Ok: ", line)))
    bad = 0
    # A program that fails beside its subtests, by a leak say, is in no count of JUnit's.
    for line in logs[1].read_text().splitlines():
        test = json.loads(line)
        if test["result"] in ("FAIL", "ERROR", "TIMEOUT", "UNEXPECTEDPASS", "INTERRUPT"):
            bad += 1
            text = test.get("stdout", "") + "\n" + test.get("stderr", "")
            say("--- %s\n%s" % (test["name"], text[-6000:]))
            failed("%s (%s, status %s, %s)" % (test["name"], test["result"], test["returncode"], directory.name), text)
    if result.returncode != 0 and not bad:
        bad = 1
        failed("meson test --suite %s in %s: status %d" % (suite, directory.name, result.returncode), result.stdout)
    return counts._replace(failed=max(counts.failed, bad))


def pytest(paths, kind=None, *options, **env):
    """Run the tests of a folder, or of several files, against a build."""
    paths = [paths] if isinstance(paths, str) else paths
    if kind:
        env["PROVISOR_BUILD"] = directory_of(kind)
    with tempfile.TemporaryDirectory(prefix="provisor-check-", ignore_cleanup_errors=True) as scratch:
        report = pathlib.Path(scratch) / "report.xml"
        # Its own folder of temporary files: every pytest that starts closes the shared one to other users for a moment.
        result = run([PYTHON, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", "-rs", "--durations=5",
                      "--basetemp", pathlib.Path(scratch) / "tmp", "--junitxml", report, *options, *(ROOT / path for path in paths)], cwd=ROOT, env=environment(**env))
        say("\n".join(line for line in result.stdout.splitlines()
                      if not re.match(r"[.sxFE]+ +\[ *\d+%\]$|bringing up nodes|-+ generated xml|$", line)))
        if result.returncode == 5:
            raise PartFailed("no tests found in " + " ".join(paths))
        counts = junit_counts(report)
        for case in junit_cases(report):
            for bad in case.findall("failure") + case.findall("error"):
                name = "%s::%s" % (case.get("classname", "").replace(".", "/"), case.get("name"))
                failed("%s%s" % (name, " (%s)" % kind if kind else ""), bad.text or bad.get("message", ""))
    if result.returncode not in (0, 1) or (result.returncode == 1 and counts.failed == 0):
        failed("pytest %s: status %d" % (" ".join(paths), result.returncode))
        counts = counts._replace(failed=counts.failed + 1)
    return counts


# A service and a PostgreSQL a process, and whole files of tests in one: modules share what they start.
# One process more than there are cores, because tests often wait.
SPREAD = ("-n", CORES + 1, "--dist", "loadfile", "--max-worker-restart", "4")


def c_files():
    return sorted(p for folder in ("service", "clients", "tests") for p in (ROOT / folder).rglob("*") if p.suffix in (".c", ".h"))


# --- services for parts that talk to a real one ----------------------------------------------------


def provisord(*words, **env):
    return quiet("provisord " + words[0], [directory_of("release") / "service" / "provisord", *words], errors=None,
                 env=environment(**env))


class Templates:
    """The one PostgreSQL of this run for the parts that need a database; started by the first of them."""

    def __init__(self):
        self.lock, self.template = threading.Lock(), None

    @contextlib.contextmanager
    def database(self):
        with self.lock:
            if self.template is None:
                self.template = Template(lambda env: provisord("migrate", **env))
            database = self.template.database()
        try:
            yield database
        finally:
            self.template.drop(database)

    def close(self):
        if self.template is not None:
            self.template.close()


templates = Templates()


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
def running_service():
    """(base URL, file with an admin token) of the release's provisord on a fresh database."""
    with templates.database() as database, tempfile.TemporaryDirectory(prefix="provisor-check-") as scratch:
        port = free_port()
        env = {"PROVISOR_DATABASE_URL": database.service_url, "PROVISOR_DATABASE_OWNER_URL": database.owner_url,
               "PROVISOR_LISTEN_PORT": port}
        token, log = pathlib.Path(scratch) / "token", pathlib.Path(scratch) / "provisord.log"
        token.write_text(provisord("token", "create", "--team", "check", "--name", "check", "--scopes", "read,write,admin", **env))
        with open(log, "wb") as out:
            process = subprocess.Popen([directory_of("release") / "service" / "provisord", "serve"], env=environment(**env),
                                       stdout=out, stderr=out)
        try:
            base_url = "http://127.0.0.1:%d" % port
            wait_ready(base_url, process, log)
            yield base_url, token
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
    results = side_by_side(lambda lot: run(["clang-format", "--dry-run", "-Werror", *lot]), [files[i::CORES] for i in range(CORES)])
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
    return pytest("tests/house", "release", "-n", CORES)


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
    calls = ("feasibility", "stage-plans", "contention", "memory-plans", "quota-loops", "copy-plans", "models-fit", "pigeon-plans", "slot-decisions", "slot-plans", "slowdowns", "speculation-decisions", "simulations")
    vectors = SHARED / "golden" / "vectors"
    folders = [vectors / f for c in calls for f in (c, "errors/" + c)]
    with running_service() as (base_url, token):
        result = run([PYTHON, "-B", runner, "--base-url", base_url, "--token-file", token, *folders])
    say("\n".join(result.stdout.rstrip().splitlines()[-1:]))
    try:
        words = result.stdout.rstrip().splitlines()[-1].replace(",", "").split()
        counts = Counts(int(words[0]), int(words[2]), 0)
    except (IndexError, ValueError):
        raise PartFailed("run_vectors.py gave no summary: " + result.stdout[-3000:])
    if result.returncode != 0 and counts.failed == 0:
        counts = counts._replace(failed=1)
    if counts.failed:
        failed("run_vectors.py", "\n".join(l for l in result.stdout.splitlines() if not l.startswith("ok")), 20)
    return counts


def part_db():
    """pgTAP: schema, constraints, row level security"""
    files = sorted((ROOT / "db" / "tests").glob("*.sql"))
    if not files:
        raise PartFailed("no pgTAP files found")
    total = Counts(0, 0, 0)
    with templates.database() as database:
        for path in files:
            result = run([ROOT / "ops" / "private-postgres", "psql", "--data-dir", database.server.directory, "-d", database.name,
                          "-qAt", "-v", "ON_ERROR_STOP=1", "-f", path])
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
    with templates.database() as database:
        return meson_tests("release", "database", PROVISOR_DATABASE_URL=database.service_url,
                           PROVISOR_DATABASE_OWNER_URL=database.owner_url)


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


def part_contract():
    """the OpenAPI document itself: lint, examples; the tables of members against its schemas"""
    return pytest("tests/contract", "release")


def part_api():
    """the real service under ASan, UBSan and LSan, every reply held against the contract"""
    # Bounds on resident memory do not hold there: sanitizers keep freed memory and shadows.
    return pytest("tests/api", "sanitize", "-m", "not resident_memory and not every_log", *SPREAD, **SANITIZER_ENV)


def part_fault():
    """kill -9, outages, restarts, under the same sanitizers"""
    return pytest("tests/fault", "sanitize", "-m", "not resident_memory", *SPREAD, **SANITIZER_ENV)


def part_cli():
    """the command line client and what is built on it, against the real service"""
    return add(pytest("tests/cli", "sanitize", "-m", "not release_build", *SPREAD, **SANITIZER_ENV),
               pytest("tests/cli", "release", "-m", "release_build", *SPREAD))


def part_orchestrators():
    """what is built on the service for Airflow, Argo and receivers of webhooks"""
    return pytest("tests/orchestrators", "release", *SPREAD)


def part_python():
    """the client for Python: against the contract, the real service and servers that misbehave; wheel, types, style"""
    return pytest("tests/python", "release", *SPREAD)


def part_notebooks():
    """the notebooks: executed with the real service, what they show, and as pages of the documentation site"""
    return pytest("tests/notebooks", "release", *SPREAD)


def part_site():
    """the documentation site, every page measured in a browser, and its search"""
    return pytest("tests/site", "release")


def part_kubernetes():
    """manifests and chart by their schemas, the pod's proxy in front of the real service"""
    return pytest("tests/kubernetes", "release", *SPREAD)


# What the optimizer and the hardening of a release may change: times, the order in which threads meet, the protocol's edges.
RELEASE_FILES = ["tests/api/test_%s.py" % name for name in (
    "exchange", "fairness", "http_bodies", "http_connections", "http_limits", "http_protocol", "lifecycle")]


def part_release():
    """of the API tests, on the release build: bounds on memory, answers about every log, the protocol's edges, start and end"""
    return add(pytest("tests/api", "release", "-m", "resident_memory or every_log", *SPREAD),
               pytest(RELEASE_FILES, "release", "-m", "not resident_memory", *SPREAD))


def part_release_all():
    """all API and fault tests on the release build"""
    return add(pytest("tests/api", "release", *SPREAD), pytest("tests/fault", "release", *SPREAD))


# Where threads meet: http's exchanges, parked and swept connections, the caches of tokens and histories, fits
# that workers make, operations with their leases and followers.
THREADED_FILES = ["tests/api/test_%s.py" % name for name in (
    "access", "advice_cost", "exchange", "fairness", "fits_on_arrival", "http_bodies", "http_connections", "http_limits",
    "http_protocol", "import_operation", "lifecycle", "operations", "refit")]


def part_threads():
    """programs of many threads, and API tests of http, operations and caches, under ThreadSanitizer"""
    return add(meson_tests("threads", "threads", **THREADS_ENV),
               pytest(THREADED_FILES, "threads", "-m", "not resident_memory", *SPREAD, **THREADS_ENV))


def part_previous():
    """the program of before the last migration, on the schema of today"""
    return pytest("tests/previous", "release")


HOSTILE_FILES = ["tests/load/test_hostile_team.py", "tests/load/test_overload.py"]


def part_load():
    """one hostile team against a quiet one, and overload, for a moment each"""
    return pytest(HOSTILE_FILES, "release")


def part_load_all():
    """`load` for as long as its bounds on time need, and the goals under overload"""
    counts = pytest(HOSTILE_FILES, "release", PROVISOR_LOAD_SECONDS=20)
    result = run([PYTHON, "-B", ROOT / "tests" / "bench" / "bench_overload.py", 10], env=environment(PROVISOR_BUILD=directory_of("release")))
    say(result.stdout[-6000:])
    if result.returncode != 0:
        failed("bench_overload.py", result.stdout)
    return add(counts, Counts(1, 0, 0) if result.returncode == 0 else Counts(0, 1, 0))


def part_adversary():
    """mutated requests and torn connections against the whole server, ten minutes under each sanitizer"""
    return add(*(pytest("tests/load/test_adversary.py", kind, PROVISOR_ADVERSARY_SECONDS=300, **env)
                 for kind, env in (("sanitize", SANITIZER_ENV), ("threads", THREADS_ENV))))


def part_walk():
    """./run and the README's walk-through, line by line"""
    return pytest("tests/e2e", "release")


def part_walk_all():
    """the same from nothing: ./run makes its own build"""
    return pytest("tests/e2e")


def part_interop():
    """streams written by Java's own libraries, read by ours, and the other way round"""
    return pytest("tests/interop", "release")


def part_sanitize():
    """unit, golden and fuzz corpus under ASan, UBSan and LSan"""
    return add(*(meson_tests("sanitize", suite, *(["--no-suite", "statistics"] if suite == "unit" else []), **SANITIZER_ENV)
                 for suite in ("unit", "golden", "fuzz")))


def part_sanitize_all():
    """statistics of many repetitions under the same sanitizers"""
    return meson_tests("sanitize", "statistics", **SANITIZER_ENV)


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
    return words


def keep_input(path):
    """Words on an input that broke a target: where it is kept, and all of it when that is little."""
    kept = directory_of("fuzz") / path.name
    shutil.copy(path, kept)
    data = path.read_bytes()
    text = "the input of %d bytes is kept as %s" % (len(data), kept)
    if len(data) <= 4096:
        text += "; in base64:\n" + base64.b64encode(data).decode()
    return text


def fuzz(target, seconds):
    """(target, libFuzzer's result, words on the inputs that broke it) of so many seconds."""
    with tempfile.TemporaryDirectory(prefix="provisor-fuzz-") as folder:
        scratch = pathlib.Path(folder)
        result = run(fuzz_words(target, seconds, scratch), env=environment(**SANITIZER_ENV))
        inputs = [keep_input(p) for p in sorted(scratch.iterdir()) if p.is_file()] if result.returncode != 0 else []
    return target, result, inputs


def part_fuzz():
    """every fuzz target for some seconds, from its corpus (PROVISOR_FUZZ_SECONDS, default 8)"""
    directory = directory_of("fuzz") / "tests" / "fuzz"
    targets = sorted(p for p in directory.glob("fuzz_*") if p.is_file() and os.access(p, os.X_OK))
    if not targets:
        raise PartFailed("no fuzz targets were built")
    seconds = int(os.environ.get("PROVISOR_FUZZ_SECONDS", "8"))
    bad = 0
    for target, result, inputs in side_by_side(lambda target: fuzz(target, seconds), targets):
        runs = [l.split()[-1] for l in result.stdout.splitlines() if l.startswith("stat::number_of_executed_units")]
        say("  %-24s %s runs, status %d" % (target.name, runs[0] if runs else "?", result.returncode))
        if result.returncode != 0:
            bad += 1
            say("\n".join([result.stdout[-6000:], *inputs]))
            failed("%s (status %d)" % (target.name, result.returncode), result.stdout, 10)
            here.failures[-1][1].extend("\n".join(inputs).splitlines())
    return Counts(len(targets) - bad, bad, 0)


# --- clang-tidy: what it found in a file is kept under a hash of all that it read --------------------


def headers_read(kind):
    """{source: files of this project that its object was made of}, from the dependencies that ninja keeps."""
    directory = directory_of(kind)
    read = {}
    for block in run(["ninja", "-C", directory, "-t", "deps"]).stdout.split("\n\n"):
        paths = [os.path.normpath(directory / line.strip()) for line in block.splitlines()[1:]]
        mine = [p for p in paths if p.startswith(str(ROOT) + "/")]
        if mine:
            read.setdefault(mine[0], set()).update(mine)
    return read


def tidy_options(analyzer):
    text = (ROOT / ".clang-tidy").read_text()
    return text if analyzer else text.replace("  clang-analyzer-*,\n", "  -clang-analyzer-*,\n")


def changed_sources():
    """What differs from the branch that this one began on; on that branch itself, from the commit before."""
    def git(*words):
        return run(["git", "-C", ROOT, *words], errors=subprocess.DEVNULL).stdout.strip()

    head = git("rev-parse", "HEAD")
    bases = [git("merge-base", "HEAD", name) for name in ("origin/HEAD", "origin/main", "main")]
    base = next((b for b in bases if b and b != head), "") or git("rev-parse", "--verify", "-q", "HEAD~1")
    names = git("diff", "--name-only", "--diff-filter=d", base).splitlines() if base else []
    names += git("ls-files", "--others", "--exclude-standard").splitlines()
    return {str(ROOT / name) for name in names}


def tidy(analyzer, files):
    """Counts of clang-tidy over these sources."""
    cache = directory_of("sanitize") / "tidy"
    cache.mkdir(exist_ok=True)
    read = headers_read("sanitize")
    options = tidy_options(analyzer)
    about = options + run(["clang-tidy", "--version"]).stdout

    def mark(path):
        digest = hashlib.sha256(about.encode())
        for name in sorted(read.get(str(path), {str(path)})):
            digest.update(hashlib.sha256(pathlib.Path(name).read_bytes()).digest() if os.path.exists(name) else b"-")
        return cache / digest.hexdigest()

    marks = {path: mark(path) for path in files}
    todo = [path for path in files if not marks[path].exists()]

    def check(lot):
        return run(["clang-tidy", "--quiet", "--config=" + options, "-p", directory_of("sanitize"), *lot])

    lots = [todo[at:at + 8] for at in range(0, len(todo), 8)]
    bad = set()
    for lot, result in zip(lots, side_by_side(check, lots)):
        found = {}
        for line in result.stdout.splitlines():
            if ": warning:" in line or ": error:" in line:
                at = os.path.normpath(directory_of("sanitize") / line.split(":")[0])
                found.setdefault(at, []).append(line)
        if result.returncode != 0 and not found:
            raise PartFailed("clang-tidy: " + result.stdout[-3000:])
        if found:
            say(result.stdout[-6000:])
        for path, lines in found.items():
            bad.add(path)
            failed(os.path.relpath(path, ROOT), "\n".join(dict.fromkeys(lines)))
        if not found:
            for path in lot:
                marks[path].touch()
    say("  %d of %d looked at, the others are as they were" % (len(todo), len(files)))
    return Counts(len(files) - len(bad), len(bad), 0)


def sources():
    return [p for p in c_files() if p.suffix == ".c" and (ROOT / "tests") not in p.parents]


def part_tidy():
    """clang-tidy with the rules of .clang-tidy; its analyzer only on what changed"""
    changed = changed_sources()
    files = sources()
    return add(tidy(False, files), tidy(True, [p for p in files if str(p) in changed]))


def part_tidy_all():
    """clang-tidy's analyzer on every source"""
    return tidy(True, sources())


def part_mutation():
    """single changes in what a commit changes of the core's models: how many of them the tests notice"""
    files = sorted(os.path.relpath(path, ROOT) for path in changed_sources() if path.endswith(".c"))
    result = run([PYTHON, "-B", ROOT / "tests" / "mutation" / "mutate.py", *files]) if files else None
    if result is None:
        return Counts(0, 0, 1)
    say(result.stdout[-6000:])
    words = result.stdout.rstrip().splitlines()[-1].replace(",", "").split()
    if len(words) != 4 or words[1::2] != ["passed", "failed"]:
        raise PartFailed("mutate.py: " + result.stdout[-3000:])
    if result.returncode != 0:
        failed("mutate.py", result.stdout, 20)
    return Counts(int(words[0]), int(words[2]), 0)


def part_reproducible():
    """the release built once more, from a copy at another path: the same bytes"""
    return pytest("tests/reproducible", "release")


def part_install():
    """what `ninja install` puts where, and the tarball of a release"""
    return pytest(["tests/packages/test_install.py", "tests/packages/test_release.py"], "release")


def part_packages():
    """the Debian packages, installed, upgraded, removed and purged in a root of their own"""
    if os.geteuid() != 0:
        say("  skipped: a root of its own needs root here")
        return Counts(0, 0, 1)
    return pytest("tests/packages/test_packages.py")


def part_container():
    """the Dockerfile, built without a daemon, and its result started"""
    if os.geteuid() != 0:
        say("  skipped: building an image without a daemon needs root here")
        return Counts(0, 0, 1)
    return pytest("tests/container")


# name, function, what it builds on, cores it keeps busy, only in the long run, niceness
# In this order they start, each as soon as it may. What keeps all cores busy waits until they are free, so builds come early.
PARTS = [Part(*row) for row in [
    ("format", part_format, [], CORES, False, LOW),
    ("api", part_api, ["sanitize"], 0, False, NORMAL),
    ("threads", part_threads, ["threads"], 0, False, NORMAL),
    ("contract", part_contract, ["release"], 1, False, LOW),
    ("house", part_house, ["release"], CORES, False, LOWEST),
    ("fault", part_fault, ["sanitize"], 0, False, NORMAL),
    ("cli", part_cli, ["sanitize", "release"], 0, False, NORMAL),
    ("kubernetes", part_kubernetes, ["release"], 1, False, LOW),
    ("release", part_release, ["release"], 0, False, NORMAL),
    ("unit", part_unit, ["release"], CORES, False, LOW),
    ("golden", part_golden, ["release"], CORES, False, LOWEST),
    ("vectors", part_vectors, ["release"], 1, False, LOW),
    ("db", part_db, ["release"], 1, False, LOW),
    ("store", part_store, ["release"], 1, False, LOW),
    ("walk", part_walk, ["release"], 1, False, LOW),
    ("interop", part_interop, ["release"], 1, False, LOW),
    ("orchestrators", part_orchestrators, ["release"], 1, False, LOW),
    ("python", part_python, ["release"], 1, False, LOW),
    ("notebooks", part_notebooks, ["release"], 1, False, LOW),
    ("site", part_site, ["release"], 1, False, LOW),
    ("sanitize", part_sanitize, ["sanitize"], CORES, False, LOW),
    ("install", part_install, ["release"], 1, False, LOW),
    ("packages", part_packages, [], CORES, True, LOW),
    ("tidy", part_tidy, ["sanitize"], CORES, False, LOWEST),
    ("load", part_load, ["release"], CORES, False, NORMAL),
    ("fuzz", part_fuzz, ["fuzz"], CORES, True, LOW),
    ("previous", part_previous, ["release"], CORES, True, LOW),
    ("release-all", part_release_all, ["release"], 0, True, NORMAL),
    ("load-all", part_load_all, ["release"], CORES, True, NORMAL),
    ("adversary", part_adversary, ["sanitize", "threads"], 0, True, NORMAL),
    ("sanitize-all", part_sanitize_all, ["sanitize"], CORES, True, LOW),
    ("tidy-all", part_tidy_all, ["sanitize"], CORES, True, LOWEST),
    ("walk-all", part_walk_all, [], 1, True, LOW),
    ("mutation", part_mutation, [], CORES, True, LOWEST),
    ("reproducible", part_reproducible, ["release"], CORES, True, LOWEST),
    ("container", part_container, [], 1, True, LOW),
]]


# --- running them ----------------------------------------------------------------------------------


class Job:
    """A build or a part on its way. needs: names of jobs that must have ended before."""

    def __init__(self, name, title, work, needs, cores, niceness):
        self.name, self.title, self.work, self.needs, self.cores, self.niceness = name, title, work, needs, cores, niceness
        self.counts = self.failures = self.thread = None
        self.good = False
        self.seconds = self.processor = 0.0

    def run(self):
        here.lines, here.failures, here.processor = [], [], []
        here.niceness = self.niceness
        began = time.monotonic()
        try:
            self.counts = self.work() or Counts(0, 0, 0)
            self.good = True
        except Exception as e:  # whatever it is, the other parts go on
            say("  %s: %s" % (type(e).__name__, e))
            failed("the part did not run to its end", str(e))
            self.counts = Counts(0, 1, 0)
        self.failures = [(self.name, what, report) for what, report in here.failures]
        self.seconds, self.processor = time.monotonic() - began, sum(here.processor)
        show("\n".join(["==> %s: %s" % (self.name, self.title), *(l for l in here.lines if l), "    " + self.summary()]))

    def summary(self):
        return "%-14s %5d passed %3d failed %3d skipped %6.0f s, %4.0f of the processor" % (self.name, *self.counts, self.seconds, self.processor)


def jobs_of(parts):
    """The builds and parts in the order in which they should start."""
    jobs = {}
    for part in parts:
        for kind in part.builds:
            name = BUILDS[kind][0]
            if name not in jobs:
                jobs[name] = Job(name, "compile and link", lambda kind=kind: build(kind), [], CORES, LOWEST)
        jobs[part.name] = Job(part.name, part.run.__doc__, part.run, [BUILDS[kind][0] for kind in part.builds], part.cores,
                              part.niceness)
    return jobs


def run_jobs(jobs):
    """All of them. One by the clock at a time; the others as the cores allow, in their order."""
    waiting, running = list(jobs.values()), []
    changed = threading.Condition()

    def work(job):
        job.run()
        with changed:
            running.remove(job)
            changed.notify()

    def may_start(job):
        if any(jobs[need].counts is None or jobs[need] in running for need in job.needs):
            return False
        if job.niceness == NORMAL:
            return not any(other.niceness == NORMAL for other in running)
        return job.cores <= CORES - sum(other.cores for other in running)

    with changed:
        while waiting or running:
            for job in list(waiting):
                if may_start(job):
                    waiting.remove(job)
                    if not all(jobs[need].good for need in job.needs):
                        job.counts, job.failures = Counts(0, 1, 0), [(job.name, "did not run: its build failed", [])]
                        continue
                    running.append(job)
                    job.thread = threading.Thread(target=work, args=(job,), daemon=True)
                    job.thread.start()
            if running:
                changed.wait()


SUMMARY_LINES_MAX = 110


def repeat_failures(found):
    """What failed, part by part, in as many lines as the end of a log may be expected to keep."""
    lines = []
    for part, what, report in found:
        lines.append("FAILED %s: %s" % (part, what))
        lines += ["    " + line for line in report]
    if len(lines) > SUMMARY_LINES_MAX:  # the names at least
        lines = ["FAILED %s: %s" % (part, what) for part, what, _ in found]
    show("")
    show("\n".join(lines[:SUMMARY_LINES_MAX]))
    if len(lines) > SUMMARY_LINES_MAX:
        show("... and %d more" % (len(lines) - SUMMARY_LINES_MAX))


def main():
    names = [part.name for part in PARTS]
    parser = argparse.ArgumentParser(prog="./check", description="Build and run the tests.")
    parser.add_argument("--list", action="store_true", help="list the parts and stop")
    parser.add_argument("--long", action="store_true", help="all parts, with those that take long")
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts to run: " + ", ".join(names))
    wanted = parser.parse_args()
    if wanted.list:
        for part in PARTS:
            print("%-13s %s%s" % (part.name, part.run.__doc__, " (--long, or when named)" if part.long else ""))
        return 0
    unknown = [n for n in wanted.names if n not in names]
    if unknown:
        parser.error("no part named %s; there are: %s" % (", ".join(unknown), ", ".join(names)))
    began = time.monotonic()
    jobs = jobs_of([p for p in PARTS if (p.name in wanted.names if wanted.names else wanted.long or not p.long)])
    with tempfile.TemporaryDirectory(prefix="provisor-check-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)  # as PostgreSQL's user has to pass
        os.environ[TEMPLATE_FOLDER] = folder
        try:
            run_jobs(jobs)
        finally:
            templates.close()
    show("")
    show("\n".join(job.summary() for job in jobs.values()))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    show("%.1f minutes, %.1f of the processor" % ((time.monotonic() - began) / 60, (used.ru_utime + used.ru_stime) / 60))
    found = [failure for job in jobs.values() for failure in job.failures]
    if found:
        repeat_failures(found)
    total = add(*(job.counts for job in jobs.values()))
    show("%d passed, %d failed, %d skipped" % total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
