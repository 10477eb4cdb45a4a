#!/usr/bin/env bash
# All that must hold before a change lands: format, build without warnings, tests, and the tests of what threads share
# in the core once more under the thread sanitizer. SANITIZERS=1 also runs those of the distributed center under it, and
# all of them under the address sanitizer. STRESS=1 repeats the randomised tests more often. The bridge to other machines
# is built and tested without TLS; BRIDGE=tls tests TLS too, which takes some minutes to build, and BRIDGE= no bridge.
set -euo pipefail
cd "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")"
. Scripts/requirements.sh
export BRIDGE=${BRIDGE-1}
# The backtracer of a crashed process may hang; a test that crashes should end.
export SWIFT_BACKTRACE=enable=no
export TSAN_OPTIONS="halt_on_error=1 ${TSAN_OPTIONS:-}"
# Foundation leaks, and tests of memory would count what is kept after it is freed.
export ASAN_OPTIONS="detect_leaks=0:quarantine_size_mb=8:${ASAN_OPTIONS:-}"

step() { printf '\n== %s (%d s)\n' "$1" "$SECONDS"; }

# Whole modules, each in one step, without debug information and without an index of system modules, build in half the
# time. They have directories of their own, so that other builds keep theirs; what all builds import is built once.
fast=(-Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 1 -Xswiftc -no-emit-module-separately-wmo)
fast+=(-Xswiftc -gnone -Xswiftc -index-ignore-system-modules)
fast+=(-Xswiftc -module-cache-path -Xswiftc "$PWD/.build-modules")
optimized=(env OPTIMIZED_SERVER=1 swift)
tests=("${optimized[@]}" test --scratch-path .build-test --skip-build --ignore-lock "${fast[@]}")
thread=(--scratch-path .build-tsan --sanitize=thread "${fast[@]}")
# Handlers may end their thread, which the sanitizer's checks of the stack report as an error.
address=(--scratch-path .build-asan --sanitize=address "${fast[@]}" -Xswiftc -Xllvm -Xswiftc -asan-stack=0)
libraries='^(ThreadedNotifications|DistributedNotifications)Tests[.]'
commands='^(NotifyDemo|Documents)Tests[.]'
bridge='^(NATSClient|NotificationBridge)Tests[.]'
# About half of them: most wait for the programs that they run, so two processes take half the time.
documents='^(DocumentsTests[.]|NotifyDemoTests[.][A-D])'

# Steps that are started run at the same time, because many tests wait, and a build waits for its largest module.
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

# For the examples of other main loops and for the bridge, whose tests are skipped without them. The tests start servers
# of their own.
install_libraries() {
    local packages=(libglib2.0-dev libuv1-dev pkg-config)
    if [ -n "$BRIDGE" ]; then packages+=(nats-server libfaketime); fi
    if pkg-config --exists glib-2.0 libuv && { [ -z "$BRIDGE" ] || command -v nats-server; }; then return; fi
    if [ "${CI:-}" != true ] || [ "$(id -u)" != 0 ] || ! command -v apt-get; then return; fi
    timeout -k 5 30 apt-get update -qq
    DEBIAN_FRONTEND=noninteractive timeout -k 5 60 apt-get install -y -qq --no-install-recommends "${packages[@]}"
}

install_libraries >"$logs/install" 2>&1 &
installing=$!
step "format and build"
start "format" swift format lint --strict --recursive Package.swift Sources Tests
sanitized="ThreadedNotificationsTests"
if [ "${SANITIZERS:-}" = 1 ]; then sanitized+=" DistributedNotificationsTests"; fi
sanitized=(env SANITIZED="$sanitized" swift)
# Its tests begin before the longer build has ended.
thread_sanitizer() {
    # Without the plugins of packages.
    nice "${sanitized[@]}" build --product ThreadedNotificationsPackageTests "${thread[@]}" || return
    nice "${sanitized[@]}" test --skip-build --ignore-lock "${thread[@]}"
}
start "thread sanitizer" thread_sanitizer
if ! "${optimized[@]}" build --build-tests --scratch-path .build-test "${fast[@]}"; then
    wait
    finish "format"
    exit 1
fi

step "tests"
wait "$installing" || true
start "tests of the libraries" "${tests[@]}" --filter "$libraries"
start "tests of the commands" "${tests[@]}" --filter "$commands" --skip "$documents"
start "tests of the commands, A to D, and of the documents" "${tests[@]}" --filter "$documents"
start "other tests" "${tests[@]}" --skip "$libraries" --skip "$commands" --skip "$bridge"
steps=("format" "tests of the libraries" "tests of the commands" "tests of the commands, A to D, and of the documents")
steps+=("other tests" "thread sanitizer")
if [ -n "$BRIDGE" ]; then
    start "tests of the bridge" "${tests[@]}" --filter "$bridge"
    steps+=("tests of the bridge")
fi
wait
if [ "${SANITIZERS:-}" = 1 ]; then
    start "address sanitizer" "${sanitized[@]}" test "${address[@]}"
    steps+=("address sanitizer")
    wait
fi
for name in "${steps[@]}"; do finish "$name"; done

if [ ${#failed[@]} -gt 0 ]; then
    step "failures"
    for name in "${failed[@]}"; do
        echo "$name:"
        grep -E 'error:|Fatal error|✘|WARNING: ThreadSanitizer|ERROR: AddressSanitizer' "$logs/$name" | head -n 40 || tail -n 20 "$logs/$name"
    done
    exit 1
fi
step "all passed"
