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
            ("posting-thread", "listing-1", Int32(0)), ("redirect --json", "listing-2", 0),
            ("observer-lifetime --capture unsafe", "listing-4", 0), ("redirect", "listing-1", 1),
        ] {
            let outcome = try Shell.run(
                "set -o pipefail; notify-demo run \(scenario) 2>&- | notify-demo compare --reference \(listing) -")
            XCTAssertEqual(outcome.end, .exit(status), "\(scenario): \(outcome.output)\(outcome.errors)")
        }
    }

    func testObserverLifetimeReportsHowEachWayOfHoldingTheObserverEndsAndMessagesGoToStandardError() throws {
        let outcome = try Shell.run("notify-demo run observer-lifetime")
        let lines = outcome.output.split(separator: "\n").filter { $0.hasPrefix("# ") }
        for (capture, end) in [("unsafe", "signal 11"), ("unowned", "signal 6"), ("weak", "exit 0")] {
            XCTAssertTrue(lines.contains { $0.contains(capture) && $0.contains(end) }, "\(outcome.output)")
        }
        XCTAssertTrue(outcome.output.contains("\n# unowned: Attempted to read an unowned reference but object "))
        XCTAssertTrue(outcome.errors.split(separator: "\n").allSatisfy { $0.hasPrefix("ok ") }, outcome.errors)
    }

    // MARK: smoke

    func testSmokePassesEndsWithItsCountsAndWritesTheSameResultsForContinuousIntegration() throws {
        let output = try Shell.inDirectory(
            """
            notify-demo smoke --color always --junit a; echo "status $?"; cat a; notify-demo list --json; notify-demo list
            """
        ).output
        let parts = output.components(separatedBy: "status 0\n")
        try require(parts.count == 2, "\(output.split(separator: "\n").filter { !$0.contains("32mok") })")
        let lines = parts[0].split(separator: "\n")
        let ok = "\u{1B}[32mok\u{1B}[0m      "
        let claims = lines.dropLast().map { $0.hasPrefix(ok) ? String($0.dropFirst(ok.count)) : "not ok: \($0)" }
        XCTAssertEqual(lines.last, "\(claims.count) passed, 0 failed")
        for name in ScenarioCatalog.all.map(\.name) {
            XCTAssertTrue(claims.contains { $0.hasPrefix("\(name): ") }, "\(name)")
            for text in ["<testsuite name=\"\(name)\"", "\"name\":\"\(name)\"", "\n\(name) "] {
                XCTAssertTrue(parts[1].contains(text), text)
            }
        }
        XCTAssertEqual(parts[1].components(separatedBy: "<testcase ").count, claims.count + 1)
    }

    func testSmokeRunsTheScenariosThatAreNamedAndSaysIfItsReportCannotBeWritten() throws {
        let outcome = try Shell.run(
            """
            notify-demo smoke redirect held-message; notify-demo smoke redirect --junit - | head -n 1
            notify-demo smoke redirect --junit /dev/full >/dev/null; echo $?; notify-demo smoke --junit /nonexistent/a; echo $?
            """)
        let lines = outcome.output.split(separator: "\n")
        let results = lines.prefix { $0.hasPrefix("ok ") }
        XCTAssertTrue(
            results.allSatisfy { $0.hasPrefix("ok      redirect: ") || $0.hasPrefix("ok      held-message: ") })
        XCTAssertEqual(
            Array(lines.dropFirst(results.count)),
            ["\(results.count) passed, 0 failed", #"<?xml version="1.0" encoding="UTF-8"?>"#, "2", "2"])
        XCTAssertTrue(outcome.errors.contains("cannot write /dev/full: No space left on device"))
        XCTAssertTrue(outcome.errors.contains("cannot write /nonexistent/a: No such file or directory"))
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
        XCTAssertTrue(parts[0].contains("FAILED  observer-lifetime: can be run: "), "\(outcome.output)")
        XCTAssertTrue(parts[0].contains("/t (deleted)"), "\(outcome.output)")
        XCTAssertTrue(outcome.errors.contains("::error title=observer-lifetime%3A can be run::"), outcome.errors)
        XCTAssertTrue(parts[1].contains(" passed, 0 failed\n"), "\(outcome.output)")
        XCTAssertTrue(parts[1].contains("\rsmoke: observer-lifetime, 1 of 1: running\u{1B}[K"), "\(outcome.output)")
        XCTAssertTrue(parts[1].contains("\r\u{1B}[K"))
    }

    func testColoursAppearOnATerminalAndNotWithNOCOLOROrColorNever() throws {
        let outcome = try Shell.run(
            """
            export TERM=xterm; t() { script -qec "notify-demo smoke redirect $1" /dev/null | grep -c $'\\e\\[32mok'; }
            t ''; t '--color never'; notify-demo smoke redirect | grep -c $'\\e'
            NO_COLOR=1 t ''; NO_COLOR=1 t '--color always'
            """)
        let counts = outcome.output.split(separator: "\n").map { Int($0) ?? -1 }
        XCTAssertEqual(counts.map { $0 > 0 }, [true, false, false, false, true], "\(outcome.output)")
    }

    // MARK: Errors

    func testAClosedPipeEndsItQuietlyAFullDiskIs2AndAnUnknownWordIs64() throws {
        let outcome = try Shell.run(
            """
            set -o pipefail
            for before in : "trap '' PIPE"; do
            ($before; notify-demo run flood --notifications 1000 --json | head -1 >/dev/null; echo $?); done
            for command in 'run redirect' --help 'help check'; do notify-demo $command > /dev/full; echo $?; done
            notify-demo help diagnos; echo $?; notify-demo rnu 2>&-; echo $?; notify-demo --version
            """)
        XCTAssertNotNil(outcome.output.wholeMatch(of: /0\n0\n2\n2\n2\n64\n64\n\d+\.\d+\.\d+\n/), "\(outcome.output)")
        let full = "notify-demo: cannot write to standard output: No space left on device. The output is incomplete."
        XCTAssertEqual(outcome.errors.split(separator: "\n").count { $0 == full }, 3, outcome.errors)
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
