"""Constraints for pip: of everything that users install, the lowest version that we declare.

python tests/lowest.py > lowest.txt && pip install -c lowest.txt '.[test]'
"""

import argparse
import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
# what tests and developers use is as new as it gets; of CUDA nothing runs without a device
OTHERS = {"test", "bench", "dev", "gpu", "gpu12"}
_MINIMUM = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?>=([0-9.]+)[^;]*(;.*)?")


def lowest() -> list[str]:
    """Return a constraint for each distribution that the core or an extra of users requires.

    A distribution with several bounds, each for some Pythons, has one constraint for each marker.
    """
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    extras = project["optional-dependencies"]
    asked = {*project["dependencies"], *(a for e in extras.keys() - OTHERS for a in extras[e])}
    ours = f"{project['name']}["
    return sorted({constraint(line) for line in asked if not line.startswith(ours)})


def constraint(requirement: str) -> str:
    """Return `name==minimum`, with the marker of the requirement if it has one."""
    found = _MINIMUM.fullmatch(requirement)
    if not found:
        raise ValueError(f"{requirement}: a minimum is missing")
    name, version, marker = found.groups(default="")
    return f"{name.lower()}=={version}{marker}"


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    sys.stdout.writelines(f"{line}\n" for line in lowest())
