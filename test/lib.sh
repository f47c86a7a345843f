# What the scripts here share; they source it after "set -euo pipefail".
# shellcheck shell=bash

# Where things are: the checkout, and the folder for everything made.
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034
BUILD=$ROOT/build

say() { printf '%s\n' "$*"; }
step() { printf -- '--- %s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

port_open() { (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# free_ports N: the first of N neighbouring ports that nobody listens on, below
# the range that the kernel hands out to clients.
free_ports() {
  local base port
  for _ in {1..100}; do
    base=$((10000 + (RANDOM * 32768 + RANDOM) % 22000))
    for ((port = base; port < base + $1; port++)); do
      port_open "$port" && continue 2
    done
    say "$base"
    return
  done
  die "found no free port"
}

# wait_for SECONDS COMMAND...: runs COMMAND until it succeeds.
wait_for() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < end)) || return 1
    sleep 0.1
  done
}

# load_env FILE...: exports what the files set.
load_env() {
  local file
  set -a
  for file in "$@"; do
    # shellcheck source=/dev/null
    . "$file"
  done
  set +a
}

# coordinator_stuck DIR: whether the coordinator of the cluster in DIR gives nothing
# new a leader any more. That of Fluss 0.9.1 does so once it has heard of a partition
# before it heard of its table.
coordinator_stuck() {
  grep -qs 'NotifyLeaderAndIsr batch request from coordinator to tablet server is not empty' \
    "$1/log/coordinator.log"
}

# tally FILE: the passed and failed tests that a log tells of. Knows pg_regress
# ("test x ... ok", from 16 on TAP), TAP, cmocka, and "N passed, N failed".
tally() {
  awk '
    /^(test|  +) +[^ ]+ +\.\.\. ok/ { p++ }
    /^(test|  +) +[^ ]+ +\.\.\. FAILED/ { f++ }
    /^ok [0-9]/ && !/# (SKIP|TODO)/ { p++ }
    /^not ok [0-9]/ && !/# TODO/ { f++ }
    /^\[  PASSED  \] [0-9]+ test/ { p += $4 }
    /^\[  FAILED  \] [0-9]+ test/ { f += $4 }
    /^[0-9]+ passed, [0-9]+ failed/ { p += $1; f += $3 }
    END { print p + 0, f + 0 }' "$1"
}

# failures FILE...: the lines of the logs that name a failed test or say what stopped
# a part, cut to a width that a short record of a run has room for.
failures() {
  grep -hE \
    -e '^(test|  +) +[^ ]+ +\.\.\. FAILED' -e '^not ok [0-9]' -e '^not ok - ' \
    -e '^t/[^ ]+\.pl +\(Wstat' -e '^ +Failed tests?:' -e '^#   (Failed test|at t/| +got:| +expected:)' \
    -e '^\[  FAILED  \] [^0-9]' -e '^(make|gmake)(\[[0-9]+\])?: \*\*\*' -e ' [Ee]rror: ' \
    "$@" | cut -c1-200 | awk '!seen[$0]++' | head -n 40 || true
}
