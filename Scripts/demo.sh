#!/usr/bin/env bash
# Builds notify-demo, and the library that its record preloads, and runs it with the arguments given; without any it gives
# a short guided tour. The examples are built too if they are named: Scripts/demo.sh record -- kitchen
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
. "$root/Scripts/requirements.sh"

swift=(swift build --package-path "$root")
directory=$("${swift[@]}" --show-bin-path)
if [ ! -x "$directory/notify-demo" ]; then
    echo "Building notify-demo; this once it fetches the packages and takes some minutes." >&2
fi

# A terminal shows the present step of a build in its last line; a file has each in a line.
begin='' end=$'\n' columns=1000
if [ -t 2 ]; then begin=$'\r\e[K' end='' columns=$(tput cols 2>/dev/null || echo 80); fi
build() { # PRODUCT
    "${swift[@]}" --product "$1" 2>&1 | while IFS= read -r line; do
        case $line in
            '['*'] '[CEL]*) printf '%s%.*s%s' "$begin" $((columns - 1)) "$line" "$end" ;;
            '['*'] '* | 'Building for '* | 'Build of product '*) ;;
            *) printf '%s%s\n' "$begin" "$line" ;;
        esac
    done >&2
    printf %s "$begin" >&2
}
build notify-demo
build notification-recorder
for word in "$@"; do
    case $word in
        kitchen | window | station) build "$word" ;;
    esac
done

# The program prints commands to type with the name by which it was called.
name=$0
case $name in */*) ;; *) name=./$name ;; esac
PATH=$PATH:$directory exec -a "$name" "$directory/notify-demo" "$@"
