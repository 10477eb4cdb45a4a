import ChildProcesses
import Foundation
import SharedTesting
import XCTest

/// The files that `Scripts/install.sh` installs under a prefix, with the program under test, and removes again.
final class InstallTests: XCTestCase {
    private static let installed = """
        ./bin/notification-server
        ./bin/notify-demo
        ./lib/notify-demo/libnotification-recorder.so
        ./share/bash-completion/completions/notify-demo
        ./share/fish/vendor_completions.d/notify-demo.fish
        ./share/man/man1/notify-demo.1
        ./share/notify-demo/manifest
        ./share/systemd/user/distributed-notifications.service
        ./share/systemd/user/distributed-notifications.socket
        ./share/zsh/site-functions/_notify-demo

        """

    /// Runs lines in a temporary directory, where `install PREFIX` installs, `remove PREFIX` removes, and `files
    /// PREFIX` lists the files. `install` uses `$stub`, whose programs print nothing.
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
            files() { (cd "$1" && find . -type f | LC_ALL=C sort); }
            set -e
            \(lines)
            """)
    }

    func testTheProgramItsCompletionsAndItsPageAreInstalledWorkAndAreRemovedWithoutATraceOnce() throws {
        let outcome = try shell(
            #"""
            script --binary "$(command -v notify-demo)" above/prefix >/dev/null
            files above/prefix
            above/prefix/bin/notify-demo record -o - -- kitchen 2>&1 | grep -c '"stage":"post"' >&2
            grep -q '^complete .* notify-demo$' above/prefix/share/bash-completion/completions/notify-demo
            grep -q '^#compdef notify-demo$' above/prefix/share/zsh/site-functions/_notify-demo
            grep -q '^complete -c .notify-demo' above/prefix/share/fish/vendor_completions.d/notify-demo.fish
            page=above/prefix/share/man/man1/notify-demo.1
            for w in '.Dt NOTIFY-DEMO 1' '.Sh SYNOPSIS' 'EXIT STATUS' EXAMPLES 'BETWEEN PROCESSES SUBCOMMANDS:' '.Ss diagnose'; do
                grep -qxF "$w" $page; done; grep -qF '\-\-strict' $page; ! grep -q child $page
            remove above/prefix
            find .
            remove above/prefix || echo $?
            """#)
        XCTAssertEqual(outcome.end, .exit(0), "\(outcome.errors)")
        XCTAssertEqual(outcome.output, Self.installed + ".\n2\n")
        XCTAssertTrue(outcome.errors.contains("\n12\n"), "\(outcome.errors)")
        XCTAssertTrue(outcome.errors.contains("Nothing was installed under "))
    }

    func testWhatIsNotTheScriptsIsNeitherReplacedNorRemoved() throws {
        let outcome = try shell(
            """
            mkdir -p prefix/bin prefix/share/man other/bin; touch prefix/bin/other; echo mine > other/bin/notify-demo
            install prefix
            touch prefix/share/zsh/site-functions/_other; echo mine >> prefix/share/man/man1/notify-demo.1
            remove prefix || echo $?
            (cd prefix; find . | LC_ALL=C sort); install other || echo $?; find other; cat other/bin/notify-demo
            """)
        XCTAssertEqual(
            outcome.output.split(separator: "\n"),
            """
            1 . ./bin ./bin/other ./share ./share/man ./share/man/man1 ./share/man/man1/notify-demo.1 ./share/zsh \
            ./share/zsh/site-functions ./share/zsh/site-functions/_other 2 other other/bin other/bin/notify-demo mine
            """.split(separator: " "), "\(outcome.errors)")
        XCTAssertTrue(outcome.errors.contains("notify-demo.1 was changed since it was installed"))
        XCTAssertTrue(outcome.errors.contains("other/bin/notify-demo exists and was not installed by this script."))
    }

    func testAUsageErrorIs64HelpPrintsTheUsageAndAFailureSaysWhyWithStatus2AndLeavesNoFiles() throws {
        let usage = try shell(
            """
            for a in "" "a b" --uninstall "--binary x" --help; do
                { eval "script $a" || echo $?; } 2>&1 | grep -E '^Usage: Scripts/install.sh |^64'
            done
            """)
        let line = "Usage: Scripts/install.sh [--binary FILE] PREFIX\n"
        XCTAssertEqual(usage.output, String(repeating: "\(line)64\n", count: 4) + line, usage.errors)
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
