"""Chromium without a window, driven over its own protocol: no package is needed for it."""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import AsyncHTTPClient
from tornado.websocket import WebSocketClientConnection, websocket_connect

from helpers.hang import HANG

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--remote-debugging-port=0"),
    *("--remote-debugging-address=127.0.0.1", "about:blank"),
)


def chromium() -> str:
    """The browser's command; a test that needs it skips without."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    return found


class BrowserPage:
    """A page, and what went wrong in it.

    Attributes
    ----------
    errors : of its console, of its scripts, and what could not be loaded
    """

    def __init__(self, socket: WebSocketClientConnection) -> None:
        self.socket, self.number, self.errors = socket, 0, list[str]()

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the protocol; return its result."""
        self.number += 1
        await self.socket.write_message(
            json.dumps({"id": self.number, "method": method, "params": params})
        )
        while True:
            message = await asyncio.wait_for(self.socket.read_message(), HANG)
            assert message is not None, "the browser has gone"
            heard = json.loads(message)
            if heard.get("id") == self.number:
                assert "error" not in heard, heard
                return heard["result"]
            self._note(heard.get("method"), heard.get("params", {}))

    def _note(self, method: str, params: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.errors.append(params["exceptionDetails"]["text"])
        if method == "Runtime.consoleAPICalled" and params["type"] == "error":
            self.errors.append(str(params["args"]))
        if method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")

    async def open(self, url: str, width: int = 1280, height: int = 900) -> None:
        """Go to an address."""
        await self.call("Runtime.enable")
        await self.call("Page.enable")
        await self.call("Log.enable")
        await self.size(width, height)
        await self.call("Page.navigate", url=url)

    async def size(self, width: int, height: int) -> None:
        """Be so large."""
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    async def scheme(self, name: str) -> None:
        """Be "light" or "dark"."""
        feature = {"name": "prefers-color-scheme", "value": name}
        await self.call("Emulation.setEmulatedMedia", features=[feature])

    async def value(self, script: str) -> Any:
        """Return what an expression is in the page."""
        found = await self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    async def until(self, script: str) -> Any:
        """Return the value of an expression as soon as it is true."""
        ends = asyncio.get_running_loop().time() + HANG
        while not (found := await self.value(script)):
            assert asyncio.get_running_loop().time() < ends, (script, self.errors)
            await asyncio.sleep(0.1)
        return found

    async def picture(self, path: Path, whole: bool = True) -> None:
        """Write what is seen as a PNG."""
        got = await self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(got["data"]))


@asynccontextmanager
async def page() -> AsyncIterator[BrowserPage]:
    """A page of a browser that is gone at the end."""
    folder = Path(tempfile.mkdtemp(prefix="gangsaw-chromium-"))
    process = subprocess.Popen(
        [chromium(), f"--user-data-dir={folder}", *FLAGS],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        port = await _port(folder / "DevToolsActivePort", process)
        pages = await AsyncHTTPClient().fetch(f"http://127.0.0.1:{port}/json")
        url = next(p for p in json.loads(pages.body) if p["type"] == "page")["webSocketDebuggerUrl"]
        socket = await websocket_connect(url, max_message_size=1 << 28)
        yield BrowserPage(socket)
        socket.close()
    finally:
        process.terminate()
        process.wait(HANG)
        shutil.rmtree(folder, ignore_errors=True)


async def _port(file: Path, process: subprocess.Popen[bytes]) -> int:
    async with asyncio.timeout(HANG):
        while not (file.exists() and (lines := file.read_text().split())):
            assert process.poll() is None, "the browser did not start"
            await asyncio.sleep(0.1)
    return int(lines[0])


def visited(visit: Callable[[BrowserPage], Awaitable[None]]) -> None:
    """Let a function look at a page."""

    async def go() -> None:
        async with page() as one:
            await visit(one)

    asyncio.run(go())
