# Sourced by the other scripts: sees to it that what a build needs is there, or says what to do. Talks on standard error.

require_swift() {
    if ! command -v swift >/dev/null; then
        cat >&2 <<TEXT
The Swift toolchain is missing: no 'swift' in PATH.
Install Swift 6.2 or newer, for example with swiftly (https://www.swift.org/install/linux/), then run this again.
If it is installed, put it in PATH: export PATH=/where/swift/is/usr/bin:\$PATH
TEXT
        exit 2
    fi
    local said version
    said=$(swift --version 2>&1) || true
    version=$(sed -n 's/.*Swift version \([0-9][0-9]*\.[0-9][0-9]*\).*/\1/p' <<<"$said" | head -n 1)
    if [ -z "$version" ] || [ "$(printf '%s\n6.2\n' "$version" | sort -V | head -n 1)" != 6.2 ]; then
        cat >&2 <<TEXT
Swift 6.2 or newer is needed, and 'swift --version' says:
$said
Install a newer toolchain (https://www.swift.org/install/linux/), then run this again.
TEXT
        exit 2
    fi
}

require_libc_headers() {
    [ -e /usr/include/pthread.h ] && return
    if command -v apt-get >/dev/null; then
        local as_root=(env)
        if [ "$(id -u)" != 0 ]; then as_root=(sudo -n env); fi
        echo "The C library's headers are missing: installing libc6-dev." >&2
        "${as_root[@]}" apt-get update -qq >&2 || true
        "${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get install -y -qq libc6-dev >&2 || true
        if [ -e /usr/include/pthread.h ]; then return; fi
    fi
    cat >&2 <<TEXT
The C library's headers are missing (no /usr/include/pthread.h), and they could not be installed from here.
Install them, then run this again:
  Debian, Ubuntu:  sudo apt-get install libc6-dev
  Fedora, RHEL:    sudo dnf install glibc-devel
TEXT
    exit 2
}

require_swift
require_libc_headers
