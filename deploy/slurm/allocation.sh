#!/usr/bin/env bash
# sbatch allocation.sh scene.hdr scene.zarr: scheduler, workers on each node and the command in one job.
# See docs/how-to/slurm.md.
# sbatch --gres=gpu:4 allocation.sh ...: a worker per GPU; dask-cuda starts them.
# GANGSAW_RUN="apptainer exec --nv /shared/gangsaw.sif" sbatch ...: all of it in containers.
#SBATCH --job-name=gangsaw
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=32G
#SBATCH --time=04:00:00
set -euo pipefail
umask 077                                    # the file says where the scheduler is
file=$PWD/scheduler-$SLURM_JOB_ID.json
read -ra run <<<"${GANGSAW_RUN:-}"
worker=(worker --nworkers 1 --nthreads "$SLURM_CPUS_PER_TASK") device=() workers=$SLURM_NNODES
if [ -n "${SLURM_GPUS_ON_NODE:-}" ]; then    # four threads of each: one reads, two copy, one computes
  worker=(cuda worker --nthreads 4 --resources GPU=1 --device-memory-limit 0) device=(--device gpu)
  workers=$((SLURM_NNODES * SLURM_GPUS_ON_NODE))
fi
"${run[@]}" python -m dask scheduler --scheduler-file "$file" --port 0 --no-dashboard &
scheduler=$!
trap 'kill $scheduler 2>/dev/null || true; rm -f "$file"' EXIT
srun "${run[@]}" python -m dask "${worker[@]}" --scheduler-file "$file" --no-dashboard --death-timeout 60 &
"${run[@]}" gangsaw compress "$@" "${device[@]}" --resume --scheduler-file "$file" --wait-workers "$workers"
