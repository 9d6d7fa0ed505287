#!/usr/bin/env bash
# What action.yml runs: TABLES, OPTIONS, FAIL_ON, PREVIOUS and RISK are its inputs. Ends as `genverify disclose` does: 1 unsafe,
# 2 a mistake.
set -uo pipefail
# the inputs are words of a command line, with quotes as in a shell; nothing in them is run
mapfile -d '' words < <(python -c 'import shlex, os, sys
for text in (os.environ["OPTIONS"], os.environ["TABLES"]):
    for word in shlex.split(text):
        sys.stdout.write(word + "\0")
for word in shlex.split(os.environ["PREVIOUS"]):
    sys.stdout.write("--previous\0" + word + "\0")')
if [ -n "$RISK" ]; then words+=(--risk "$RISK"); fi
if [ -n "$FAIL_ON" ] || [ -z "$RISK" ]; then words+=(--fail-on "${FAIL_ON:-exact}"); fi
genverify disclose "${words[@]}" --json --out .genverify > answer.genverify.json
code=$?
python "$(dirname "$0")/annotate.py" answer.genverify.json .genverify/cells.csv >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
rm -f answer.genverify.json
exit "$code"
