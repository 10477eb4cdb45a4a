import Foundation
import Subprocess
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
    private func shell(_ lines: String) async throws -> Shell.Outcome {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try await Shell.run(
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

    @Test("the program, its completions and its page are installed, work, and are removed without a trace")
    func installs() async throws {
        let outcome = try await shell(
            """
            install above/prefix
            files above/prefix
            above/prefix/bin/notify-demo smoke | tail -n 1 >&2
            grep -q '^complete .* notify-demo$' above/prefix/share/bash-completion/completions/notify-demo
            grep -q '^#compdef notify-demo$' above/prefix/share/zsh/site-functions/_notify-demo
            grep -q '^complete -c .notify-demo' above/prefix/share/fish/vendor_completions.d/notify-demo.fish
            grep -q '^.Dt NOTIFY-DEMO 1$' above/prefix/share/man/man1/notify-demo.1
            remove above/prefix
            find .
            """)
        #expect(outcome.status == .exited(0), "\(outcome.errors)")
        #expect(outcome.output == Self.installed + ".\n")
        #expect(outcome.errors.contains(" passed, 0 failed\n"))
    }

    @Test(
        "systemd takes the units, wherever they are installed, and would start the installed program",
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/systemd-analyze")),
        arguments: ["prefix", "with blank", "100%h $HOME ${HOME} é;"])
    func units(prefix: String) async throws {
        let outcome = try await shell(
            #"""
            prefix='\#(prefix)'; install "$prefix"
            units=$PWD/$prefix/share/systemd/user
            cp "$units"/* .; XDG_RUNTIME_DIR=$PWD SYSTEMD_UNIT_PATH=$PWD: \
                systemd-analyze --user --man=no verify ./distributed-notifications.socket ./distributed-notifications.service
            rm "$prefix/bin/notification-server"; XDG_RUNTIME_DIR=$PWD SYSTEMD_UNIT_PATH=$PWD: \
                systemd-analyze --user --man=no verify ./distributed-notifications.service 2>verified || echo "$?: $(cat verified)"
            """#)
        #expect(outcome.status == .exited(0), "\(outcome.output)\(outcome.errors)")
        // systemd-analyze looks for the named program: the first check found it, and the second reports that it is
        // missing.
        #expect(outcome.output.contains("\(prefix)/bin/notification-server"), "\(outcome.output)")
        #expect(!outcome.errors.contains("notification"), "\(outcome.errors)")
    }

    @Test("with DESTDIR the service names the program without it")
    func destination() async throws {
        let outcome = try await shell(
            "export DESTDIR=$here/real; install /usr/local; cat real/usr/local/share/systemd/user/distributed-notifications.service"
        )
        #expect(outcome.output.contains("\nExecStart=\"/usr/local/bin/notification-server\"\n"), "\(outcome.output)")
    }

    @Test("installing again changes nothing, and is removed once")
    func again() async throws {
        let outcome = try await shell(
            """
            install prefix; cp -r prefix before
            install prefix; diff -r prefix before
            remove prefix; rm -r before; find .
            remove prefix || echo $?
            """)
        #expect(outcome.output == ".\n2\n", "\(outcome.errors)")
        #expect(outcome.errors.contains("Nothing was installed under "))
    }

    @Test("files of others stay, and so do earlier directories, even if they are empty")
    func others() async throws {
        let outcome = try await shell(
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
        #expect(outcome.errors.contains("notify-demo.1 is not what was installed."))
    }

    @Test("a file that is in the way and not the script's is not replaced, and nothing is installed")
    func inTheWay() async throws {
        let outcome = try await shell(
            """
            mkdir -p prefix/bin; echo mine > prefix/bin/notify-demo
            install prefix || echo $?
            find prefix; cat prefix/bin/notify-demo
            """)
        #expect(outcome.output == "2\nprefix\nprefix/bin\nprefix/bin/notify-demo\nmine\n")
        #expect(outcome.errors.contains("prefix/bin/notify-demo is there already, and not from this script."))
    }

    @Test(
        "any way to write the prefix will do",
        arguments: [
            ("mkdir real", "$here/with blank"), ("mkdir real", "./real/../real/sub/"),
            ("ln -s real link; mkdir real", "link"),
            ("mkdir -p other real; cd other", "../real"), ("export DESTDIR=$here/real", "/usr/local"),
        ])
    func prefixes(before: String, prefix: String) async throws {
        let outcome = try await shell(
            """
            \(before)
            find "$here" | LC_ALL=C sort > "$here/before"; install "\(prefix)"
            files "${DESTDIR:-}\(prefix)"
            remove "\(prefix)"; find "$here" -not -name before | LC_ALL=C sort | diff - <(grep -v /before "$here/before")
            """)
        #expect(outcome.status == .exited(0), "\(outcome.output)\(outcome.errors)")
        #expect(outcome.output == Self.installed)
    }

    @Test(
        "a wrong command line is 64",
        arguments: ["", "''", "a b", "--uninstall", "--binary", "--binary x", "--uninstall --binary x y", "--prefix a"])
    func usage(arguments: String) async throws {
        let outcome = try await shell("script \(arguments) || echo $?; find .")
        #expect(outcome.output == "64\n.\n")
        #expect(outcome.errors.hasPrefix("Usage: Scripts/install.sh "))
    }

    @Test(
        "an installation that fails reports the reason, and leaves no files",
        arguments: [
            ("--binary missing prefix", "missing is no program that can be run."),
            ("--binary /bin/false prefix", "/bin/false does not say what to install."),
            ("--binary /bin/false /dev/null/prefix", "/dev/null is no directory. Choose another prefix"),
        ])
    func trouble(arguments: String, says: String) async throws {
        let outcome = try await shell("script \(arguments) || echo $?; find .")
        #expect(outcome.output == "2\n.\n")
        #expect(outcome.errors.contains(says), "\(outcome.errors)")
    }

    @Test("notify-demo without the server beside it is not installed, and the message says how to build the server")
    func alone() async throws {
        let outcome = try await shell(
            """
            mkdir alone; cp "$(command -v notify-demo)" alone/
            script --binary alone/notify-demo prefix || echo $?; rm -r alone; find .
            """)
        #expect(outcome.output == "2\n.\n")
        #expect(outcome.errors.contains("Build it too: swift build --product notification-server"), "\(outcome.errors)")
    }
}
