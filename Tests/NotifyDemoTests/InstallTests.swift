import ChildProcesses
import Foundation
import SharedTesting
import Testing

/// The files that `Scripts/install.sh` installs under a prefix, with the program under test, and removes again.
@Suite("Scripts/install.sh")
struct InstallTests {
    private static let installed = """
        ./bin/notification-server
        ./bin/notify-demo
        ./share/bash-completion/completions/notify-demo
        ./share/fish/vendor_completions.d/notify-demo.fish
        ./share/man/man1/notify-demo.1
        ./share/notify-demo/manifest
        ./share/systemd/user/distributed-notifications.service
        ./share/systemd/user/distributed-notifications.socket
        ./share/zsh/site-functions/_notify-demo

        """

    /// Runs lines in a temporary directory, where `install PREFIX` installs, `remove PREFIX` removes, and `files
    /// PREFIX` lists the files.
    private func shell(_ lines: String) throws -> Shell.Outcome {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try Shell.run(
            """
            cd "$(mktemp -d)"; here=$PWD; trap 'rm -r "$here"' EXIT; unset DESTDIR SOURCE_DATE_EPOCH
            script() { '\(root.path)/Scripts/install.sh' "$@"; }
            install() { script --binary "$(command -v notify-demo)" "$@" >/dev/null; }
            remove() { script --uninstall "$@"; }
            files() { (cd "$1" && find . -type f | LC_ALL=C sort); }
            set -e
            \(lines)
            """)
    }

    @Test("the program, its completions and its page are installed, work, and are removed without a trace, once")
    func installs() async throws {
        let outcome = try shell(
            #"""
            install above/prefix
            files above/prefix
            above/prefix/bin/notify-demo smoke redirect | tail -n 1 >&2
            grep -q '^complete .* notify-demo$' above/prefix/share/bash-completion/completions/notify-demo
            grep -q '^#compdef notify-demo$' above/prefix/share/zsh/site-functions/_notify-demo
            grep -q '^complete -c .notify-demo' above/prefix/share/fish/vendor_completions.d/notify-demo.fish
            page=above/prefix/share/man/man1/notify-demo.1
            for w in '.Dt NOTIFY-DEMO 1' 'EXIT STATUS' EXAMPLES 'BETWEEN PROCESSES SUBCOMMANDS:' '.Ss diagnose'; do
                grep -qxF "$w" $page; done; grep -qF '\-\-color' $page; ! grep -q child $page
            cp -r above/prefix before; install above/prefix; diff -r above/prefix before; rm -r before
            remove above/prefix
            find .
            remove above/prefix || echo $?
            """#)
        #expect(outcome.end == .exit(0), "\(outcome.errors)")
        #expect(outcome.output == Self.installed + ".\n2\n")
        #expect(outcome.errors.contains(" passed, 0 failed\n"))
        #expect(outcome.errors.contains("Nothing was installed under "))
    }

    @Test(
        "systemd accepts the units, wherever they are installed, and would start the installed program",
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/systemd-analyze")))
    func units() async throws {
        let prefix = "100%h $HOME ${HOME} é;"
        let outcome = try shell(
            #"""
            prefix='\#(prefix)'; install "$prefix"; cp "$prefix"/share/systemd/user/* .
            verify() { XDG_RUNTIME_DIR=$PWD SYSTEMD_UNIT_PATH=$PWD: systemd-analyze --user --man=no verify "$@"; }
            verify ./distributed-notifications.socket ./distributed-notifications.service
            rm "$prefix/bin/notification-server"
            verify ./distributed-notifications.service 2>verified || echo "$?: $(cat verified)"
            """#)
        #expect(outcome.end == .exit(0), "\(outcome.output)\(outcome.errors)")
        // systemd-analyze looks for the named program: the first check found it, and the second reports that it is
        // missing.
        #expect(outcome.output.contains("\(prefix)/bin/notification-server"), "\(outcome.output)")
        #expect(!outcome.errors.contains("notification"), "\(outcome.errors)")
    }

    @Test("files of others stay, and so do earlier directories, even if they are empty")
    func others() async throws {
        let outcome = try shell(
            """
            mkdir -p prefix/bin prefix/share/man; touch prefix/bin/other
            install prefix
            touch prefix/share/zsh/site-functions/_other; echo mine >> prefix/share/man/man1/notify-demo.1
            remove prefix || echo $?
            find prefix | LC_ALL=C sort
            """)
        #expect(
            outcome.output == """
                1
                prefix
                prefix/bin
                prefix/bin/other
                prefix/share
                prefix/share/man
                prefix/share/man/man1
                prefix/share/man/man1/notify-demo.1
                prefix/share/zsh
                prefix/share/zsh/site-functions
                prefix/share/zsh/site-functions/_other

                """, "\(outcome.errors)")
        #expect(outcome.errors.contains("notify-demo.1 was changed since it was installed"))
    }

    @Test("a file that is in the way and not the script's is not replaced, and nothing is installed")
    func inTheWay() async throws {
        let outcome = try shell(
            """
            mkdir -p prefix/bin; echo mine > prefix/bin/notify-demo
            install prefix || echo $?
            find prefix; cat prefix/bin/notify-demo
            """)
        #expect(outcome.output == "2\nprefix\nprefix/bin\nprefix/bin/notify-demo\nmine\n")
        #expect(outcome.errors.contains("prefix/bin/notify-demo exists and was not installed by this script."))
    }

    @Test("relative prefixes, symbolic links and blanks are accepted")
    func prefixes() async throws {
        for (before, prefix) in [
            ("mkdir -p other real; ln -s real 'a link'; cd other", "../a link/./sub/"),
            ("export DESTDIR=$here/real", "/usr/local"),
        ] {
            let outcome = try shell(
                """
                \(before)
                find "$here" | LC_ALL=C sort > "$here/before"; install "\(prefix)"
                if [ "${DESTDIR:-}" ]; then
                    grep -qxF 'ExecStart="/usr/local/bin/notification-server"' "$DESTDIR/usr/local/share/systemd/user/"*.service
                fi
                files "${DESTDIR:-}\(prefix)"; remove "\(prefix)"
                find "$here" -not -name before | LC_ALL=C sort | diff - <(grep -v /before "$here/before")
                """)
            #expect(outcome.end == .exit(0), "\(prefix): \(outcome.output)\(outcome.errors)")
            #expect(outcome.output == Self.installed)
        }
    }

    @Test("a usage error is 64, --help prints the usage, and a failure reports the reason and leaves no files")
    func refusals() async throws {
        for arguments in [
            "", "''", "a b", "--uninstall", "--binary", "--binary x", "--uninstall --binary x y", "--prefix a",
        ] {
            let outcome = try shell("script \(arguments) || echo $?; find .")
            #expect(outcome.output == "64\n.\n", "\(arguments)")
            #expect(outcome.errors.hasPrefix("Usage: Scripts/install.sh "))
        }
        let help = try shell("script --help")
        #expect(help.output.hasPrefix("Usage: Scripts/install.sh ") && help.end == .exit(0))
        for (arguments, message) in [
            ("--binary missing prefix", "missing is not an executable file."),
            ("--binary /bin/false prefix", "/bin/false is not this project's notify-demo"),
            ("--binary /bin/false /dev/null/prefix", "/dev/null is not a directory. Choose another prefix"),
        ] {
            let outcome = try shell("script \(arguments) || echo $?; find .")
            #expect(outcome.output == "2\n.\n", "\(arguments)")
            #expect(outcome.errors.contains(message), "\(outcome.errors)")
        }
    }

    @Test("notify-demo without the server beside it is not installed, and the message says how to build the server")
    func alone() async throws {
        let outcome = try shell(
            """
            mkdir alone; cp "$(command -v notify-demo)" alone/
            script --binary alone/notify-demo prefix || echo $?; rm -r alone; find .
            """)
        #expect(outcome.output == "2\n.\n")
        #expect(outcome.errors.contains("Build it too: swift build --product notification-server"), "\(outcome.errors)")
    }
}
