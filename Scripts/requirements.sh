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
    local version
    version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9][0-9]*\.[0-9][0-9]*\).*/\1/p' | head -n 1)
    if [ -z "$version" ] || [ "$(printf '%s\n6.2\n' "$version" | sort -V | head -n 1)" != 6.2 ]; then
        echo "Swift 6.2 or newer is needed, and 'swift --version' says ${version:-nothing}." \
            "Install a newer toolchain (https://www.swift.org/install/linux/), then run this again." >&2
        exit 2
    fi
}

require_libc_headers() {
    [ -e /usr/include/pthread.h ] && return
    if command -v apt-get >/dev/null; then
        local as_root=()
        if [ "$(id -u)" != 0 ]; then as_root=(sudo -n); fi
        echo "The C library's headers are missing: installing libc6-dev." >&2
        if "${as_root[@]}" apt-get update -qq >&2 && "${as_root[@]}" apt-get install -y -qq libc6-dev >&2 \
            && [ -e /usr/include/pthread.h ]; then
            return
        fi
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
