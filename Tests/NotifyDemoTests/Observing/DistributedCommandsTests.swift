import Foundation
import SharedTesting
import XCTest

/// Each test has a server of its own.
final class DistributedCommandsTests: XCTestCase {
    /// Runs lines in a temporary directory. `seen FILE TEXT` waits until a file contains a text.
    private func shell(_ lines: String) throws -> Shell.Outcome {
        try Shell.run(
            #"""
            cd "$(mktemp -d)"; mkdir -m 700 directory
            demo() { timeout -k 5 60 notify-demo "$@" --directory directory; }
            server() { demo serve --status --json | grep -o '"process":[0-9]*}$' | grep -o '[0-9]*'; }
            trap 'kill $(server) 2>/dev/null; rm -r "$PWD"' EXIT
            seen() { for i in {1..12000}; do grep -qs "$2" "$1" && return; sleep 0.005; done; echo "not seen: $2" >&2; }
            set -m
            \#(lines)
            """#)
    }

    func testANotificationIsPrintedWithItsSenderThreadAndUserInfoAndNEndsObserve() throws {
        let outcome = try shell(
            """
            demo observe done --object Kitchen -N 2 --timeout 60s 2>errors & seen errors connected
            demo post done; demo post done --object Kitchen --user-info a=b n:=3 r:=1.5
            demo serve --status | grep 'done of'; demo post done --object Kitchen; wait $!; echo $?
            """)
        let lines = outcome.output.split(separator: "\n").map(String.init)
        try require(lines.count == 4, "\(outcome.output)\(outcome.errors)")
        let form = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} (?:notify-demo)?\[\d+\] → 1 main: done of "Kitchen"(.*)/
        let posted = lines.filter { $0.hasPrefix("2") }.compactMap { $0.wholeMatch(of: form)?.1 }
        XCTAssertEqual(posted, [#" with {"a":"b","n":3,"r":1.5}"#, ""], "\(lines)")
        XCTAssertTrue(lines.contains { $0.contains(#"coalesce  done of "Kitchen""#) })
        XCTAssertEqual(lines.last, "0")
    }

    func testHeldNotificationsArePrintedAtResumption() throws {
        let outcome = try shell(
            """
            demo observe x -N 2 --timeout 60s --behavior hold --suspend-after 0s --resume-after 1s --json 2>errors >out &
            seen errors suspended; demo post x --user-info i:=1; demo post x --user-info i:=2
            wait $!; echo $?; grep -o '"i":.' out
            """)
        XCTAssertEqual(outcome.output, "0\n\"i\":1\n\"i\":2\n", "\(outcome.errors)")
    }

    func testTheEndOfAServerIsPrintedAsAnInterruptionInOrderAndLaterNotificationsFollow() throws {
        let outcome = try shell(
            """
            demo observe x -N 2 --timeout 60s --json 2>errors >out & seen errors connected
            demo post x; seen out notification; kill -9 $(server); seen out '"connected"'; demo post x
            wait $!; echo $?; grep -o '"kind":"[a-z]*"' out
            """)
        XCTAssertEqual(
            outcome.output,
            """
            0
            "kind":"notification"
            "kind":"interrupted"
            "kind":"connected"
            "kind":"notification"

            """, "\(outcome.errors)")
    }

    func testCtrlCIs130AndSIGTERM143AndEarlierNotificationsArePrinted() throws {
        let outcome = try shell(
            """
            for s in INT TERM; do
                rm -f errors out; notify-demo observe --directory directory 2>errors >out & seen errors connected
                demo post x; seen out x; kill -$s $!; wait $!; echo $?; wc -l <out
            done
            """)
        XCTAssertEqual(outcome.output, "130\n1\n143\n1\n", "\(outcome.errors)")
    }

    func testWaitStartsItsCommandWhenTheObserverIsRegisteredAndEndsWithTheNotification() throws {
        let outcome = try shell(
            """
            demo wait x --timeout 60s --directory directory -- notify-demo post x --directory directory; echo $?
            """.replacing("demo wait x", with: "notify-demo wait x"))
        XCTAssertTrue(outcome.output.hasSuffix(" → 1 main: x\n0\n"), "\(outcome.output)\(outcome.errors)")
        XCTAssertTrue(outcome.errors.hasPrefix("waiting for x\n"))
    }

    func testWaitIs1AfterTheTimeoutAnd2IfItsCommandFailsOrCannotBeStarted() throws {
        let outcome = try shell(
            """
            w() { timeout -k 5 60 notify-demo wait x --directory directory "$@"; echo $?; }
            demo post y; w --timeout 2s; w -- sh -c 'exit 3'; w -- sh -c 'kill -9 $$'; w -- /nonexistent
            """)
        XCTAssertEqual(outcome.output, "1\n2\n2\n2\n")
        for words in [
            "not arrived within 2 s", "sh failed with 3", "sh was ended by signal 9", "cannot run /nonexistent",
        ] {
            XCTAssertTrue(outcome.errors.contains(words), "\(outcome.errors)")
        }
    }

    func testAServerInTheForegroundEndsWith0WhenItIsToldToAndLogsWhatItDid() throws {
        let outcome = try shell(
            """
            notify-demo serve --directory directory 2>log & seen log 'serves at'; demo post x; kill -TERM $!; wait $!
            echo $?; cat log >&2; demo serve --idle-exit 50ms 2>&-; echo $?
            """)
        XCTAssertEqual(outcome.output, "0\n0\n", "\(outcome.errors)")
        for words in [" connected", " asked to end by signal 15", " stopping: ", " ended"] {
            XCTAssertTrue(outcome.errors.contains(words), "\(outcome.errors)")
        }
    }

    func testWhereNotificationServerIsNotInstalledAProgramThatOptedInServesItself() throws {
        let outcome = try shell(
            """
            mkdir alone; cp "$(command -v notify-demo)" alone/; all=$PATH; PATH=/usr/bin:/bin
            alone/notify-demo post x --directory directory; echo $?; PATH=$all
            tr '\\0' ' ' </proc/$(server)/cmdline; readlink /proc/$(server)/exe | grep -c /alone/notify-demo
            """)
        let lines = outcome.output.split(separator: "\n").map(String.init)
        try require(lines.count == 2, "\(outcome.output)\(outcome.errors)")
        XCTAssertEqual(lines[0], "0")
        XCTAssertTrue(lines[1].hasPrefix("notification-server --on-demand ") && lines[1].hasSuffix("1"), "\(lines[1])")
    }

    func testNotificationServerServesInTheForegroundAndAVariableThatNamesNoServerIsAnError() throws {
        let outcome = try shell(
            """
            notification-server --directory "$PWD/directory" 2>log & seen log 'serves at'; demo post x
            kill -TERM $!; wait $!; echo $?; cat log >&2; notification-server --nonsense 2>&-; echo $?
            DISTRIBUTED_NOTIFICATIONS_SERVER=/nowhere demo post x; echo $?
            """)
        XCTAssertEqual(outcome.output, "0\n64\n2\n", "\(outcome.errors)")
        for words in [
            "connected", "stopping: it was told to", "DISTRIBUTED_NOTIFICATIONS_SERVER is /nowhere",
        ] {
            XCTAssertTrue(outcome.errors.contains(words), "\(outcome.errors)")
        }
    }

    func testStatusWithoutAServerIs1AndStartsNone() throws {
        let outcome = try shell("demo serve --status --json; echo $?; ls directory")
        XCTAssertEqual(outcome.output, "1\n", "\(outcome.errors)")
        XCTAssertTrue(outcome.errors.contains("/directory. The first process that posts or observes starts one."))
    }

    func testAClosedPipeEndsObserveQuietly() throws {
        let outcome = try shell(
            """
            (set -o pipefail; demo observe 2>errors | head -1; echo $? >&2) & seen errors connected
            demo post x; while kill -0 $! 2>/dev/null; do demo post y; done; wait $!; grep -v ^observing errors
            """)
        XCTAssertEqual(outcome.output.split(separator: "\n").count, 1, "\(outcome.output)")
        XCTAssertTrue(outcome.errors.hasPrefix("0\n"), "\(outcome.errors)")
        XCTAssertFalse(outcome.errors.contains("notify-demo:"), "\(outcome.errors)")
    }
}
