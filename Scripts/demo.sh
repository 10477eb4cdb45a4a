#!/usr/bin/env bash
# Builds notify-demo and runs it with the arguments given; without any it gives a short guided tour. The library that record
# preloads is built too, and the example kitchen, which is found by its name: Scripts/demo.sh record -- kitchen
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
. "$root/Scripts/requirements.sh"

build=(swift build --package-path "$root" --product notify-demo)
directory=$("${build[@]}" --show-bin-path)
if [ ! -x "$directory/notify-demo" ]; then
    echo "Building notify-demo; this once it fetches the packages and takes some minutes." >&2
fi
"${build[@]}" --quiet >&2
for word in "$@"; do
    case $word in
        kitchen) swift build --package-path "$root" --product kitchen --quiet >&2 ;;
        record) swift build --package-path "$root" --product notification-recorder --quiet >&2 ;;
    esac
done
PATH=$PATH:$directory exec "$directory/notify-demo" "$@"
