#!/bin/sh
#BSUB -J sample -q short
#BSUB -n 4,8 -W 10
exec /bin/date
