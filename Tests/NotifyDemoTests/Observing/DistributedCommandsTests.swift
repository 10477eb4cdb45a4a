import SharedTesting
import XCTest

/// Each test has a server of its own.
final class DistributedCommandsTests: XCTestCase {
    /// Runs lines in a temporary directory. `seen FILE TEXT` waits until a file contains a text.
    private func shell(_ lines: String) throws -> Shell.Outcome {
        try Shell.run(
            #"""
            cd "$(mktemp -d)"; mkdir -m 700 directory
            d="--directory directory"
            demo() { command=$1; shift; timeout -k 5 60 notify-demo $command $d "$@"; }
            server() { demo serve --status | sed -n 's/^server \([0-9]*\),.*/\1/p'; }
            trap 'kill $(server) 2>/dev/null; rm -r "$PWD"' EXIT
            seen() { for i in {1..12000}; do grep -qs "$2" "$1" && return; sleep 0.005; done; echo "not seen: $2" >&2; }
            set -m
            \#(lines)
            """#)
    }

    func testNotificationsArePrintedWithTheirSenderThreadAndUserInfoAndTheEndOfAServerInOrderAndNEndsObserve() throws {
        let outcome = try shell(
            """
            demo serve --status --json; echo $?; ls directory
            demo observe done --object Kitchen -N 3 2>errors >lines & seen errors connected
            demo post done; demo post done --object Kitchen --user-info '{"a":"b","n":3,"r":1.5}'
            demo serve --status | grep -o 'done of.*'; demo post done --object Kitchen; seen lines '"Kitchen"$'
            kill -9 $(server); seen lines ' connected: '; demo post done --object Kitchen
            wait $!; echo $?; sed -E 's/^.{23} (notify-demo)?//; s/[0-9]+/0/g; s/;.*//; s/:.*(server|was).*//' lines
            """)
        XCTAssertEqual(
            outcome.output,
            """
            1
            done of "Kitchen"
            0
            [0] → 0 main: done of "Kitchen" with {"a":"b","n":0,"r":0.0}
            [0] → 0 main: done of "Kitchen"
            interrupted
            connected
            [0] → 0 main: done of "Kitchen"

            """, outcome.errors)
        XCTAssertTrue(outcome.errors.contains("/directory. The first process that posts or observes starts one."))
    }

    func testCtrlCIs130AndSIGTERM143AndAClosedPipeIsQuietAndEarlierNotificationsArePrinted() throws {
        let outcome = try shell(
            """
            for s in INT TERM; do
                rm -f errors out; notify-demo observe $d 2>errors >out & seen errors connected
                demo post x; seen out x; kill -$s $!; wait $!; echo $?; wc -l <out
            done
            rm errors; (set -o pipefail; demo observe 2>errors | head -1 | wc -l; echo $?) & seen errors connected
            demo post x; while kill -0 $! 2>/dev/null; do demo post y; done; wait $!; grep -v ^observing errors
            """)
        XCTAssertEqual(outcome.output, "130\n1\n143\n1\n1\n0\n", "\(outcome.errors)")
    }

    func testACommandIsStartedWhenTheObserverIsRegisteredAndItsFailureAndATimeoutEndTheWaiting() throws {
        let outcome = try shell(
            """
            w() { demo observe x -N 1 "$@"; echo $?; }
            w --timeout 60s -- notify-demo post x $d | sed 's/.* → //'
            w --timeout 2s; w -- sh -c 'exit 3'; w -- sh -c 'kill -9 $$'; w -- /nonexistent
            """)
        XCTAssertEqual(outcome.output, "1 main: x\n0\n1\n2\n2\n2\n", outcome.errors)
        for words in [
            "observing x, connected to server ", "0 of 1 notifications arrived within 2 s",
            "sh ended with exit 3, and x has not arrived", "sh ended with signal 9", "cannot run /nonexistent",
        ] { XCTAssertTrue(outcome.errors.contains(words), "\(outcome.errors)") }
    }

    func testAServerInTheForegroundEndsWith0WhenItIsToldToAndLogsWhatItDid() throws {
        let outcome = try shell(
            """
            for server in 'notify-demo serve' notification-server; do
            $server --directory "$PWD/directory" 2>log & seen log 'serves at'; demo post x; kill -TERM $!; wait $!
            echo $?; cat log >&2; done; notification-server --nonsense 2>&-; echo $?
            DISTRIBUTED_NOTIFICATIONS_SERVER=/nowhere demo post x; echo $?
            """)
        XCTAssertEqual(outcome.output, "0\n0\n64\n2\n", "\(outcome.errors)")
        for words in [" connected", "stopping: it was told to", "DISTRIBUTED_NOTIFICATIONS_SERVER is /nowhere"] {
            XCTAssertTrue(outcome.errors.contains(words), "\(outcome.errors)")
        }
    }

    func testTheRecordsOfAPostAndOfItsReceiverInAnotherProcessHaveTheSameOriginAndWrongNamesAreFound() throws {
        let outcome = try shell(
            """
            # The poster ends before the observer, which waits for a second post.
            notify-demo record -o run.jsonl -- notify-demo observe OrderSaved -N 2 $d -- \\
                sh -c "notify-demo post OrderSaved $d; exec env -u LD_PRELOAD notify-demo post OrderSaved $d" >&2
            grep '"origin"' run.jsonl | sed -E 's/.*"stage":"([a-z]*)".*"origin":"([^"]*)".*/\\1 \\2/' | sort -k 2 |
                awk '{ print $1, $2 == last; last = $2 }'
            notify-demo timeline run.jsonl; notify-demo stats run.jsonl
            for name in OrderSavde Else; do
                notify-demo record -o $name.jsonl -- notify-demo observe OrderSaved --timeout 500ms $d -- \\
                    notify-demo post $name $d >&2
                notify-demo diagnose $name.jsonl
            done
            """)
        XCTAssertTrue(outcome.output.contains("capture 0\npost 1\n"), "\(outcome)")
        for pattern in [
            #/●◀─+┤?[ │]+capture +#\d+ +[0-9.]+ [mµ]?s +OrderSaved/#,
            #/notify-demo \d+ +notify-demo \d+ +1 +[0-9.]+ [mµ]?s/#,
            #/problem: OrderSaved was never posted .* OrderSavde was posted to other processes once\.\n/#,
            #/note: OrderSaved was never posted/#,
            #/note: Else was posted once to other processes, and no recorded process observes it\.\n/#,
        ] { XCTAssertEqual(outcome.output.matches(of: pattern).count, 1, "\(outcome)") }
    }
}
