#!/bin/bash
#SBATCH --job-name=scan --nodes=2 --ntasks=8
#SBATCH --mem=4G -t 1-0
#SBATCH --mail-type=BEGIN,END --mail-user=amy@example.org
module load gcc
srun ./scan input.dat
