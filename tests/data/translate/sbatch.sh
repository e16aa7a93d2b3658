#!/bin/sh
#SBATCH -J sample -p short -N2
#SBATCH --time=10:00
exec /bin/date
