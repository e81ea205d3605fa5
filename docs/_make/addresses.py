"""Public addresses of the project; URLs, badges and links exist only if `HOME` is set.

`python docs/_make/addresses.py` prints the table `[project.urls]` of pyproject.toml and the badges
of README.md.
"""

from __future__ import annotations

from typing import Any

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


def print_addresses(home: str = HOME) -> None:
    """Print the table of addresses for pyproject.toml, and the badges; nothing without a home."""
    links = list_links(home)
    if links:
        print("[project.urls]")
    for label, address in links.items():
        print(f'"{label}" = "{address}"')
    for label, address in links.items():
        badge = f"https://img.shields.io/badge/{label.replace(' ', '%20')}-blue"
        print(f"[![{label}]({badge})]({address})")


if __name__ == "__main__":
    print_addresses()
