"""Logo of Gangsaw, drawn by code: a log that parallel blades cut into boards.

`python docs/_make/logo.py` writes `docs/_static/logo.svg`.
"""

from __future__ import annotations

from pathlib import Path

LOG, RING, BLADE = "#d9a066", "#8a4b08", "#1f6f78"
SIZE, RADIUS, BLADES = 128, 52, 5


def draw_logo() -> str:
    """Return the logo as SVG: rings of a log, cut by five blades."""
    middle = SIZE / 2
    rings = "".join(
        f'<circle cx="{middle:g}" cy="{middle:g}" r="{radius:g}"/>' for radius in (14, 28, 41)
    )
    step = 2 * RADIUS / (BLADES + 1)
    blades = "".join(
        f'<rect x="{middle - RADIUS + step * (i + 1) - 2.5:g}" y="4" width="5" height="120"/>'
        for i in range(BLADES)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}" role="img">'
        "<title>Gangsaw</title>"
        f'<circle cx="{middle:g}" cy="{middle:g}" r="{RADIUS}" fill="{LOG}"/>'
        f'<g fill="none" stroke="{RING}" stroke-width="3">{rings}</g>'
        f'<g fill="{BLADE}">{blades}</g></svg>\n'
    )


if __name__ == "__main__":
    (Path(__file__).parents[1] / "_static" / "logo.svg").write_text(draw_logo())
