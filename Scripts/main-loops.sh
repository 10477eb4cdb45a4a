#!/usr/bin/env bash
# Builds and runs the examples whose main loop is GLib's, libuv's, or a loop around epoll_wait. One whose library is not
# installed is skipped, and the status is then 77.
#
#   main-loops.sh [BUILD]
#
# BUILD  a directory where the package is built already, such as .build/debug.
set -euo pipefail
cd "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")"
export SWIFT_BACKTRACE=enable=no

build=${1:-}
if [ -z "$build" ]; then
    swift build --target RunLoopIntegration >&2
    build=$(swift build --show-bin-path)
fi
# The libraries are linked into the programs, as the package manager does it.
objects=()
for module in ThreadedNotifications RunLoopIntegration; do
    mapfile -t -O ${#objects[@]} objects < <(sed "s|.*/|$build/$module.build/|; s|$|.o|" "$build/$module.build/sources")
done
directory=$(mktemp -d)
trap 'rm -r "$directory"' EXIT

status=0
for program in epoll-loop glib-loop libuv-loop; do
    libraries=()
    case $program in
        glib-loop) libraries=(glib-2.0) ;;
        libuv-loop) libraries=(libuv) ;;
    esac
    flags=()
    if [ ${#libraries[@]} -gt 0 ]; then
        if ! pkg-config --exists "${libraries[@]}"; then
            echo "skipped $program: install ${libraries[*]} (Debian: apt-get install pkg-config libglib2.0-dev libuv1-dev)"
            status=77
            continue
        fi
        for flag in $(pkg-config --cflags "${libraries[@]}"); do flags+=(-Xcc "$flag"); done
        read -ra libraries < <(pkg-config --libs "${libraries[@]}")
    fi
    for module in CLinux CRecorderInterface; do flags+=(-Xcc "-fmodule-map-file=$build/$module.build/module.modulemap"); done
    swiftc -swift-version 6 -I "$build/Modules" -I Sources/Examples/main-loop-libraries "${flags[@]}" \
        "Sources/Examples/$program/main.swift" "${objects[@]}" "${libraries[@]}" -o "$directory/$program"
    output=$(timeout -k 5 300 "$directory/$program")
    echo "$program: $output"
done
exit $status
