#!/usr/bin/env bash
# All that must hold before a change lands: format, build without warnings, tests, every scenario's expectation, and the
# tests of what threads share once more under the thread sanitizer.
set -euo pipefail
cd "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")"
. Scripts/requirements.sh
# The backtracer of a crashed process may hang; a test that crashes should end.
export SWIFT_BACKTRACE=enable=no

step() { printf '\n== %s (%d s)\n' "$1" "$SECONDS"; }

step "format"
swift format lint --strict --recursive Package.swift Sources Tests

step "build"
swift build --build-tests

step "tests"
swift test --skip-build

step "scenarios"
"$(swift build --show-bin-path)/notify-demo" smoke

step "thread sanitizer"
export TSAN_OPTIONS="halt_on_error=1 ${TSAN_OPTIONS:-}"
swift test --sanitize=thread --scratch-path .build-tsan \
    --filter '^ThreadedNotificationsTests\.' --filter '^ScenariosTests\.(ScenarioTests|DeliveryRecorderTests)' \
    --filter '^DeliveryRecordingTests\.ProcessRecordingTests' \
    --filter '^DistributedNotificationsTests\.(SequenceEndTests|WaitingBytesTests)' \
    --filter '^NotificationServerTests\.(CenterStressTests|CenterLifeTests|ServerTurnTests)'

step "all passed"
