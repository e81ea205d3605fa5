#!/usr/bin/env bash
# sbatch login.sh scene.hdr scene.zarr: a small job that runs the command, which submits the workers.
# See docs/how-to/slurm.md.
#SBATCH --job-name=gangsaw-command
#SBATCH --cpus-per-task=2
#SBATCH --mem=4G
#SBATCH --time=12:00:00
set -euo pipefail
exec gangsaw compress "$@" --resume --cluster slurm
