import ChildProcesses
import Foundation
import SharedTesting
import XCTest

/// The examination itself is tested in PlatformExaminationTests.
final class DoctorTests: XCTestCase {
    func testOnlyTheRequestedFactsAreExaminedAndJSONHasALineForEach() throws {
        let outcome = try Shell.run("notify-demo doctor --json --fact f2 --fact F1")
        let facts = outcome.output.split(separator: "\n").map { $0.firstMatch(of: /"fact":"(F\d+)"/)?.1 }
        XCTAssertEqual(facts, ["F1", "F2"])
        XCTAssertEqual(outcome.end, .exit(0))
        XCTAssertEqual(outcome.errors, "")
    }

    func testTheServerThatTheExaminationStartsEndsAndItsDirectoryIsRemoved() throws {
        let outcome = try Shell.run(
            #"""
            export TMPDIR=$(mktemp -d); notify-demo doctor --fact F20 | grep -c "ok  DistributedCenter"; ls "$TMPDIR"
            servers() { for c in /proc/[0-9]*/cmdline; do [[ $(<$c) == *"$TMPDIR"* ]] && echo $c; done 2>/dev/null; }
            for i in {1..1200}; do [ -z "$(servers)" ] && break; sleep 0.05; done; servers
            rmdir "$TMPDIR"
            """#)
        XCTAssertEqual(outcome.output, "1\n", "\(outcome.errors)")
    }

    func testATimeoutOfThisPackageIsAFailureWithAMessageFoundationsIsOnlyARow() throws {
        let outcome = try Shell.run("notify-demo doctor --fact F5 --timeout 100us")
        XCTAssertEqual(outcome.end, .exit(1))
        XCTAssertTrue(outcome.output.contains("Foundation             NO  hangs"))
        XCTAssertTrue(outcome.output.contains("ThreadedNotifications  NO  hangs"))
        XCTAssertTrue(
            outcome.errors.hasPrefix("FAILED  asap: first in, first out: hangs instead of first, second, third\n"),
            "\(outcome.errors)")
    }

    func testTheLinesAreColouredAndNotWiderThanTheTerminal() throws {
        let columns = 80
        let outcome = try Shell.run(
            "TERM=xterm script -qec 'stty cols \(columns); notify-demo doctor --fact F2 --fact F7' /dev/null")
        XCTAssertTrue(outcome.output.contains("\u{1B}[32mok\u{1B}[0m  the other observer is called"))
        let plain = outcome.output.replacing(/\u{1B}\[[0-9;]*[mK]/, with: "")
        for line in plain.split(whereSeparator: \.isNewline) {
            XCTAssertLessThanOrEqual(line.count, columns, "\(line)")
        }
    }
}
