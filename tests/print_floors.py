"""Print the map of floors in CONTRIBUTING.md, or the ORDER of a folder that its imports allow.

Usage: python tests/print_floors.py [FOLDER]
"""

from __future__ import annotations

import argparse
import sys

from helpers.floor_map import floor_map, proposed
from helpers.imports import package


def main(folders: list[str]) -> None:
    """Print the map, or an ORDER for each folder, such as codecs/dna."""
    texts = [proposed(package(), folder.strip("/")) for folder in folders]
    sys.stdout.write("\n".join(texts or [floor_map(package())]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    main(parser.parse_args().folders)
