"""Long-running operations: awaited by their streams of events, which are resumed after a cut."""
import json
import threading
import time

import pytest

import provisor
from stub import JSON, problem, stub
from test_connections import Gate, gate  # noqa: F401

ID = "01a1fe22-0f10-77d6-90cd-a8090c9280f2"


def event(number, status, done, total=10, **more):
    data = {"id": ID, "kind": "refit", "application": "a", "status": status, "cancelling": False, "attempt": 1,
            "progress": {"done": done, "total": total, "unit": "resamples"}, "at": "2026-11-21T12:43:27.480000Z", **more}
    return "id: %d\nevent: progress\ndata: %s\n\n" % (number, json.dumps(data))


def stream(text, whole=True):
    """Events; not whole: the connection ends before the stream does."""
    def answer(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        body = text.encode()
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(body), body) + (b"0\r\n\r\n" if whole else b""))
        handler.wfile.flush()
        handler.close_connection = not whole

    return answer


def ended(status, **more):
    return 200, JSON, json.dumps({"id": ID, "kind": "refit", "status": status, "error": None, "result": None, **more})


def asked(server):
    return [headers.get("Last-Event-ID") for _, path, headers, _ in server.requests if path.endswith("/events")]


def test_a_stream_that_is_cut_is_gone_on_with(hasty, capsys):
    with stub(stream("retry: 700\n\n" + event(1, "queued", 0) + event(2, "running", 3), whole=False), problem(503, "away", **{"Retry-After": "1"}),
              stream(event(3, "running", 7) + ": still here\n\n" + event(4, "running", 9)[:40], whole=False),
              stream(event(4, "running", 9) + event(5, "succeeded", 10)), ended("succeeded")) as server:
        client = hasty(server.url)
        operation = client.wait(ID, progress=True)
    assert operation.ended and asked(server) == [None, "2", "2", "3"] and client.waits[0] == 0.7
    assert "10 of 10 resamples" in capsys.readouterr().err


def test_events_come_once_each(hasty):
    with stub(stream(event(1, "queued", 0), whole=False), stream(event(2, "running", 5)), stream(event(3, "succeeded", 10))) as server:
        events = list(hasty(server.url).operation_events(ID))
        assert [(e.status, e.progress.done) for e in events] == [("queued", 0), ("running", 5), ("succeeded", 10)]
        assert asked(server) == [None, "1", "2"]
    with stub((204, {}, "")) as server:
        assert list(hasty(server.url).operation_events(ID, last_event_id=17)) == [] and asked(server) == ["17"]


def test_a_stream_that_brings_nothing_is_given_up(hasty):
    with stub(stream("", whole=False)) as server:
        with pytest.raises(provisor.ConnectionFailed):
            hasty(server.url, retries=2).wait(ID)
        assert len(asked(server)) == 3


def test_streams_that_stand_for_a_while_may_bring_nothing(hasty, monkeypatch):
    """Work that waits for its turn has no events, and no proxy leaves a connection open for hours."""
    monkeypatch.setattr("provisor.events.SOUND_S", -1)
    with stub(*[stream(": still here\n\n", whole=False)] * 8, stream(event(1, "succeeded", 10)), ended("succeeded")) as server:
        assert hasty(server.url, retries=2).wait(ID).ended
    assert len(asked(server)) == 9


def test_a_stream_may_be_silent_for_longer_than_the_timeout(hasty):
    def slow(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        time.sleep(1)
        handler.wfile.write(event(1, "succeeded", 10).encode())
        handler.close_connection = True

    with stub(slow, ended("succeeded")) as server:
        assert hasty(server.url, timeout=0.3).wait(ID).ended
    assert len(asked(server)) == 1


def test_failures_are_raised_with_the_operation(hasty):
    failed = ended("failed", error={"type": "/problems/internal", "title": "x", "status": 500, "detail": "out of memory"})
    with stub(stream(event(1, "failed", 3)), failed) as server:
        with pytest.raises(provisor.OperationFailed, match="refit .* failed: out of memory") as raised:
            hasty(server.url).wait(ID)
    assert raised.value.operation.error.detail == "out of memory"
    with stub(problem(404, "no operation")) as server:
        with pytest.raises(provisor.NotFound):
            hasty(server.url).wait(ID)


@pytest.fixture
def fitted(client, name):
    client.create_app(name)
    for size, executors in [(n, m) for n in (8, 16, 32) for m in (1, 2, 4, 8)]:
        client.record_run(name, problem_size=size, executors=executors, cores_per_executor=4, duration_s=5 + 3 * size / executors + executors / 2)
    return name


def test_real_work_is_awaited_while_connections_are_cut(gate, service, fitted):  # noqa: F811
    told = []
    with provisor.Client(gate.url, service.alpha_token) as client:
        operation = client.refit(fitted, resamples=20000)
        stop = threading.Event()

        def cut():
            while not stop.wait(0.7):
                gate.cut()

        cutter = threading.Thread(target=cut)
        cutter.start()
        try:
            client._transport.sleep = lambda seconds: time.sleep(min(seconds, 0.1))
            done = client.wait(operation, progress=lambda done, total: told.append(done))
        finally:
            stop.set()
            cutter.join()
    assert done.status == "succeeded" and told == sorted(told) and len(told) > 2


def test_waiting_ends_with_its_time(client, fitted):
    operation = client.refit(fitted, resamples=100000)
    begin = time.monotonic()
    with pytest.raises(TimeoutError, match="refit %s is still (queued|running)" % operation.id):
        client.wait(operation, timeout=0.5)
    assert 0.4 < time.monotonic() - begin < 4
    assert client.cancel_operation(operation.id, wait_s=20).ended
