#!/usr/bin/env bash
# The main job, on records that a real Slurm printed: `make demo`.
set -euo pipefail
cd "$(dirname "$0")/.."

out=build/demo
rm -rf "$out"
mkdir -p "$out"

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() { printf '\033[2m$ %s\033[0m\n' "$*"; eval "$@"; }

say "1. Slurm records become job objects, and every record is accounted for"
run "sssjob convert --from slurm -o $out/jobs.sss examples/slurm/sacct.txt"

say "2. They follow the standard"
run "sssjob validate --level warning $out/jobs.sss" && echo "valid"

say "3. A job that was requested before: what its \$JOBFEATURES are, and why"
run "sssjob features examples/requested/workflow.xml $out/jobfeatures --select 4 --explain"
run "head $out/jobfeatures/*"

say "4. The records take their place in the requested jobs"
run "sssjob deliver examples/requested/workflow.xml --features $out/jobfeatures --record examples/slurm/sacct.txt -o $out/workflow.xml"
run "sssjob show $out/workflow.xml"

say "5. Questions in XPath"
run "sssjob query '//Job[Delivered/Processors > 4]/Id' $out/jobs.sss"
run "sssjob query --json '//Job[StatusMessage = \"TIMEOUT\"]/Name' $out/jobs.sss"
run "sssjob query '//Job[Delivered/Processors > Requested/Processors]/Delivered/Duration' $out/workflow.xml"

say "6. A store keeps every version, and answers from columns"
run "sssjob store import $out/jobs.db $out/jobs.sss"
run "sssjob query --explain '//Job[Delivered/Processors > 4]/Id' $out/jobs.db"

say "7. Who used what, and usage records for others"
run "sssjob report --by project $out/jobs.db --plot"
run "sssjob convert --from sss --to ur -o $out/records.xml --losses $out/losses.jsonl $out/jobs.sss"

say "Everything is in $out"
