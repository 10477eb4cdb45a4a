import ChildProcesses
import DeliveryDiagnostics
import Foundation
import Scenarios
import SharedTesting
import XCTest

/// Runs the built program as a user does.
final class CommandLineTests: XCTestCase {
    // MARK: Running

    func testTheTourShowsListings1And2AndNamesCommandsToTypeNext() throws {
        let tour = try Shell.run("notify-demo")
        XCTAssertEqual(tour.end, .exit(0))
        XCTAssertTrue(tour.output.hasPrefix("From Apple's document \"Delivering Notifications To Particular Threads\""))
        XCTAssertTrue(
            tour.output.hasSuffix("\n  notify-demo record -- ./my-program\n  notify-demo list\n  notify-demo --help\n"))
        let form = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} notify-demo\[(\d+):(\d+)\] (.*)/
        let log = tour.output.split(separator: "\n").compactMap { $0.wholeMatch(of: form) }
        let (main, other) = (
            "current thread = {number = 1, name = main}", "current thread = {number = 2, name = (null)}"
        )
        XCTAssertEqual(
            log.map(\.3), [main[...], other[...], "test notification", main[...], main[...], "process notification"])
        XCTAssertEqual(log.map { $0.1 == $0.2 }, [true, false, false, true, true, true], "the main thread's kernel id")
    }

    func testAScenariosLogEqualsTheDocumentsAndADifferenceFromAnotherLogIsReported() throws {
        for (scenario, listing, status) in [
            ("posting-thread", "listing-1", Int32(0)), ("redirect", "listing-2", 0),
            ("observer-lifetime --capture unsafe", "listing-4", 0), ("redirect", "listing-1", 1),
        ] {
            let outcome = try Shell.run(
                "set -o pipefail; notify-demo run \(scenario) 2>&- | notify-demo compare --reference \(listing) -")
            XCTAssertEqual(outcome.end, .exit(status), "\(scenario): \(outcome.output)\(outcome.errors)")
        }
    }

    // MARK: smoke

    func testSmokePrintsALineForEachExpectationOfTheScenariosThatAreNamedOrOfAll() throws {
        let outcome = try Shell.run(
            "notify-demo smoke; echo $?; notify-demo list; notify-demo smoke redirect | tail -n 1")
        let lines = outcome.output.split(separator: "\n")
        let results = lines.prefix { $0.hasPrefix("ok      ") }
        XCTAssertEqual(
            Array(lines.dropFirst(results.count).prefix(2)), ["\(results.count) passed, 0 failed", "0"], outcome.output)
        for name in ScenarioCatalog.all.map(\.name) {
            XCTAssertTrue(results.contains { $0.hasPrefix("ok      \(name): ") }, "\(name)")
            XCTAssertTrue(outcome.output.contains("\n\(name) "), name)
        }
        XCTAssertEqual(lines.last, "3 passed, 0 failed")
    }

    /// The program starts itself again by its path, where this test puts a script that waits until the progress line
    /// was shown, or nothing.
    func testATerminalShowsAScenarioThatRunsAfterASecondAndOneThatCannotBeRunFailsWithItsReason() throws {
        let outcome = try Shell.inDirectory(
            """
            cp "$(command -v notify-demo)" t; exec 3< t; rm t
            GITHUB_ACTIONS=true /proc/self/fd/3 smoke observer-lifetime; echo $?
            echo '#!/bin/bash
            for i in {1..6000}; do grep -q "observer-lifetime, 1 of" shown && break; sleep 0.01; done
            exec notify-demo "$@"' > 't (deleted)'
            chmod +x 't (deleted)'
            script -qfec "/proc/$$/fd/3 smoke observer-lifetime > lines" shown > /dev/null
            tail -n 1 lines; cat shown
            """)
        let parts = outcome.output.components(separatedBy: "1 failed\n1\n")
        try require(parts.count == 2, "\(outcome)")
        XCTAssertTrue(parts[0].contains("FAILED  observer-lifetime: runs to its end: "), "\(outcome.output)")
        XCTAssertTrue(parts[0].contains("/t (deleted)"), "\(outcome.output)")
        XCTAssertTrue(outcome.errors.contains("::error title=observer-lifetime%3A runs to its end::"), outcome.errors)
        XCTAssertTrue(parts[1].contains(" passed, 0 failed\n"), "\(outcome.output)")
        XCTAssertTrue(parts[1].contains("\rsmoke: observer-lifetime, 1 of 1: running\u{1B}[K"), "\(outcome.output)")
        XCTAssertTrue(parts[1].contains("\r\u{1B}[K"))
    }

    func testColoursAppearOnATerminalAndNotWithNOCOLOR() throws {
        let outcome = try Shell.run(
            """
            export TERM=xterm; t() { script -qec "notify-demo smoke redirect" /dev/null | grep -c $'\\e\\[32mok'; }
            t; notify-demo smoke redirect | grep -c $'\\e'; NO_COLOR=1 t
            """)
        XCTAssertEqual(outcome.output, "3\n0\n0\n")
    }

    // MARK: Errors

    func testAClosedPipeEndsItQuietlyAFullDiskIs2AndAnUnknownWordIs64() throws {
        let outcome = try Shell.run(
            """
            set -o pipefail
            for before in : "trap '' PIPE"; do
            ($before; notify-demo run flood --notifications 1000 --json | head -1 >/dev/null; echo $?); done
            for command in 'run redirect' list --help 'help check'; do notify-demo $command > /dev/full; echo $?; done
            notify-demo help diagnos; echo $?; notify-demo rnu 2>&-; echo $?; notify-demo --version
            """)
        XCTAssertNotNil(outcome.output.wholeMatch(of: /0\n0\n2\n2\n2\n2\n64\n64\n\d+\.\d+\.\d+\n/), "\(outcome.output)")
        let full = "notify-demo: cannot write to standard output: No space left on device. The output is incomplete."
        XCTAssertEqual(outcome.errors.split(separator: "\n").count { $0 == full }, 4, outcome.errors)
        XCTAssertTrue(outcome.errors.contains("Did you mean \"diagnose\"?"))
    }

    func testCtrlCEndsItWithStatus130() throws {
        let outcome = try Shell.run(
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
