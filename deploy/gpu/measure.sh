#!/usr/bin/env bash
# Measures this project on a machine with Python and an NVIDIA driver, from a clone of it:
#
#   bash deploy/gpu/measure.sh [--limit SECONDS] [--rounds N] [--out FOLDER]
#
#   --limit SECONDS   end within that time, with what there is then (default: no limit)
#   --rounds N        of each figure of the benchmark (default: 3)
#   --out FOLDER      where rows, logs and page go (default: a new folder, named at the end)
#   --help            this text
#
# It runs from the clone, with the packages of that Python: nothing is fetched, built or installed.
# Where one is missing it says which, and the exit status is 2. All kernels are compiled first, by all
# cores. Then come the bytes of every codec and kernel, compared with checksums that the CPU made (under
# a limit 120 seconds at most), the figures of each codec (an equal share of what is left, at most), the
# tests on a device, the tests again under compute-sanitizer without a pool of memory, then profiles.
# Each row is in rows.jsonl of the folder as soon as it is measured; the page,
# tests/benchmarks/RESULTS-GPU.md, is written after the figures and again at the end, from the rows
# that are there. A step that fails does not keep others from it; then the exit status is 1. It is 1 as
# well, and no page is written, where nothing is measured.
#
# Environment: PYTHON=python3.12 for another Python; WHEELS=folder with wheels of what it lacks, which
# are unpacked for this run alone.
set -euo pipefail
cd "$(dirname "$0")/../.."
PARITY_SECONDS=120 RESERVE=30  # for the bytes; for programs that start or end, and for the page
late="not measured: time limit"  # bench_gpu.py looks for it at the end of a log
limit= rounds=3 logs=${OUT:-} failed=0

refuse() { echo "$1; see --help" >&2; exit 2; }

while [ $# -gt 0 ]; do
  case $1 in
    --help) sed -n '2,/^set /{s/^# \{0,1\}//p}' "$0"; exit ;;
    --limit | --rounds | --out) [ $# -gt 1 ] || refuse "$1 wants a value" ;;
    *) refuse "there is no option $1" ;;
  esac
  case $1 in
    --limit) limit=$2 ;;
    --rounds) rounds=$2 ;;
    --out) logs=$2 ;;
  esac
  shift 2
done
[[ $limit =~ ^([1-9][0-9]*)?$ ]] || refuse "--limit must be whole seconds, got $limit"
[[ $rounds =~ ^[1-9][0-9]*$ ]] || refuse "--rounds must be a number of rounds, got $rounds"
logs=${logs:-$(mktemp -d)}
mkdir -p "$logs"
CODECS="ccsds123 visibility dna reads bwt tcr" TOOLS="memcheck racecheck synccheck initcheck"
for log in compiled parity $CODECS tests counters $TOOLS; do rm -f "$logs/$log.log"; done  # rows stay

left() { # seconds that there are for a step
  local seconds=$((${limit:-86400} - SECONDS - RESERVE))
  echo $((seconds > 0 ? seconds : 0))
}

step() { # step NAME COMMAND...: runs it within the time that is left; what it says is in NAME.log
  local log=$logs/$1.log seconds status=124
  seconds=$(left)
  echo "$(date +%T) $1: ${seconds} s" >&2
  shift
  if [ "$seconds" -gt 0 ]; then
    status=0
    timeout --kill-after=5 "$seconds" "$@" >>"$log" 2>&1 || status=$?
  fi
  case $status in
    0) ;;
    124 | 137) echo "$late" >>"$log" ;;
    *) return 1 ;;
  esac
}

bench() { # bench PART MOST ARGUMENT...: rows, for MOST seconds; it keeps to a limit by itself
  local part=$1 seconds
  seconds=$(left)
  seconds=$((seconds < ${2:-seconds} ? seconds : ${2:-seconds}))
  echo "$(date +%T) $part: ${seconds} s" >&2
  shift 2
  timeout --kill-after=5 $((seconds + RESERVE / 2)) \
    "$python" tests/benchmarks/bench_gpu.py --measure "$part" --limit "$seconds" \
    --rows "$logs/rows.jsonl" "$@" >>"$logs/$part.log" 2>&1 || failed=1
}

page() { # from the rows and logs that are there
  "$python" tests/benchmarks/bench_gpu.py --measure nothing --rows "$logs/rows.jsonl" \
    --logs "$logs" --write --json >"$logs/results.json" || failed=1
  if [ -s "$logs/rows.jsonl" ]; then cp tests/benchmarks/RESULTS-GPU.md "$logs/"; fi
}

of_toolkit() { # of_toolkit ncu -> its path: on PATH, or in the CUDA toolkit
  command -v "$1" || ls /usr/local/cuda/bin/"$1" 2>/dev/null
}

python=${PYTHON:-python3}
package=$(mktemp -d)
trap 'rm -rf "$package"' EXIT
if [ -n "${WHEELS:-}" ]; then
  for wheel in "$WHEELS"/*.whl; do "$python" -m zipfile -e "$wheel" "$package"; done
fi
export PYTHONPATH=$package${PYTHONPATH:+:$PYTHONPATH}
"$python" deploy/gpu/lay_out.py "$package" || exit

step compiled "$python" deploy/gpu/compile_all.py || failed=1
bench parity "${limit:+$PARITY_SECONDS}"
apart=6
for codec in $CODECS; do
  bench "$codec" "${limit:+$(($(left) / (apart + 1)))}" --rounds "$rounds"  # a share is for the tests
  apart=$((apart - 1))
done
page

several=  # processes, where pytest-xdist is: 2,000 tests took 130 s by 14 processes
if "$python" -c "import xdist" 2>/dev/null; then several="-n $(nproc)"; fi
# pytest-benchmark warns of processes, and a warning is an error
step tests "$python" -m pytest -q $several -p no:benchmark --all -m gpu || failed=1

if sanitizer=$(of_toolkit compute-sanitizer); then
  for tool in $TOOLS; do  # its own exit code counts below, as a row of the page
    PYTHONPATH=deploy/gpu:$PYTHONPATH step "$tool" "$sanitizer" --tool "$tool" --target-processes all \
      "$python" -m pytest -q -p no_pool -p no:benchmark --all -m "gpu and not full" || true &
  done
  wait  # for all: no figure is measured meanwhile
else
  echo "compute-sanitizer, of the CUDA toolkit, is not here: its rows stay unmeasured" >&2
fi

if profiler=$(of_toolkit ncu); then  # what limits the kernels, where counters may be read
  for codec in $CODECS; do
    kernels=$("$python" deploy/gpu/compile_all.py --names "$codec")
    step counters "$profiler" --kernel-name "regex:$kernels" --launch-count 24 \
      --section SpeedOfLight --section Occupancy --section WarpStateStats \
      "$python" tests/benchmarks/bench_gpu.py --measure "$codec" --rounds 1 || true
  done
fi

page
echo "rows, logs and page: $logs"
exit "$failed"
