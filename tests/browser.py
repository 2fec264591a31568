"""A browser without a window, driven through two pipes; no driver program is needed."""

import json
import os
import select
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run", "--remote-debugging-pipe",
)  # fmt: skip

BEGIN = """
import fcntl, os, sys
for place, pipe in enumerate([fcntl.fcntl(int(pipe), fcntl.F_DUPFD, 10) for pipe in sys.argv[1:3]], 3):
    os.dup2(pipe, place)  # where the browser looks for them
os.execv(sys.argv[3], sys.argv[3:])
"""


def find_browser():
    """The path of a browser of the Chromium family; None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """The pipes to a running browser, and every address that its page asked for."""

    def __init__(self, to, back):
        self.to, self.back, self.rest, self.number = to, back, b"", 0
        self.session, self.asked = None, []

    def read(self, deadline):
        """The next message."""
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.back], [], [], max(0, deadline - time.monotonic()))
            assert ready, "the browser does not answer"
            piece = os.read(self.back, 1 << 16)
            assert piece, "the browser has ended"
            self.rest += piece
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def call(self, method, **params):
        """Ask for something; the answer."""
        self.number += 1
        asked = {"id": self.number, "method": method, "params": params}
        if self.session is not None:
            asked["sessionId"] = self.session
        os.write(self.to, json.dumps(asked).encode() + b"\0")
        deadline = time.monotonic() + 30
        while True:
            message = self.read(deadline)
            if message.get("method") == "Network.requestWillBeSent":
                self.asked.append(message["params"]["request"]["url"])
            if message.get("id") == self.number:
                assert "error" not in message, message
                return message["result"]

    def run(self, script):
        """The value of an expression in the page."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, userGesture=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, script, seconds=30):
        """The value of an expression as soon as it is true."""
        deadline = time.monotonic() + seconds
        while not (value := self.run(script)):
            assert time.monotonic() < deadline, (
                f"this did not come true: {script}\n{self.run('document.body.innerText')}"
            )
            time.sleep(0.1)
        return value


@contextmanager
def open_page(url, profile):
    """A browser that shows a page; `profile` is an empty folder for its files."""
    child_in, to = os.pipe()
    back, child_out = os.pipe()
    program = [find_browser(), *FLAGS, f"--user-data-dir={profile}"]
    begin = [sys.executable, "-c", BEGIN, str(child_in), str(child_out), *program]
    with subprocess.Popen(begin, pass_fds=(child_in, child_out), stderr=subprocess.DEVNULL) as process:
        os.close(child_in)
        os.close(child_out)
        browser = Browser(to, back)
        try:
            target = browser.call("Target.createTarget", url="about:blank")["targetId"]
            browser.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            browser.call("Network.enable")
            browser.call("Page.navigate", url=url)
            yield browser
        finally:
            process.terminate()
            process.wait(30)
            os.close(to)
            os.close(back)
