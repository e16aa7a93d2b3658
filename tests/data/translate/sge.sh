#!/bin/sh
#$ -N sample -q short
#$ -pe smp 4-8 -l h_rt=00:10:00
exec /bin/date
