import ChildProcesses
import DeliveryDiagnostics
import DeliveryRecording
import Foundation
import Scenarios
import SharedTesting
import XCTest

/// Runs the built program as a user does.
final class CommandLineTests: XCTestCase {
    private func shell(_ line: String, input: String = "") throws -> Shell.Outcome {
        try Shell.run(line, input: input)
    }

    // MARK: Running

    func testTheTourShowsListings1And2AndNamesCommandsToTypeNext() throws {
        let tour = try shell("notify-demo")
        XCTAssertEqual(tour.end, .exit(0))
        XCTAssertTrue(tour.output.hasPrefix("From Apple's document \"Delivering Notifications To Particular Threads\""))
        XCTAssertTrue(
            tour.output.hasSuffix("\n  notify-demo record -- ./my-program\n  notify-demo list\n  notify-demo --help\n"))
        let log = tour.output.split(separator: "\n").filter { $0.hasPrefix("20") }.map { $0 + "\n" }
        let expected = ReferenceLog.listing1.text + ReferenceLog.listing2.text
        XCTAssertEqual(log.count, 6)
        XCTAssertEqual(expected.split(separator: "\n").count, 6)
        for (name, lines) in [("listing-1", log[..<3]), ("listing-2", log[3...])] {
            let same = try shell("notify-demo compare --reference \(name) -", input: lines.joined())
            XCTAssertEqual(same.end, .exit(0), "\(same.output)")
        }
    }

    func testAScenariosLogEqualsTheDocumentsAndADifferenceFromAnotherLogIsReported() throws {
        for (scenario, listing, status) in [
            ("posting-thread", "listing-1", Int32(0)), ("redirect --json", "listing-2", 0),
            ("observer-lifetime --capture unsafe", "listing-4", 0), ("redirect", "listing-1", 1),
        ] {
            let outcome = try shell(
                "set -o pipefail; notify-demo run \(scenario) 2>&- | notify-demo compare --reference \(listing) -")
            XCTAssertEqual(outcome.end, .exit(status), "\(scenario): \(outcome.output)\(outcome.errors)")
        }
    }

    func testLinesAreExactlyAsTheDocumentsPrintThem() throws {
        let outcome = try shell("notify-demo run posting-thread 2>/dev/null")
        let form = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} notify-demo\[(\d+):(\d+)\] (.*)/
        let lines = try outcome.output.split(separator: "\n").map { try XCTUnwrap($0.wholeMatch(of: form)) }
        XCTAssertEqual(
            lines.map(\.3),
            [
                "current thread = {number = 1, name = main}", "current thread = {number = 2, name = (null)}",
                "test notification",
            ])
        XCTAssertEqual(lines[0].1, lines[0].2, "the main thread's kernel id is the process id")
        XCTAssertNotEqual(lines[1].2, lines[0].2)
        XCTAssertEqual(lines[1].2, lines[2].2)
    }

    func testObserverLifetimeReportsHowEachWayOfHoldingTheObserverEnds() throws {
        let outcome = try shell("notify-demo run observer-lifetime 2>/dev/null")
        let lines = outcome.output.split(separator: "\n").filter { $0.hasPrefix("# ") }
        for (capture, end) in [("unsafe", "signal 11"), ("unowned", "signal 6"), ("weak", "exit 0")] {
            XCTAssertTrue(lines.contains { $0.contains(capture) && $0.contains(end) }, "\(outcome.output)")
        }
        XCTAssertTrue(outcome.output.contains("\n# unowned: Attempted to read an unowned reference but object "))
    }

    func testDataGoesToStandardOutputMessagesToStandardErrorAndStagesHaveTheirThreads() throws {
        let outcome = try shell("notify-demo run redirect --style stages")
        for stage in [" register ", " post ", " capture ", " signal ", " drain ", " deliver "] {
            XCTAssertTrue(outcome.output.contains(stage), "\(outcome.output)")
        }
        XCTAssertTrue(outcome.errors.split(separator: "\n").allSatisfy { $0.hasPrefix("ok ") })
    }

    // MARK: smoke

    /// One run for the tests that look at its output: the lines with colours, the report for continuous integration,
    /// and the list of scenarios.
    private static let smoke = Result {
        try Shell.run(
            """
            notify-demo smoke --color always --junit "$T"; echo "status $?"; cat "$T"; rm "$T"
            notify-demo list --json; notify-demo list
            """.replacing("$T", with: "/dev/shm/notify-demo-\(UUID().uuidString)"))
    }

    func testTheSmokeTestPassesEndsWithItsCountsAndWritesTheSameResultsForContinuousIntegration() throws {
        let output = try Self.smoke.get().output
        let parts = output.components(separatedBy: "status 0\n")
        try require(parts.count == 2, "\(output.split(separator: "\n").filter { !$0.contains("32mok") })")
        let lines = parts[0].split(separator: "\n")
        let ok = "\u{1B}[32mok\u{1B}[0m      "
        let claims = lines.dropLast().map { $0.hasPrefix(ok) ? String($0.dropFirst(ok.count)) : "not ok: \($0)" }
        XCTAssertEqual(lines.last, "\(claims.count) passed, 0 failed")
        for name in ScenarioCatalog.all.map(\.name) {
            XCTAssertTrue(claims.contains { $0.hasPrefix("\(name): ") }, "\(name)")
            XCTAssertTrue(parts[1].contains("<testsuite name=\"\(name)\""))
            XCTAssertTrue(parts[1].contains("\"name\":\"\(name)\""))
            XCTAssertTrue(parts[1].contains("\n\(name) "))
        }
        XCTAssertEqual(parts[1].components(separatedBy: "<testcase ").count, claims.count + 1)
    }

    func testSmokeRunsTheScenariosThatAreNamed() throws {
        let outcome = try shell(
            """
            notify-demo smoke redirect held-message; notify-demo smoke redirect --junit - | head -n 1
            notify-demo smoke redirect --junit /dev/full >/dev/null; echo $?; notify-demo smoke --junit /nonexistent/a; echo $?
            """)
        let lines = outcome.output.split(separator: "\n")
        let results = lines.prefix { $0.hasPrefix("ok ") }
        XCTAssertTrue(
            results.allSatisfy { $0.hasPrefix("ok      redirect: ") || $0.hasPrefix("ok      held-message: ") })
        XCTAssertTrue(lines.contains("\(results.count) passed, 0 failed"))
        XCTAssertTrue(lines.contains(#"<?xml version="1.0" encoding="UTF-8"?>"#))
        XCTAssertEqual(lines.suffix(2), ["2", "2"], "\(outcome.output)")
        XCTAssertTrue(outcome.errors.contains("cannot write /dev/full: No space left on device"))
        XCTAssertTrue(outcome.errors.contains("cannot write /nonexistent/a: No such file or directory"))
    }

    func testAScenarioThatCannotBeRunIsAFailureWithItsReason() throws {
        // A program cannot start itself again after its file was removed.
        let path = "/dev/shm/notify-demo-\(UUID().uuidString)"
        let outcome = try shell(
            """
            cp "$(command -v notify-demo)" \(path); exec 3< \(path); rm \(path)
            exec /proc/self/fd/3 smoke observer-lifetime
            """)
        XCTAssertEqual(outcome.end, .exit(1), "\(outcome.errors)")
        XCTAssertTrue(outcome.output.contains("FAILED  observer-lifetime: can be run: "), "\(outcome.output)")
        XCTAssertTrue(outcome.output.contains("\(path) (deleted)"), "\(outcome.output)")
    }

    func testATerminalShowsTheRunningScenarioOnStandardErrorAfterASecondAndClearsIt() throws {
        // The program starts itself again by its path, where this test puts a script that waits until the progress line
        // was shown.
        let outcome = try shell(
            """
            cd "$(mktemp -d)"; here=$PWD; trap 'rm -r "$here"' EXIT
            cp "$(command -v notify-demo)" t; exec 3< t; rm t
            echo '#!/bin/bash
            for i in {1..6000}; do grep -q "observer-lifetime, 1 of" shown && break; sleep 0.01; done
            exec notify-demo "$@"' > 't (deleted)'
            chmod +x 't (deleted)'
            script -qfec "/proc/$$/fd/3 smoke observer-lifetime > lines" shown > /dev/null
            tail -n 1 lines; cat shown
            """)
        XCTAssertTrue(outcome.output.contains(" passed, 0 failed\n"), "\(outcome.output)")
        XCTAssertTrue(
            outcome.output.contains("\rsmoke: observer-lifetime, 1 of 1: running\u{1B}[K"), "\(outcome.output)")
        XCTAssertTrue(outcome.output.contains("\r\u{1B}[K"))
    }

    func testColoursAppearOnATerminalAndNotWithNOCOLOROrColorNever() throws {
        let outcome = try shell(
            """
            export TERM=xterm; t() { script -qec "$1" /dev/null | grep -c $'\\e\\[32mok'; }
            t 'notify-demo smoke redirect'; t 'notify-demo smoke redirect --color never'; notify-demo smoke redirect | grep -c $'\\e'
            NO_COLOR=1 t 'notify-demo smoke redirect'; NO_COLOR=1 t 'notify-demo smoke redirect --color always'
            """)
        let counts = outcome.output.split(separator: "\n").map { Int($0) ?? -1 }
        try require(counts.count == 5)
        XCTAssertEqual(counts.map { $0 > 0 }, [true, false, false, false, true], "\(outcome.output)")
    }

    // MARK: Errors

    func testAClosedPipeEndsItQuietlyEvenIfTheSignalIsIgnored() throws {
        for before in ["", "trap '' PIPE; "] {
            let run = "notify-demo run flood --notifications 1000 --json"
            let piped = try shell("\(before)set -o pipefail; \(run) | head -1 >/dev/null; echo \"status $?\"")
            XCTAssertEqual(piped.output, "status 0\n")
            XCTAssertFalse(piped.errors.contains("notify-demo:"), piped.errors)
        }
    }

    func testAnUnknownWordIs64WithASuggestionAlsoAfterHelpAndVersionPrintsTheVersion() throws {
        let outcome = try shell(
            "notify-demo help diagnos; echo $?; notify-demo rnu; echo $?; notify-demo --version")
        XCTAssertNotNil(outcome.output.wholeMatch(of: /64\n64\n\d+\.\d+\.\d+\n/), "\(outcome.output)")
        XCTAssertTrue(outcome.errors.contains("Did you mean \"diagnose\"?"))
    }

    func testAFullDiskIsAnErrorWithAMessage() throws {
        for command in ["run redirect", "--help", "help check"] {
            let outcome = try shell("notify-demo \(command) > /dev/full")
            XCTAssertEqual(outcome.end, .exit(2), command)
            XCTAssertTrue(
                outcome.errors.contains("cannot write to standard output: No space left on device"), command)
        }
    }

    func testCtrlCEndsItWithStatus130() throws {
        let outcome = try shell(
            // Job control is needed: without it a shell's background processes ignore the signal.
            """
            set -m; fifo=$(mktemp -u); mkfifo $fifo; exec 3<>$fifo; rm $fifo
            notify-demo compare --reference listing-1 - <&3 & child=$!
            for i in {1..10000}; do [ "$(< /proc/$child/comm)" = notify-demo ] && break; done
            kill -INT $child; wait $child; echo $?
            """)
        XCTAssertTrue(outcome.output.hasSuffix("130\n"), "\(outcome.output)\(outcome.errors)")
    }
}
