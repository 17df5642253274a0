#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""browser.py: opens a page in headless Chromium, evaluates expressions and takes screenshots.

A command is a line on standard input:
    open FILE
    size WIDTH HEIGHT
    scheme light|dark
    do EXPRESSION       evaluates it
    eval EXPRESSION     prints its value
    key KEY             presses a key: a letter, Enter, Escape, Tab or an arrow
    shot FILE.png       takes a screenshot
    complaints          prints errors of the page since it was opened
"""
import base64, json, os, subprocess, sys, tempfile

KEYS = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9}


class Browser:
    """Speaks the DevTools protocol over a pair of pipes: JSON, each ended by a 0 byte."""

    def __init__(self, folder):
        to_read, self.to = os.pipe()
        self.source, to_write = os.pipe()
        os.set_inheritable(to_read, True)
        os.set_inheritable(to_write, True)
        # Chromium reads descriptor 3 and writes to descriptor 4.
        self.process = subprocess.Popen(
            ["sh", "-c", 'exec chromium "$@" 3<&%d 4>&%d' % (to_read, to_write), "sh", "--headless", "--no-sandbox",
             "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage", "--user-data-dir=" + folder,
             "--remote-debugging-pipe", "about:blank"],
            close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.rest, self.number, self.session, self.seen = b"", 0, None, []
        pages = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self.session = self.call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def read(self):
        while b"\0" not in self.rest:
            part = os.read(self.source, 1 << 16)
            if not part:
                sys.exit("chromium has ended")
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit("%s: %s" % (method, answer["error"]["message"]))
                return answer["result"]
            self.seen.append(answer)

    def wait_for(self, method):
        while not any(message.get("method") == method for message in self.seen):
            self.seen.append(self.read())

    def complaints(self):
        """Exceptions of the script, what the policy refused, and requests other than the page's."""
        for message in self.seen:
            method, parameters = message.get("method"), message.get("params", {})
            if method == "Runtime.exceptionThrown":
                yield parameters["exceptionDetails"].get("exception", {}).get("description", "exception")
            elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
                yield parameters["entry"]["text"]
            elif method == "Network.requestWillBeSent" and not parameters["documentURL"] == parameters["request"]["url"]:
                yield "request of " + parameters["request"]["url"]


def run(browser, line):
    word, _, rest = line.partition(" ")
    if word == "open":
        browser.seen.clear()
        browser.call("Page.navigate", url="file://" + os.path.abspath(rest))
        browser.wait_for("Page.loadEventFired")
    elif word == "size":
        width, height = rest.split()
        browser.call("Emulation.setDeviceMetricsOverride", width=int(width), height=int(height), deviceScaleFactor=1,
                     mobile=int(width) < 600)
    elif word == "scheme":
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": rest}])
    elif word in ("do", "eval"):
        result = browser.call("Runtime.evaluate", expression=rest, returnByValue=True)
        if "exceptionDetails" in result:
            print("exception:", result["exceptionDetails"].get("exception", {}).get("description"))
        elif word == "eval":
            value = result["result"].get("value")
            print(value if isinstance(value, str) else json.dumps(value))
    elif word == "key":
        text = {"text": rest} if len(rest) == 1 else {"text": "\r"} if rest == "Enter" else {}
        code = KEYS.get(rest, ord(rest[0].upper()))
        for kind in ("keyDown", "keyUp"):
            browser.call("Input.dispatchKeyEvent", type=kind, key=rest, windowsVirtualKeyCode=code,
                         **(text if kind == "keyDown" else {}))
    elif word == "shot":
        picture = browser.call("Page.captureScreenshot", format="png")
        with open(rest, "wb") as file:
            file.write(base64.b64decode(picture["data"]))
    elif word == "complaints":
        for text in browser.complaints():
            print(text)
    else:
        sys.exit("no command " + word)
    sys.stdout.flush()


with tempfile.TemporaryDirectory() as folder:
    browser = Browser(folder)
    try:
        for line in sys.stdin:
            run(browser, line.rstrip("\n"))
    finally:
        browser.process.terminate()
        browser.process.wait()
