#!/usr/bin/env bash
# One look at the outbox: 0 release, 1 hold, 2 not audited. Anything but 0 keeps the gate shut.
cd "$(dirname "$0")" || exit 2
genverify disclose outbox --risk risk.yaml --json --out "${1:-audit}" > "${1:-audit}.json"
code=$?
case $code in
  0) echo "release" ;;
  1) echo "hold: see ${1:-audit}/report.html" ;;
  *) echo "not audited: see ${1:-audit}.json" ;;
esac
exit $code
