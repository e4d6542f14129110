#!/usr/bin/env bash
# Opens reports in headless Chromium and uses them: tests/browser/run.sh NODES.html TRAJECTORIES.html POINTS.html
# Needs node 20 or later, npm, and Chromium ($CHROMIUM, else `chromium` on the path).
set -euo pipefail
if [ $# -ne 3 ] || [ ! -f "$1" ] || [ ! -f "$2" ] || [ ! -f "$3" ]; then
  echo "usage: $0 NODES.html TRAJECTORIES.html POINTS.html (pages written by 'adjoin report')" >&2
  exit 2
fi
report=$(realpath "$1")
trajectories=$(realpath "$2")
points=$(realpath "$3")
cd "$(dirname "$0")"
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
if [ -z "$CHROMIUM" ]; then
  echo "no Chromium found: apt-get install chromium, or set CHROMIUM" >&2
  exit 2
fi
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
  npm ci --no-audit --no-fund
  touch node_modules/.package-lock.json
fi
export REPORT="$report" TRAJECTORIES="$trajectories" POINTS="$points" CHROMIUM
exec node --test report.test.js trajectory.test.js points.test.js
