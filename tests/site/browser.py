"""A headless Chromium, driven over a pipe with its DevTools protocol: pages at a given width, and scripts in them."""
import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium-headless-shell", "chromium")
WAIT_S = 60  # for one reply of a browser on a machine that is busy
FLAGS = ["--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
         "--force-device-scale-factor=1", "--disable-background-networking", "--disable-component-update"]


class Browser:
    """One browser with one page. Use it in a `with` statement."""

    def __enter__(self):
        program = next(path for path in map(shutil.which, PROGRAMS) if path)
        self.profile = tempfile.TemporaryDirectory(prefix="provisor-browser-", ignore_cleanup_errors=True)
        their_in, self.commands = os.pipe()
        self.replies, their_out = os.pipe()

        def connect():
            """The protocol's pipe is file descriptors 3 and 4."""
            first, second = os.dup(their_in), os.dup(their_out)
            os.dup2(first, 3)
            os.dup2(second, 4)

        words = [program, *FLAGS, "--user-data-dir=" + self.profile.name, "about:blank"]
        self.process = subprocess.Popen(words, close_fds=False, preexec_fn=connect, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(their_in)
        os.close(their_out)
        self.number, self.buffer, self.session = 0, b"", None
        page = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        self.call("Page.enable")
        return self

    def __exit__(self, *_):
        os.close(self.commands)
        self.process.terminate()
        self.process.wait(timeout=WAIT_S)
        os.close(self.replies)
        self.profile.cleanup()

    def call(self, method, **parameters):
        """The result of one command."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            reply = self.read()
            if reply.get("id") == self.number:
                assert "error" not in reply, (method, reply["error"])
                return reply["result"]
        raise TimeoutError(method)

    def read(self):
        while b"\0" not in self.buffer:
            part = os.read(self.replies, 1 << 16)
            if not part:
                raise EOFError("the browser has ended")
            self.buffer += part
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def open(self, url):
        """Open a page and wait until it and what it loads is there."""
        self.call("Page.navigate", url=url)
        self.run("new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', done))")
        assert self.run("location.href").startswith(url.partition("#")[0]), url

    def run(self, script):
        """The value of an expression; a promise is awaited."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    @contextlib.contextmanager
    def before_pages(self, script):
        """Run the script in each page that is opened meanwhile, before the page's own."""
        number = self.call("Page.addScriptToEvaluateOnNewDocument", source=script)["identifier"]
        yield
        self.call("Page.removeScriptToEvaluateOnNewDocument", identifier=number)

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
