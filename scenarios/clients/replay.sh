#!/bin/sh
# Runs the journeys of the agents that are installed where there is no network but
# loopback: each records one turn and replays it twice. docs/howto/replay-a-real-client.md
# says what to install.
#
#   SOUNDSTAGE_CLIENTS=folder scenarios/clients/replay.sh [claude-code|codex|opencode|cline|gemini]
set -eu
cd "$(dirname "$0")/../.."
run="go test ./scenarios -count=1 -timeout 20m -v -run TestScenarios/^clients\$/^${1:-.*}\$"
$run -list '^$' >/dev/null # built where modules can be had
if unshare -rn true 2>/dev/null && command -v ip >/dev/null; then
  run="unshare -rn sh -c 'ip link set lo up && exec \"\$@\"' sh $run"
else
  echo "no network namespaces here: the network stays visible" >&2
fi
eval "$run" 2>&1 | grep -E '^ *(---|ok|FAIL)|cmd.go.*not installed|FAIL:'
