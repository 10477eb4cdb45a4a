#!/usr/bin/env bash
# All that must hold before a change lands: format, build without warnings, tests, every scenario's expectation, and the
# tests of what threads share once more under the thread sanitizer. STRESS=1 repeats the randomised tests more often.
set -euo pipefail
cd "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")"
. Scripts/requirements.sh
# The backtracer of a crashed process may hang; a test that crashes should end.
export SWIFT_BACKTRACE=enable=no
export TSAN_OPTIONS="halt_on_error=1 ${TSAN_OPTIONS:-}"

step() { printf '\n== %s (%d s)\n' "$1" "$SECONDS"; }

# Whole modules without debug information build in half the time. They have a directory of their own, so that other
# builds keep theirs.
fast=(-Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 1 -Xswiftc -gnone)
tests=(swift test --scratch-path .build-test "${fast[@]}")
sanitized=(swift test --scratch-path .build-tsan --package-path Scripts/thread-sanitizer --sanitize=thread "${fast[@]}")

step "format"
swift format lint --strict --recursive Package.swift Scripts/thread-sanitizer/Package.swift Sources Tests

step "build"
swift build --build-tests --scratch-path .build-test "${fast[@]}"

# The tests run at the same time, and while the sanitizer's are built, because many of them wait.
logs=$(mktemp -d)
trap 'rm -r "$logs"' EXIT
start() { # NAME COMMAND…
    local name=$1
    shift
    ("$@" >"$logs/$name" 2>&1 && echo passed >"$logs/$name.passed") &
}
finish() { # NAME
    step "$1"
    if [ -e "$logs/$1.passed" ]; then
        # XCTest prints the sum of all suites last.
        { grep -E '^\s*Executed' "$logs/$1" | tail -n 1; grep -E 'Test run with|passed, ' "$logs/$1"; } || true
    else
        cat "$logs/$1"
        failed=yes
    fi
}

step "tests"
start "XCTest" "${tests[@]}" --skip-build --ignore-lock --disable-swift-testing
start "Swift Testing" "${tests[@]}" --skip-build --ignore-lock --disable-xctest
start "thread sanitizer" "${sanitized[@]}"
wait
start "scenarios" .build-test/debug/notify-demo smoke
wait
failed=
for name in "XCTest" "Swift Testing" "thread sanitizer" "scenarios"; do finish "$name"; done
[ -z "$failed" ] || exit 1

step "all passed"
