"""The page in a real browser: what is drawn, in which colours, and that nothing goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from distributed import Client
from helpers.browser import BrowserPage, chromium, visited
from helpers.clusters import in_process

from gangsaw.cluster.dashboard.install import install, page_of

# Bokeh's elements have shadow roots, which no selector sees through
ALL = (
    "(() => { const all = []; const walk = e => { all.push(e); "
    "[...(e.shadowRoot ? e.shadowRoot.children : []), ...e.children].forEach(walk) }; "
    "if (document.body) walk(document.body); return all })()"
)
CANVASES = f"{ALL}.filter(e => e.tagName == 'CANVAS' && e.width > 100 && e.height > 50).length"
DRAWN = (
    f"{ALL}.filter(e => e.tagName == 'CANVAS' && e.width > 100 && e.height > 50).filter(c => "
    "c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(v => v)).length"
)
TEXT = f"{ALL}.filter(e => e.tagName == 'TD').map(e => e.innerText).join('|')"
GROUND = "getComputedStyle(document.body).backgroundColor"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
STATE: dict[str, Any] = {"job": "one", "kind": "compress", "store": "<b>scene</b>.zarr", "total": 9}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    chromium()
    with in_process(protocol="tcp://") as client:
        install(client)
        yield client


def test_the_page_follows_a_job(client: Client) -> None:
    def tell(**changed: object) -> None:
        client.log_event("gangsaw", {**STATE, "client": client.id, **changed})

    async def visit(page: BrowserPage) -> None:
        await page.open(page_of(client))
        await page.until(f"{ALL}.some(e => e.innerText == 'No job yet')")
        tell(done=3, decoded=3000, encoded=1000, run_bytes=3000, room=[1] * 9)
        await page.until(f"{TEXT}.includes('3 of 9')")
        tell(done=7, cells=[[i, 1] for i in range(7)], failures=["it is <damaged>"])
        await page.until(f"{TEXT}.includes('7 of 9')")
        assert "<b>scene</b>.zarr" in await page.value(TEXT)
        await page.until(f"{ALL}.some(e => e.innerText == 'it is <damaged>')")
        await page.until(f"{CANVASES} >= 2")
        await page.until(f"{DRAWN} >= 2")
        grounds = set()
        for scheme in ("light", "dark"):
            await page.scheme(scheme)
            grounds.add(await page.value(GROUND))
        assert len(grounds) == 2
        await page.size(800, 900)
        assert await page.until(f"{OVERFLOW} <= 0")
        links = await page.value(
            "[...document.querySelectorAll('.navbar a')].map(a => a.textContent.trim())"
        )
        assert links.index("Gangsaw") == links.index("Info") - 1
        assert page.errors == []

    visited(visit)
