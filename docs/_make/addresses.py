"""Public addresses of the project; URLs, badges and links exist only if `HOME` is set.

`python docs/_make/addresses.py` prints the table `[project.urls]` of pyproject.toml and the badges
of README.md.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

HOME = ""  # address of the repository, without a slash at its end


def list_links(home: str = HOME) -> dict[str, str]:
    """Return the address of each page by its label; none without a home."""
    if not home:
        return {}
    return {
        "Source code": home,
        "Issues": f"{home}/issues",
        "Changelog": f"{home}/blob/main/CHANGELOG.md",
    }


def theme_options(home: str = HOME) -> dict[str, Any]:
    """Return the options of the theme that link to the repository; none without a home."""
    links = list_links(home)
    if not links:
        return {}
    icon = {"name": "Source code", "url": links["Source code"], "icon": "fa-solid fa-code"}
    return {"icon_links": [icon]}


def references(home: str = HOME) -> dict[str, tuple[str, None]]:
    """Return the sites whose names are links in a published build; none without a home."""
    sites = {
        "dask": "https://docs.dask.org/en/stable",
        "numpy": "https://numpy.org/doc/stable",
        "xarray": "https://docs.xarray.dev/en/stable",
        "zarr": "https://zarr.readthedocs.io/en/stable",
    }
    return {name: (address, None) for name, address in sites.items()} if home else {}


def badges(home: str = HOME) -> list[str]:
    """Return the badges of README.md; none without a home."""
    if not home:
        return []
    shown = {
        "tests": ("how they run", f"{home}/blob/main/.ci/run"),
        "docs": ("site", f"{home}/blob/main/docs/index.md"),
        "licence": ("BSD--3--Clause", f"{home}/blob/main/LICENSE"),
        "Python": ("3.11 or later", f"{home}/blob/main/pyproject.toml"),
    }
    picture = "https://img.shields.io/badge"
    return [
        f"[![{label}]({picture}/{label}-{quote(value)}-blue)]({page})"
        for label, (value, page) in shown.items()
    ]


def print_addresses(home: str = HOME) -> None:
    """Print the table of addresses for pyproject.toml, and the badges; nothing without a home."""
    links = list_links(home)
    if links:
        print("[project.urls]")
    for label, address in links.items():
        print(f'"{label}" = "{address}"')
    for badge in badges(home):
        print(badge)


if __name__ == "__main__":
    print_addresses()
