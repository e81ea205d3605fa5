"""Constraints for pip: of everything that users install, the lowest version that we declare.

python tests/lowest.py > lowest.txt && pip install -c lowest.txt '.[test]'
"""

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
# what tests and developers use is as new as it gets; of CUDA nothing runs without a device
OTHERS = {"test", "bench", "dev", "gpu", "gpu12"}
_MINIMUM = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?>=([0-9.]+)")


def lowest() -> dict[str, str]:
    """Name of each distribution that the core or an extra of users asks for -> its minimum."""
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *(a for e in extras.keys() - OTHERS for a in extras[e])]
    ours = f"{project['name']}["
    return dict(_minimum(line) for line in sorted(asked) if not line.startswith(ours))


def _minimum(line: str) -> tuple[str, str]:
    found = _MINIMUM.match(line)
    if not found:
        raise ValueError(f"{line}: a minimum is missing")
    return found[1].lower(), found[2]


if __name__ == "__main__":
    sys.stdout.writelines(f"{name}=={version}\n" for name, version in lowest().items())
