"""A link that delays: python -m helpers.slow_link PORT HOST PORT SECONDS, on the loopback.

The kernel's own way to delay packets is a module that few have.
"""

from __future__ import annotations

import asyncio
import sys


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float) -> None:
    """Pass on what comes, each piece so much later; many are on their way at once."""
    loop = asyncio.get_running_loop()
    while piece := await reader.read(1 << 16):
        loop.call_later(seconds, writer.write, piece)
    loop.call_later(seconds, writer.close)


async def serve(port: int, host: str, far: int, seconds: float) -> None:
    """Take connections for ever."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(host, far)
        ways = ((reader, far_writer), (far_reader, writer))
        await asyncio.gather(*(carry(*way, seconds) for way in ways), return_exceptions=True)

    async with await asyncio.start_server(connected, "127.0.0.1", port) as server:
        await server.serve_forever()


if __name__ == "__main__":
    own, there, theirs, pause = sys.argv[1:]
    asyncio.run(serve(int(own), there, int(theirs), float(pause)))
