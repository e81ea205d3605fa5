#!/usr/bin/env bash
# sbatch allocation.sh scene.hdr scene.zarr: scheduler, a worker on each node and the command in one job.
#SBATCH --job-name=gangsaw
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=32G
#SBATCH --time=04:00:00
set -euo pipefail
umask 077                                    # the file says where the scheduler is
file=$PWD/scheduler-$SLURM_JOB_ID.json
python -m dask scheduler --scheduler-file "$file" --port 0 --no-dashboard &
scheduler=$!
trap 'kill $scheduler 2>/dev/null || true; rm -f "$file"' EXIT
srun python -m dask worker --scheduler-file "$file" --nworkers 1 --nthreads "$SLURM_CPUS_PER_TASK" \
  --no-dashboard --death-timeout 60 &
gangsaw compress "$@" --resume --scheduler-file "$file" --wait-workers "$SLURM_NNODES"
