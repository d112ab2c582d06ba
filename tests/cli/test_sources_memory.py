"""Sources that run out of memory, at each of their allocations: it is said, and given back."""
import json
import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).parent / "sources"))
from origin import Answer, serving  # noqa: E402
from s3_stub import CREDENTIALS, Bucket, error  # noqa: E402
from support import PATIENCE, PROGRAM  # noqa: E402

LOG = bytes(range(256)) * 2000


def short_of_memory(*words, **env):
    result = subprocess.run([PROGRAM.with_name("short_of_memory"), *words], env={"PATH": "/usr/bin", **env}, timeout=PATIENCE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 0 and not result.stderr, (result.stdout, result.stderr[-3000:])
    assert int(result.stdout) > 10


def test_s3(tmp_path):
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text("[work]\naws_access_key_id = %(AWS_ACCESS_KEY_ID)s\n"
                                                   "aws_secret_access_key = %(AWS_SECRET_ACCESS_KEY)s\n" % CREDENTIALS)
    bucket = Bucket({"log": LOG, "folder/log 2": b"x"})

    def again(_, usual):
        usual.cut_after = 300_000
        return usual

    bucket.fail("log", again, None, error(503, "SlowDown"), None, forever=True)
    with serving(bucket) as origin:
        short_of_memory("s3://logs/", origin.url, HOME=str(tmp_path), AWS_PROFILE="work")


def test_a_history_server():
    def answer(request):
        if request.path.endswith("logs"):
            return Answer(200, b"PK" + LOG)
        return Answer(200, json.dumps([{"id": "app-1", "attempts": [{"attemptId": "1", "completed": True, "lastUpdatedEpoch": 5}]}]).encode())

    with serving(answer) as origin:
        short_of_memory(origin.url)


def test_hdfs():
    status = {"type": "FILE", "length": len(LOG), "modificationTime": 1767607200123}

    def answer(request):
        operation = request.parameters["op"]
        if operation == "LISTSTATUS":
            below = [{**status, "pathSuffix": "log"}] + [{"pathSuffix": "x", "type": "DIRECTORY", "length": 0}] * (request.path.count("x") == 0)
            return Answer(200, json.dumps({"FileStatuses": {"FileStatus": below}}).encode())
        return Answer(200, LOG) if operation == "OPEN" else Answer(200, json.dumps({"FileStatus": status}).encode())

    with serving(answer) as origin:
        short_of_memory("webhdfs://127.0.0.1:%d/logs" % origin.port, HADOOP_USER_NAME="ann")
