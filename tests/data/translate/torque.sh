#!/bin/sh
#PBS -N sample -q short
#PBS -l nodes=2:ppn=4,walltime=00:10:00
exec /bin/date
