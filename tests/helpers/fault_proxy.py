"""An S3 server (moto) behind a proxy that delays, fails and damages; a process of its own.

    python fault_proxy.py     prints the port of the proxy, and ends when its input is closed

`PUT /__faults` with JSON {kind: share of the requests} sets what goes wrong, `"ms"` the delay of
every request, `"seed"` the chances, `"bare"` sends no checksums, `"methods"` spares others,
`"after"` all until so many chunks were asked for; `GET /__counts` returns what happened since.
"""

from __future__ import annotations

import asyncio
import logging
import random
import sys
from collections import Counter
from contextlib import nullcontext
from typing import Any

from aiohttp import ClientSession, ClientTimeout, TCPConnector, web
from moto.moto_server.threaded_moto_server import ThreadedMotoServer
from yarl import URL

KINDS = ("500", "503", "reset", "lost", "truncated", "flipped", "late")
LATE_SECONDS = 0.3
OWN = {"host", "content-length", "transfer-encoding", "connection", "expect"}
OWN_REPLY = {"transfer-encoding", "connection", "content-length", "date", "server"}
CODES = {"500": "InternalError", "503": "SlowDown"}


class Proxy:
    """Passes requests on, some of them not."""

    def __init__(self, upstream: str) -> None:
        self.upstream, self.flying = upstream, 0
        self.set({})

    def set(self, faults: dict[str, Any]) -> None:
        self.seconds = faults.pop("ms", 0) / 1000
        self.chance = random.Random(faults.pop("seed", 1))
        self.bare = faults.pop("bare", False)
        self.condition = faults.pop("condition", "")  # of a PUT: "refused" or "ignored"
        self.methods = faults.pop("methods", "GET PUT HEAD POST DELETE").split()
        self.spared = faults.pop("after", 0)
        self.shares = {kind: faults.get(kind, 0.0) for kind in KINDS}
        self.counts: Counter[str] = Counter()

    def fault(self, method: str, path: str) -> str:
        if method not in self.methods:
            return ""
        if self.spared:
            self.spared -= "/c/" in path
            return ""
        value = self.chance.random()
        for kind, share in self.shares.items():
            if value < share:
                return kind
            value -= share
        return ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/__faults":
            self.set(await request.json())
            return web.json_response({})
        if request.path == "/__counts":
            return web.json_response(self.counts)
        fault = self.fault(request.method, request.path)
        self.counts[request.method] += 1
        self.counts[fault or "right"] += 1
        self.counts[f"{request.method} {request.path_qs}"] += 1
        body = await request.read()
        self.flying += 1
        self.counts["at once"] = max(self.counts["at once"], self.flying)
        await asyncio.sleep(self.seconds + (LATE_SECONDS if fault == "late" else 0))
        self.flying -= 1
        if fault in CODES:
            text = f"<Error><Code>{CODES[fault]}</Code><Message>injected</Message></Error>"
            return web.Response(status=int(fault), text=text, content_type="application/xml")
        if fault == "reset":
            return _cut(request)
        return await self._answered(request, body, fault)

    async def _answered(self, request: web.Request, body: bytes, fault: str) -> web.StreamResponse:
        headers = {k: v for k, v in request.headers.items() if k.lower() not in OWN}
        headers["Host"] = request.headers["Host"]
        if self.condition and headers.pop("If-None-Match", "") and self.condition == "refused":
            text = "<Error><Code>NotImplemented</Code><Message>injected</Message></Error>"
            return web.Response(status=501, text=text, content_type="application/xml")
        url = URL(self.upstream + request.raw_path, encoded=True)
        # S3 decides between writers that each want to be the first; moto looks, then writes
        one_by_one = self.first if "If-None-Match" in headers else nullcontext()
        async with (
            one_by_one,
            self.session.request(request.method, url, data=body, headers=headers) as reply,
        ):
            data = await reply.read()
        if fault == "lost":
            return _cut(request)
        told = {k: v for k, v in reply.headers.items() if k.lower() not in OWN_REPLY}
        if self.bare:
            told = {k: v for k, v in told.items() if "checksum" not in k.lower()}
        if request.method == "HEAD":
            told["Content-Length"] = reply.headers.get("Content-Length", "0")
            return web.Response(status=reply.status, headers=told)
        if fault == "flipped" and data:
            place, bit = self.chance.randrange(len(data)), 1 << self.chance.randrange(8)
            data = data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :]
        if fault == "truncated" and data:
            return await _half(request, reply.status, told, data)
        return web.Response(status=reply.status, body=data, headers=told)

    async def start(self, app: web.Application) -> None:
        self.first = asyncio.Lock()
        self.session = ClientSession(
            connector=TCPConnector(limit=0), timeout=ClientTimeout(None), auto_decompress=False
        )

    async def stop(self, app: web.Application) -> None:
        await self.session.close()


def _cut(request: web.Request) -> web.Response:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def _half(
    request: web.Request, status: int, headers: dict[str, str], data: bytes
) -> web.StreamResponse:
    reply = web.StreamResponse(status=status, headers={**headers, "Content-Length": str(len(data))})
    await reply.prepare(request)
    await reply.write(data[: len(data) // 2])
    assert request.transport is not None
    request.transport.abort()
    return reply


async def serve(upstream: str) -> None:
    proxy, app = Proxy(upstream), web.Application(client_max_size=1 << 30)
    app.on_startup.append(proxy.start)
    app.on_cleanup.append(proxy.stop)
    app.router.add_route("*", "/{path:.*}", proxy.handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server is not None
    sockets = site._server.sockets  # type: ignore[attr-defined]
    sys.stdout.write(f"{sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)  # until who started it closes it, or is gone
    await runner.cleanup()


def main() -> None:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    asyncio.run(serve("http://{}:{}".format(*server.get_host_and_port())))
    server.stop()


if __name__ == "__main__":
    main()
