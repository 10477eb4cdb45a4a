import ChildProcesses
import Foundation
import SharedTesting
import Testing

/// The examination itself is tested in PlatformExaminationTests.
@Suite("notify-demo doctor")
struct DoctorTests {
    @Test("only the requested facts are examined, and JSON has a line for each")
    func json() async throws {
        let outcome = try Shell.run("notify-demo doctor --json --fact f2 --fact F1")
        let facts = outcome.output.split(separator: "\n").map { $0.firstMatch(of: /"fact":"(F\d+)"/)?.1 }
        #expect(facts == ["F1", "F2"])
        #expect(outcome.end == .exit(0))
        #expect(outcome.errors == "")
    }

    @Test("the server that the examination starts ends, and its directory is removed")
    func serverEnds() async throws {
        let outcome = try Shell.run(
            #"""
            export TMPDIR=$(mktemp -d); notify-demo doctor --fact F20 | grep -c "ok  DistributedCenter"; ls "$TMPDIR"
            servers() { for c in /proc/[0-9]*/cmdline; do [[ $(<$c) == *"$TMPDIR"* ]] && echo $c; done 2>/dev/null; }
            for i in {1..1200}; do [ -z "$(servers)" ] && break; sleep 0.05; done; servers
            rmdir "$TMPDIR"
            """#)
        #expect(outcome.output == "1\n", "\(outcome.errors)")
    }

    @Test("a timeout of this package is a failure with a message; Foundation's is only a row")
    func failure() async throws {
        let outcome = try Shell.run("notify-demo doctor --fact F5 --timeout 100us")
        #expect(outcome.end == .exit(1))
        #expect(outcome.output.contains("Foundation             NO  hangs"))
        #expect(outcome.output.contains("ThreadedNotifications  NO  hangs"))
        #expect(
            outcome.errors.hasPrefix("FAILED  asap: first in, first out: hangs instead of first, second, third\n"),
            "\(outcome.errors)")
    }

    @Test("the lines are as wide as the terminal", arguments: [(80, false), (200, true)])
    func width(columns: Int, isTable: Bool) async throws {
        let outcome = try Shell.run(
            "TERM=xterm script -qec 'stty cols \(columns); notify-demo doctor --fact F2 --fact F7' /dev/null")
        #expect(outcome.output.contains("fact  area") == isTable)
        #expect(outcome.output.contains("\u{1B}[32mok\u{1B}[0m  the other observer is called"))
        let plain = outcome.output.replacing(/\u{1B}\[[0-9;]*[mK]/, with: "")
        for line in plain.split(whereSeparator: \.isNewline) { #expect(line.count <= columns, "\(line)") }
    }
}
