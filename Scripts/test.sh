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

# Whole modules without debug information and without an index of system modules build in half the time. They have
# directories of their own, so that other builds keep theirs.
fast=(-Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 1 -Xswiftc -gnone)
fast+=(-Xswiftc -index-ignore-system-modules)
tests=(swift test --scratch-path .build-test --skip-build --ignore-lock "${fast[@]}")
sanitized=(swift test --scratch-path .build-tsan --package-path Scripts/thread-sanitizer --sanitize=thread "${fast[@]}")
libraries='^(ThreadedNotifications|DistributedNotifications|NotificationCompatibility|NotificationServer)Tests[.]'
commands='^(NotifyDemo|Documents)Tests[.]'
# Those that depend on how a thread is woken. They run a second time with threads that no event wakes.
waking='^ThreadedNotificationsTests[.](Posting|RunLoopThread|[A-Za-z]*Guarantee)'

# Steps that are started run at the same time, because many tests wait.
logs=$(mktemp -d)
trap 'rm -r "$logs"' EXIT
start() { # NAME COMMAND…
    local name=$1
    shift
    ("$@" >"$logs/$name" 2>&1 && echo passed >"$logs/$name.passed") &
}
failed=()
finish() { # NAME
    step "$1"
    if [ -e "$logs/$1.passed" ]; then
        # The tests print the sum of all suites last.
        { grep -E '^\s*Executed' "$logs/$1" | tail -n 1; grep -E 'Test run with|passed, ' "$logs/$1"; } || true
    else
        cat "$logs/$1"
        failed+=("$1")
    fi
}

step "format and build"
start "format" swift format lint --strict --recursive Package.swift Scripts/thread-sanitizer/Package.swift Sources Tests
if ! swift build --build-tests --scratch-path .build-test "${fast[@]}"; then
    wait
    finish "format"
    exit 1
fi

step "tests"
start "tests of the libraries" "${tests[@]}" --filter "$libraries"
start "tests of the commands" "${tests[@]}" --filter "$commands"
start "other tests" "${tests[@]}" --skip "$libraries" --skip "$commands"
THREADED_NOTIFICATIONS_EVENT=0 start "tests without events" "${tests[@]}" --filter "$waking"
start "thread sanitizer" "${sanitized[@]}"
wait
start "scenarios" .build-test/debug/notify-demo smoke
wait
for name in "format" "tests of the libraries" "tests of the commands" "other tests" "tests without events" \
    "thread sanitizer" "scenarios"; do
    finish "$name"
done

if [ ${#failed[@]} -gt 0 ]; then
    step "failures"
    for name in "${failed[@]}"; do
        echo "$name:"
        grep -E 'error:|Fatal error|✘|WARNING: ThreadSanitizer|not ok|FAIL' "$logs/$name" | head -n 40 || tail -n 20 "$logs/$name"
    done
    exit 1
fi
step "all passed"
