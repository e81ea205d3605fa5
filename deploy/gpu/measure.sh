#!/usr/bin/env bash
# Measures this project on a machine with Python and an NVIDIA driver, from a clone of it:
#   bash deploy/gpu/measure.sh            # packages from the index
#   WHEELS=folder bash deploy/gpu/measure.sh   # packages from a folder, offline
# Tests on the device, the same under compute-sanitizer, then tests/benchmarks/RESULTS-GPU.md.
# EXTRA=gpu12 for CUDA 12; OUT=folder for the logs; PYTHON=python3.12 for another Python.
set -euo pipefail
cd "$(dirname "$0")/../.."
logs=${OUT:-$(mktemp -d)}
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT

"${PYTHON:-python3}" -m venv "$venv"
# shellcheck source=/dev/null
source "$venv/bin/activate"
pip install --quiet ${WHEELS:+--no-index --find-links "$WHEELS"} ".[${EXTRA:-gpu},test]"

tests=(python -m pytest -q -m gpu)
"${tests[@]}" 2>&1 | tee "$logs/tests.log"

if sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null); then
  for tool in memcheck racecheck; do  # its own exit code counts below, as a row of the page
    "${sanitizer%%$'\n'*}" --tool "$tool" --target-processes all "${tests[@]}" >"$logs/$tool.log" 2>&1 || true
  done
else
  echo "compute-sanitizer, of the CUDA toolkit, is not here: its rows stay unmeasured" >&2
fi

if profiler=$(command -v ncu); then  # what limits the kernels, where counters may be read
  "$profiler" --launch-count 8 --section SpeedOfLight --section Occupancy --section WarpStateStats \
    gangsaw bench --device gpu --rounds 1 >"$logs/counters.log" 2>&1 || true
fi

python tests/benchmarks/bench_gpu.py --write --logs "$logs"
python tests/benchmarks/bench_gpu.py --json >"$logs/results.json"
cp tests/benchmarks/RESULTS-GPU.md "$logs/"
echo "logs and page: $logs"
