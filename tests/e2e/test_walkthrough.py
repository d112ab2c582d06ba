"""The README's walk-through, line by line, as a newcomer would: every block must do what it says."""
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))
from ports import free_port  # noqa: E402


def blocks():
    text = (ROOT / "README.md").read_text()
    return re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A port and a data directory of our own in place of the README's."""
    folder = tmp_path_factory.mktemp("walk")
    for parent in (folder, *folder.parents):
        if str(parent).startswith("/tmp/") and parent.stat().st_uid == os.getuid():
            parent.chmod(0o755)
    yield folder, free_port()
    subprocess.run([ROOT / "run", "--stop", "--data-dir", folder / "var"], stdout=subprocess.DEVNULL)


def test_the_walk_through_works_as_printed(place):
    folder, port = place
    script = ["set -euo pipefail"]
    for number, block in enumerate(blocks()):
        block = block.replace("8080", str(port)).replace("--data-dir var", "--data-dir %s/var" % folder)
        block = re.sub(r"(?<![\w/$])var/|\$PWD/var/", "%s/var/" % folder, block)
        # -f would hide the body of the one request that is wrong on purpose.
        block = re.sub(r"\bcurl -sS\b", "curl -sS -w '\\\\n<%{http_code}>\\\\n'", block)
        script.append("echo '<block %d>'\n%s" % (number, block))
    result = subprocess.run(["bash", "-c", "\n".join(script)], cwd=ROOT, text=True, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900)
    assert result.returncode == 0, result.stdout[-6000:]
    statuses = [int(s) for s in re.findall(r"^<(\d{3})>$", result.stdout, re.M)]
    assert len(statuses) == len(re.findall(r"^(?:ask|curl) ", "\n".join(blocks()), re.M))
    wrong = [s for s in statuses if not 200 <= s < 300]
    assert wrong == [422], "only the request that is wrong on purpose may fail: %s\n%s" % (statuses, result.stdout[-8000:])
    replies = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    assert any("recommendation" in r and r["feasible"] for r in replies)
    assert any("remedies" in r and "jobs" in r for r in replies)
    assert any(r.get("errors", [{}])[0].get("pointer") == "/deadline" for r in replies if r.get("status") == 422)
