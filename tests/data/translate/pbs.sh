#!/bin/sh
#PBS -N sample -q short
#PBS -l select=2:ncpus=4:mem=2gb -l walltime=00:10:00
exec /bin/date
