"""How long a test waits for what must come, and what a build with sanitizers may take longer.

A wait ends as soon as what it waits for is there, so PATIENCE costs only where the test fails; on a machine that is
busy with other things it keeps a slow reply from counting as a wrong one. SLOWDOWN widens bounds on the time that
something takes: they are meant for the release build.
"""
import os
import pathlib
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("PROVISOR_BUILD", ROOT / "build")).resolve()
PATIENCE = 120


def wait_until(holds, what="waited in vain", seconds=PATIENCE):
    """Returns when holds() is true; where it never is, fails with what: a text, or a function that gives the evidence."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, what() if callable(what) else what
        time.sleep(0.02)


def is_sanitized(program=BUILD / "service" / "provisord"):
    content = program.read_bytes() if program.is_file() else b""
    return b"__asan_init" in content or b"__tsan_init" in content


SLOWDOWN = 4 if is_sanitized() else 1
