#!/usr/bin/env bash
# Measures this project on a machine with Python and an NVIDIA driver, from a clone of it:
#   bash deploy/gpu/measure.sh            # packages from the index
#   WHEELS=folder bash deploy/gpu/measure.sh   # packages from a folder, offline; scikit-build-core too
# Tests on the device, the same under compute-sanitizer, then tests/benchmarks/RESULTS-GPU.md. Tests
# that fail do not keep it from measuring; then it exits with 1 at its end.
# EXTRA=gpu12 for CUDA 12; OUT=folder for the logs; PYTHON=python3.12 for another Python; HERE=1 to
# install into that Python, beside the packages that it has, instead of a new environment.
set -euo pipefail
cd "$(dirname "$0")/../.."
logs=${OUT:-$(mktemp -d)}
python=${PYTHON:-python3}
failed=0

if [ -z "${HERE:-}" ]; then
  venv=$(mktemp -d)
  trap 'rm -rf "$venv"' EXIT
  "$python" -m venv "$venv"
  python=$venv/bin/python
fi
"$python" -m pip install --quiet ${WHEELS:+--no-index --find-links "$WHEELS"} ".[${EXTRA:-gpu},test]"

of_toolkit() { # of_toolkit ncu -> its path: on PATH, or where the CUDA toolkit lies
  command -v "$1" || ls /usr/local/cuda/bin/"$1" 2>/dev/null
}

"$python" -m pytest -q -m gpu 2>&1 | tee "$logs/tests.log" || failed=1

if sanitizer=$(of_toolkit compute-sanitizer); then
  for tool in memcheck racecheck; do  # its own exit code counts below, as a row of the page
    "$sanitizer" --tool "$tool" --target-processes all \
      "$python" -m pytest -q -m "gpu and not slow" >"$logs/$tool.log" 2>&1 || true
  done
else
  echo "compute-sanitizer, of the CUDA toolkit, is not here: its rows stay unmeasured" >&2
fi

if profiler=$(of_toolkit ncu); then  # what limits the kernels, where counters may be read
  for kernels in "encode_bands|decode_lanes" count_rows "write_tiles|decode_tiles" \
    "code_rows|push_rows|decode_blocks"; do
    "$profiler" --kernel-name "regex:$kernels" --launch-count 8 \
      --section SpeedOfLight --section Occupancy --section WarpStateStats \
      "$python" tests/benchmarks/bench_gpu.py --rounds 1 >>"$logs/counters.log" 2>&1 || true
  done
fi

"$python" tests/benchmarks/bench_gpu.py --write --json --logs "$logs" >"$logs/results.json"
cp tests/benchmarks/RESULTS-GPU.md "$logs/"
echo "logs and page: $logs"
exit "$failed"
