#!/usr/bin/env bash
# Installs notify-demo and notification-server with the recorder's library, completions, manual page and systemd units under a
# prefix, and the bridge to other machines if asked; or removes them. The installed files, and the directories that were created
# for them, are listed in share/notify-demo/manifest.
set -euo pipefail
umask 022
project=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")

usage() {
    cat <<TEXT
Usage: Scripts/install.sh [--bridge] [--binary FILE] PREFIX
       Scripts/install.sh --uninstall PREFIX
Installs PREFIX/bin/notify-demo with its completions for bash, zsh and fish and its manual page, PREFIX/bin/notification-server,
which programs find in PATH and start when they need it, units with which systemd starts it, and PREFIX/lib/notify-demo with the
library that 'notify-demo record' preloads; or removes them.
The programs are built for release and linked with Swift's libraries, so that they run without a Swift toolchain.
  --bridge       also builds PREFIX/bin/notification-bridge, which connects machines, with a unit that starts it. Its packages
                 are fetched, and take some more minutes to build
  --binary FILE  installs this notify-demo, and the notification-server and the library beside it, and builds nothing; also a
                 notification-bridge if one is beside it
  --uninstall    removes the installed files, and the empty directories that were created for them
  --help         prints this text
DESTDIR, if it is set, precedes PREFIX. To install for yourself: Scripts/install.sh ~/.local
The units are not enabled: systemctl --user enable --now distributed-notifications.socket (before --uninstall: disable --now).
That of the bridge reads the options of notification-bridge from ~/.config/notification-bridge/options, which has a line such
as BRIDGE_OPTIONS="--nats nats://host --name DishReady": systemctl --user enable --now notification-bridge.service
TEXT
}

refuse() {
    usage >&2
    exit 64
}

fail() {
    printf '%s\n' "$@" >&2
    exit 2
}

binary='' prefix='' uninstalls='' bridges=''
while [ $# -gt 0 ]; do
    case $1 in
        --help | -h)
            usage
            exit
            ;;
        --binary)
            if [ $# -lt 2 ] || [ -z "$2" ] || [ -n "$binary" ]; then refuse; fi
            binary=$2
            shift
            ;;
        --bridge) bridges=yes ;;
        --uninstall) uninstalls=yes ;;
        -*) refuse ;;
        *)
            if [ -z "$1" ] || [ -n "$prefix" ]; then refuse; fi
            prefix=$1
            ;;
    esac
    shift
done
if [ -z "$prefix" ] || { [ -n "$uninstalls" ] && [ -n "$binary$bridges" ]; }; then refuse; fi
if [ -n "$binary" ]; then
    bridge=$(dirname "$(readlink -f -- "$binary")")/notification-bridge
    if [ -x "$bridge" ]; then bridges=yes; fi
    if [ -n "$bridges" ] && [ ! -x "$bridge" ]; then
        fail "There is no program $bridge. Build it too: BRIDGE=tls swift build --product notification-bridge"
    fi
fi

case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
root=$(realpath -m -- "${DESTDIR:-}$prefix")
manifest=$root/share/notify-demo/manifest
files=(
    bin/notify-demo
    bin/notification-server
    lib/notify-demo/libnotification-recorder.so
    share/bash-completion/completions/notify-demo
    share/zsh/site-functions/_notify-demo
    share/fish/vendor_completions.d/notify-demo.fish
    share/man/man1/notify-demo.1
    share/systemd/user/distributed-notifications.socket
    share/systemd/user/distributed-notifications.service
)
if [ -n "$bridges" ]; then files+=(bin/notification-bridge share/systemd/user/notification-bridge.service); fi

# In the manifest, . is the root, and .., ../.. and so on are the directories above it.
uninstall() {
    [ -f "$manifest" ] || fail "Nothing was installed under $root by this script: there is no $manifest."
    local kind sum path left=0 directories=()
    while read -r kind path; do
        if [ "$kind" = directory ]; then directories=("$(realpath -m -- "$root/$path")" "${directories[@]}"); fi
    done <"$manifest"
    while read -r kind sum path; do
        if [ "$kind" != file ]; then continue; fi
        if [ -e "$root/$path" ] && [ "$(sha256sum <"$root/$path")" != "$sum  -" ]; then
            echo "$root/$path was changed since it was installed, and is not removed." >&2
            left=1
        else
            rm -f -- "$root/$path" || fail "$root/$path cannot be removed. Run this as the user who installed it."
        fi
    done <"$manifest"
    rm -f -- "$manifest" || fail "$manifest cannot be removed. Run this as the user who installed it."
    for path in "${directories[@]}"; do
        if [ -d "$path" ]; then rmdir --ignore-fail-on-non-empty -- "$path" || left=1; fi
    done
    echo "Removed notify-demo and notification-server from $root." >&2
    return $left
}

if [ -n "$uninstalls" ]; then
    uninstall
    exit
fi

# Checked before the build, which takes minutes.
require_place() {
    local directory
    directory=$(dirname "$root/$1")
    while [ ! -e "$directory" ]; do directory=$(dirname "$directory"); done
    [ -d "$directory" ] || fail "$directory is not a directory. Choose another prefix, or move it away."
    if [ ! -w "$directory" ] || [ ! -x "$directory" ]; then
        fail "$directory cannot be written to. Choose a prefix of your own: Scripts/install.sh ~/.local" \
            "To install for all users after that: sudo Scripts/install.sh --binary ~/.local/bin/notify-demo \"$prefix\""
    fi
    if [ -e "$root/$1" ] || [ -L "$root/$1" ]; then
        if [ ! -f "$root/$1" ] || { [ "$root/$1" != "$manifest" ] && ! grep -qsx "file [0-9a-f]* $1" "$manifest"; }; then
            fail "$root/$1 exists and was not installed by this script. Move it away, then run this again."
        fi
    fi
}
for path in "${files[@]}" share/notify-demo/manifest; do require_place "$path"; done

# Swift's libraries can be linked statically only if the development package of the C++ library is installed.
require_libstdcxx() {
    local file version
    for file in /usr/lib/gcc/*/*/libstdc++.{so,a} /usr/lib{,64}/libstdc++.{so,a} /usr/lib/*-linux-gnu/libstdc++.{so,a}; do
        if [ -e "$file" ]; then return; fi
    done
    version=$(basename -a /usr/lib/gcc/*-linux-gnu/[0-9]* | sort -V | tail -n 1)
    fail "Linking Swift's libraries statically needs the C++ library's development files (no libstdc++.so was found)." \
        "Install it, then run this again:" \
        "  Debian, Ubuntu:  sudo apt-get install libstdc++-${version/\[0-9\]\*/12}-dev" \
        "  Fedora, RHEL:    sudo dnf install libstdc++-devel"
}

if [ -z "$binary" ]; then
    . "$project/Scripts/requirements.sh"
    require_libstdcxx
    build=(
        swift build --package-path "$project" --configuration release --static-swift-stdlib -Xlinker -s
    )
    echo "Building notify-demo and notification-server for release; this takes some minutes." >&2
    products=(notify-demo notification-server notification-recorder)
    if [ -n "$bridges" ]; then
        export BRIDGE=tls
        products+=(notification-bridge)
    fi
    for product in "${products[@]}"; do
        "${build[@]}" --product "$product" --quiet >&2 || fail "The build failed. Nothing was installed."
    done
    binary=$("${build[@]}" --show-bin-path)/notify-demo
fi
if [ ! -f "$binary" ] || [ ! -x "$binary" ]; then fail "$binary is not an executable file."; fi
binary=$(readlink -f -- "$binary")
server=$(dirname "$binary")/notification-server
recorder=$(dirname "$binary")/libnotification-recorder.so

staged=$(mktemp -d)
new=''
trap 'rm -rf -- "$staged"; [ -z "$new" ] || rm -f -- "$new"' EXIT
stage() {
    mkdir -p "$(dirname "$staged/$1")"
    "${@:2}" >"$staged/$1" || fail "$binary is not this project's notify-demo: it prints no completions."
}
# The manual page has the date of the program, so that installing it again changes nothing.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(stat -c %Y "$binary")}
stage share/bash-completion/completions/notify-demo "$binary" --generate-completion-script bash
stage share/zsh/site-functions/_notify-demo "$binary" --generate-completion-script zsh
stage share/fish/vendor_completions.d/notify-demo.fish "$binary" --generate-completion-script fish

# The manual page has the help texts as they are printed: all options, groups, examples and exit statuses.
manual_page() {
    local name
    help_text() {
        echo '.Bd -literal'
        COLUMNS=76 "$binary" "$@" | sed 's/\\/\\e/g; s/-/\\-/g; s/^[.'\'']/\\\&&/'
        echo '.Ed'
    }
    echo ".Dd $(LC_ALL=C date -u -d "@$SOURCE_DATE_EPOCH" '+%B %-d, %Y')"
    printf '%s\n' '.Dt NOTIFY-DEMO 1' .Os '.Sh NAME' '.Nm notify-demo' \
        '.Nd show on which thread notifications are delivered, and record, diagnose and compare deliveries' \
        '.Sh SYNOPSIS' .Nm '.Op Ar subcommand Op Ar argument ...' .Nm '.Cm help Op Ar subcommand' .Nm '.Fl -version' \
        '.Sh DESCRIPTION'
    help_text --help
    echo '.Sh SUBCOMMANDS'
    # Not NAME --help, which of the bridge is that of another program.
    for name in $("$binary" --help | awk '/SUBCOMMANDS:$/ { lists = 1 } lists && /^  [a-z]/ { print $1 }'); do
        echo ".Ss $name"
        help_text help "$name"
    done
}
stage share/man/man1/notify-demo.1 manual_page

# In share/systemd/user, which systemd reads for users under /usr, /usr/local and ~/.local alike.
socket_unit() {
    cat <<'TEXT'
[Unit]
Description=Notifications between the processes of a user
Documentation=man:notify-demo(1)

[Socket]
ListenStream=%t/distributed-notifications/socket
SocketMode=0600
DirectoryMode=0700

[Install]
WantedBy=sockets.target
TEXT
}
# The path of a program after the installation: without DESTDIR, and with symbolic links unresolved. systemd accepts no path
# with quotes or backslashes.
unit_program() {
    local program
    program=$(realpath -ms -- "$prefix")/bin/$1
    echo "\"${program//%/%%}\""
}
service_unit() {
    cat <<TEXT
[Unit]
Description=Notifications between the processes of a user
Documentation=man:notify-demo(1)
Requires=distributed-notifications.socket
After=distributed-notifications.socket

[Service]
ExecStart=$(unit_program notification-server)
TEXT
}
# A usage error (64) needs a change of the options.
bridge_unit() {
    cat <<TEXT
[Unit]
Description=Notifications from and to other machines
Documentation=man:notify-demo(1)
Wants=distributed-notifications.socket
After=distributed-notifications.socket

[Service]
EnvironmentFile=%E/notification-bridge/options
ExecStart=$(unit_program notification-bridge) \$BRIDGE_OPTIONS
Restart=on-failure
RestartSec=5
RestartPreventExitStatus=64

[Install]
WantedBy=default.target
TEXT
}
stage share/systemd/user/distributed-notifications.socket socket_unit
stage share/systemd/user/distributed-notifications.service service_unit
[ -x "$server" ] || fail "There is no program $server. Build it too: swift build --product notification-server"
stage bin/notify-demo cat "$binary"
[ -r "$recorder" ] || fail "There is no library $recorder. Build it too: swift build --product notification-recorder"
stage bin/notification-server cat "$server"
stage lib/notify-demo/libnotification-recorder.so cat "$recorder"
if [ -n "$bridges" ]; then
    stage share/systemd/user/notification-bridge.service bridge_unit
    stage bin/notification-bridge cat "$(dirname "$binary")/notification-bridge"
fi
chmod 755 "$staged/bin/"*

# The directories to create, parents first, after those that an earlier installation created.
directories() {
    local path above=. directory=$root made=()
    if [ -f "$manifest" ]; then sed -n 's/^directory //p' "$manifest"; fi
    while [ ! -d "$directory" ]; do
        made=("$above" "${made[@]}")
        directory=$(dirname "$directory")
        if [ "$above" = . ]; then above=..; else above=../$above; fi
    done
    if [ ${#made[@]} -gt 0 ]; then printf '%s\n' "${made[@]}"; fi
    for path in "${files[@]}" share/notify-demo/manifest; do
        made=()
        while path=$(dirname "$path"); [ "$path" != . ] && [ ! -d "$root/$path" ]; do made=("$path" "${made[@]}"); done
        if [ ${#made[@]} -gt 0 ]; then printf '%s\n' "${made[@]}"; fi
    done
}
manifest() {
    local path sum
    directories | awk '!seen[$0]++ { print "directory " $0 }'
    for path in "${files[@]}"; do
        sum=$(sha256sum <"$staged/$path")
        echo "file ${sum%% *} $path"
    done
}
stage share/notify-demo/manifest manifest

# The complete file is renamed, so that a running program continues and no reader sees a part.
put() {
    new=$(dirname "$root/$1")/.$(basename "$1").$$
    { mkdir -p -- "$(dirname "$new")" && cp -- "$staged/$1" "$new" && mv -f -- "$new" "$root/$1"; } ||
        fail "$root/$1 cannot be written. To remove what was installed before: Scripts/install.sh --uninstall \"$prefix\""
    new=''
}
# A bridge of an earlier installation would have another version than the rest.
if [ -f "$manifest" ] && [ -z "$bridges" ]; then
    for path in bin/notification-bridge share/systemd/user/notification-bridge.service; do
        grep -qsx "file [0-9a-f]* $path" "$manifest" || continue
        rm -f -- "$root/$path" || fail "$root/$path cannot be removed. Run this as the user who installed it."
        echo "Removed $root/$path, which is installed only with --bridge." >&2
    done
fi
# The manifest is first, so that an interrupted installation can be removed.
put share/notify-demo/manifest
for path in "${files[@]}"; do
    put "$path"
    echo "$root/$path"
done
case :$PATH: in
    *:"$prefix/bin":*) ;;
    *) echo "To run it by name: export PATH=\"$prefix/bin:\$PATH\"" >&2 ;;
esac
if systemd-analyze --user unit-paths 2>/dev/null | grep -qxF -- "$root/share/systemd/user"; then
    echo "To have systemd start the server: systemctl --user enable --now distributed-notifications.socket" >&2
fi
