#!/usr/bin/env bash
# Builds notify-demo and runs it with the arguments given; without any it gives a short guided tour.
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
. "$root/Scripts/requirements.sh"

build=(swift build --package-path "$root" --product notify-demo)
program=$("${build[@]}" --show-bin-path)/notify-demo
if [ ! -x "$program" ]; then echo "Building notify-demo; this once it fetches the packages and takes some minutes." >&2; fi
"${build[@]}" --quiet >&2
exec "$program" "$@"
