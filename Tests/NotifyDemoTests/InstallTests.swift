import ChildProcesses
import SharedTesting
import XCTest

/// The files that `Scripts/install.sh` installs under a prefix, with the program under test, and removes again.
final class InstallTests: XCTestCase {
    /// Runs lines in a temporary directory, where `install PREFIX` installs, and `remove PREFIX` removes. `install` uses
    /// `$stub`, whose programs print nothing.
    private func shell(_ lines: String) throws -> Shell.Outcome {
        try Shell.run(
            """
            cd "$(mktemp -d)"; here=$PWD; stub=$(mktemp -d); trap 'rm -r "$here" "$stub"' EXIT
            unset DESTDIR SOURCE_DATE_EPOCH
            for p in notify-demo notification-server; do echo '#!/bin/sh' > "$stub/$p"; chmod +x "$stub/$p"; done
            touch "$stub/libnotification-recorder.so"
            script() { '\(Repository.root.path)/Scripts/install.sh' "$@"; }
            install() { script --binary "$stub/notify-demo" "$@" >/dev/null; }
            remove() { script --uninstall "$@"; }
            set -e
            \(lines)
            """)
    }

    func testTheProgramItsCompletionsAndItsPageAreInstalledWorkAndAreRemovedWithoutATraceOnce() throws {
        let outcome = try shell(
            #"""
            script --binary "$(command -v notify-demo)" above/prefix >/dev/null
            (cd above/prefix && find . -type f | LC_ALL=C sort | grep -v '/notif')
            above/prefix/bin/notify-demo record -o - -- kitchen 2>&1 | grep -c '"stage":"post"' >&2
            grep -q '^complete .* notify-demo$' above/prefix/share/bash-completion/completions/notify-demo
            grep -q '^#compdef notify-demo$' above/prefix/share/zsh/site-functions/_notify-demo
            page=above/prefix/share/man/man1/notify-demo.1
            for w in '.Dt NOTIFY-DEMO 1' '.Sh SYNOPSIS' 'EXIT STATUS' EXAMPLES 'BETWEEN PROCESSES SUBCOMMANDS:' '.Ss diagnose'; do
                grep -qxF "$w" $page; done; grep -qF '\-\-strict' $page; ! grep -q child $page
            remove above/prefix
            find .
            remove above/prefix || echo $?
            """#)
        XCTAssertEqual(outcome.end, .exit(0), "\(outcome.errors)")
        XCTAssertEqual(
            outcome.output,
            """
            ./share/systemd/user/distributed-notifications.service
            ./share/systemd/user/distributed-notifications.socket
            ./share/zsh/site-functions/_notify-demo
            .
            2

            """)
        XCTAssertTrue(outcome.errors.contains("\n12\n"), "\(outcome.errors)")
        XCTAssertTrue(outcome.errors.contains("Nothing was installed under "))
    }

    func testWhatIsNotTheScriptsIsNeitherReplacedNorRemoved() throws {
        let outcome = try shell(
            """
            mkdir -p prefix/bin other/bin; touch prefix/bin/other; echo mine > other/bin/notify-demo
            install prefix
            echo mine >> prefix/share/man/man1/notify-demo.1
            remove prefix || echo $?
            find prefix -type f | LC_ALL=C sort; install other || echo $?; find other -type f; cat other/bin/notify-demo
            """)
        XCTAssertEqual(
            outcome.output.split(whereSeparator: \.isWhitespace).joined(separator: " "),
            "1 prefix/bin/other prefix/share/man/man1/notify-demo.1 2 other/bin/notify-demo mine", outcome.errors)
        XCTAssertTrue(outcome.errors.contains("notify-demo.1 was changed since it was installed"))
        XCTAssertTrue(outcome.errors.contains("other/bin/notify-demo exists and was not installed by this script."))
    }

    func testABridgeBesideTheProgramIsInstalledWithItsUnitAndRemovedByAnInstallationWithoutOne() throws {
        let outcome = try shell(
            #"""
            printf '#!/bin/sh\necho "bridge $*"\n' > "$stub/notification-bridge"; chmod +x "$stub/notification-bridge"
            install 'pre fix%'; 'pre fix%/bin/notification-bridge' works
            unit='pre fix%/share/systemd/user/notification-bridge.service'
            sed -n "s|$here|here|; /^\(After\|Wants\|Environment\|Exec\|Restart\)/p" "$unit"
            rm "$stub/notification-bridge"; script --bridge --binary "$stub/notify-demo" 'pre fix%' || echo $?
            install 'pre fix%' 2>&1 | wc -l; find 'pre fix%' | grep bridge || echo none
            remove 'pre fix%'; find .
            """#)
        XCTAssertEqual(
            outcome.output,
            """
            bridge works
            Wants=distributed-notifications.socket
            After=distributed-notifications.socket
            EnvironmentFile=%E/notification-bridge/options
            ExecStart="here/pre fix%%/bin/notification-bridge" $BRIDGE_OPTIONS
            Restart=on-failure
            RestartSec=5
            RestartPreventExitStatus=64
            2
            3
            none
            .

            """, outcome.errors)
        XCTAssertTrue(outcome.errors.contains("BRIDGE=tls swift build --product notification-bridge"), outcome.errors)
    }

    func testAUsageErrorIs64HelpPrintsTheUsageAndAFailureSaysWhyWithStatus2AndLeavesNoFiles() throws {
        let usage = try shell(
            """
            for a in "" "a b" --uninstall "--binary x" "--uninstall --bridge a" --help; do
                { eval "script $a" || echo $?; } 2>&1 | grep -E '^Usage: Scripts/install.sh |^64'
            done
            """)
        let line = "Usage: Scripts/install.sh [--bridge] [--binary FILE] PREFIX\n"
        XCTAssertEqual(usage.output, String(repeating: "\(line)64\n", count: 5) + line, usage.errors)
        for (lines, message) in [
            ("script --binary missing prefix", "missing is not an executable file."),
            ("script --binary /bin/false prefix", "/bin/false is not this project's notify-demo"),
            ("script --binary /bin/false /dev/null/prefix", "/dev/null is not a directory. Choose another prefix"),
            ("rm $stub/notification-server; install prefix", "swift build --product notification-server"),
            ("rm $stub/libnotification-recorder.so; install prefix", "swift build --product notification-recorder"),
        ] {
            let outcome = try shell("\(lines) || echo $?; find .")
            XCTAssertEqual(outcome.output, "2\n.\n", lines)
            XCTAssertTrue(outcome.errors.contains(message), "\(outcome.errors)")
        }
    }
}
