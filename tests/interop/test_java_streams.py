"""Streams written by a JVM with the real lz4-java, snappy-java and compress-lzf, set up as Spark sets them up, read by
our decoders (tests/support/recode.c). WriteStreams.java is compiled here."""
import os
import pathlib
import random
import shutil
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("PROVISOR_BUILD", HERE.parents[1] / "build")).resolve()
RECODE = BUILD / "tests" / "support" / "recode"
JARS = [pathlib.Path("/usr/share/java") / name for name in ("lz4-java.jar", "snappy-java.jar", "compress-lzf.jar")]
CLASS_PATH = ":".join(map(str, JARS))

# what the writer's name begins with: (kind, is a stream that was never closed unfinished)
KINDS = {"lz4-": ("lz4", True), "lz4frame": ("lz4 frame", True), "snappy-": ("snappy", False),
         "snappyframed": ("snappy framed", False), "lzf": ("lzf", False), "gzip": ("gzip", True)}
# writers whose flush hands on only whole blocks, as Spark's lz4 does
LAZY = ("lz4-32k", "lz4-64", "lz4-high-1m", "lz4-default", "gzip")


def log_lines(n):
    """Lines that look like a log's: long, alike, with numbers that differ."""
    draw = random.Random(4)
    return b"".join(b'{"Event":"SparkListenerTaskEnd","Stage ID":%d,"Task Info":{"Task ID":%d,"Launch Time":%d,'
                    b'"Executor ID":"%d","Host":"worker-%d","Locality":"ANY"}}\n'
                    % (i // 200, i, 1700000000000 + draw.randrange(10 ** 7), i % 13, i % 7) for i in range(n))


INPUTS = {
    "lines": log_lines(4000),
    "noise": random.Random(5).randbytes(300000),
    "zeros": bytes(3000000),
    "byte": b"{",
    "nothing": b"",
}


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    missing = [str(jar) for jar in JARS if not jar.is_file()]
    if not shutil.which("javac") or missing:
        pytest.skip("no javac, or no " + ", ".join(missing or ["jars"]))
    directory = tmp_path_factory.mktemp("classes")
    subprocess.run(["javac", "-Xlint:all", "-Werror", "-cp", CLASS_PATH, "-d", directory, HERE / "WriteStreams.java"],
                   check=True)
    return directory


@pytest.fixture(scope="module", params=sorted(INPUTS))
def streams(request, classes, tmp_path_factory):
    """(plain bytes, the files made of them)"""
    directory = tmp_path_factory.mktemp(request.param)
    plain = tmp_path_factory.mktemp("plain") / "plain"
    plain.write_bytes(INPUTS[request.param])
    subprocess.run(["java", "-XX:TieredStopAtLevel=1", "-cp", "%s:%s" % (CLASS_PATH, classes), "WriteStreams", plain,
                    directory], check=True)
    files = sorted(directory.iterdir())
    assert len(files) == 3 * 12
    return INPUTS[request.param], files


def read(coded):
    """(plain bytes, kind, "whole" or "truncated")"""
    done = subprocess.run([RECODE, "plain"], input=coded, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr
    return (done.stdout, *done.stderr.decode().strip().split(", "))


def kind_of(path):
    return next(v for k, v in KINDS.items() if path.name.startswith(k))


def test_what_java_wrote_is_read(streams):
    plain, files = streams
    for path in files:
        if path.suffix != ".open":
            got, kind, state = read(path.read_bytes())
            assert got == plain, path.name
            # A writer that was given nothing may write nothing at all.
            assert (kind, state) == (kind_of(path)[0], "whole") or path.stat().st_size == 0, path.name


def test_what_was_flushed_and_never_closed_is_read(streams):
    plain, files = streams
    for path in files:
        if path.suffix == ".open" and path.stat().st_size > 0:
            got, kind, state = read(path.read_bytes())
            expected, unfinished = kind_of(path)
            assert (kind, state) == (expected, "truncated" if unfinished else "whole"), path.name
            assert plain.startswith(got) if path.stem in LAZY else got == plain, path.name


def test_what_is_cut_anywhere_is_a_beginning(streams):
    plain, files = streams
    draw = random.Random(6)
    for path in files:
        coded = path.read_bytes()
        for at in sorted(draw.randrange(8, len(coded)) for _ in range(4) if len(coded) > 8):
            got, kind, state = read(coded[:at])
            assert kind == kind_of(path)[0] and plain.startswith(got), path.name


def test_java_reads_what_our_tests_encode(classes, tmp_path):
    """The encoders of tests/support, which other tests rest on, against the readers of the JVM."""
    plain = INPUTS["lines"] + INPUTS["noise"]
    for kind in ("lz4", "lz4 frame", "snappy", "snappy framed", "lzf"):
        for block in ("1000", "30000", "60000"):
            coded = tmp_path / ("%s %s" % (kind, block))
            coded.write_bytes(subprocess.run([RECODE, kind, block], input=plain, stdout=subprocess.PIPE,
                                             check=True).stdout)
    subprocess.run(["java", "-XX:TieredStopAtLevel=1", "-cp", "%s:%s" % (CLASS_PATH, classes), "WriteStreams", "--read",
                    tmp_path], check=True)
    read_back = sorted(tmp_path.glob("*.plain"))
    assert len(read_back) == 15
    assert [p.name for p in read_back if p.read_bytes() != plain] == []
