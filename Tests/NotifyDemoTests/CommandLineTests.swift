import ChildProcesses
import Foundation
import Scenarios
import SharedTesting
import XCTest

/// Runs the built program as a user does.
final class CommandLineTests: XCTestCase {
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

    func testSmokePrintsALineForEachExpectationOfTheScenariosThatAreNamedAndAllAreListed() throws {
        let outcome = try Shell.run("notify-demo smoke perform-block redirect; echo $?; notify-demo list")
        let lines = outcome.output.split(separator: "\n")
        let results = lines.prefix { $0.hasPrefix("ok      ") }
        XCTAssertEqual(
            Array(lines.dropFirst(results.count).prefix(2)), ["\(results.count) passed, 0 failed", "0"], outcome.output)
        for name in ["perform-block", "redirect"] {
            XCTAssertTrue(results.contains { $0.hasPrefix("ok      \(name): ") }, "\(name)")
        }
        for scenario in ScenarioCatalog.all { XCTAssertTrue(outcome.output.contains("\n\(scenario.name) ")) }
    }

    /// The program starts itself again by its path, where nothing is.
    func testAScenarioThatCannotBeRunFailsWithItsReasonAndAnAnnotation() throws {
        let outcome = try Shell.inDirectory(
            """
            cp "$(command -v notify-demo)" t; exec 3< t; rm t
            GITHUB_ACTIONS=true /proc/self/fd/3 smoke observer-lifetime; echo $?
            """)
        XCTAssertTrue(outcome.output.hasPrefix("FAILED  observer-lifetime: runs to its end: "), outcome.output)
        XCTAssertTrue(outcome.output.hasSuffix("0 passed, 1 failed\n1\n"), outcome.output)
        XCTAssertTrue(outcome.errors.contains("::error title=observer-lifetime%3A runs to its end::"), outcome.errors)
    }

    func testColoursAppearOnATerminalAndNotWithNOCOLOR() throws {
        let outcome = try Shell.run(
            """
            export TERM=xterm; t() { script -qec "notify-demo smoke redirect" /dev/null | grep -c $'\\e\\[32mok'; }
            t; notify-demo smoke redirect | grep -c $'\\e'; NO_COLOR=1 t
            """)
        XCTAssertEqual(outcome.output, "3\n0\n0\n")
    }

    func testAClosedPipeEndsItQuietlyAFullDiskIs2AndAnUnknownWordIs64() throws {
        let outcome = try Shell.run(
            """
            set -o pipefail
            for before in : "trap '' PIPE"; do
            ($before; notify-demo run flood --notifications 1000 --json | head -1 >/dev/null; echo $?); done
            for command in 'run redirect' list --help 'help check'; do notify-demo $command > /dev/full; echo $?; done
            notify-demo rnu 2>&-; echo $?; notify-demo --version
            """)
        XCTAssertNotNil(outcome.output.wholeMatch(of: /0\n0\n2\n2\n2\n2\n64\n\d+\.\d+\.\d+\n/), "\(outcome.output)")
        let full = "notify-demo: cannot write to standard output: No space left on device. The output is incomplete."
        XCTAssertEqual(outcome.errors.split(separator: "\n").count { $0 == full }, 4, outcome.errors)
    }

    func testDoctorRecordsAProgramAndNamesTheLibraryTheSymbolizerAndTheServerAndSaysWhatToDoWithoutThem() throws {
        let outcome = try Shell.inDirectory(
            """
            export d=$PWD/s; notify-demo doctor --directory "$d"; echo "status $?"
            notify-demo observe A -N 1 --directory "$d" -- sh -c 'notify-demo doctor --directory "$d"; \
            notify-demo post A --directory "$d"' 2>&1; echo "status $?"
            cp "$(command -v notify-demo)" .; export LD_LIBRARY_PATH="$(dirname "$(command -v notify-demo)")"
            PATH=/nonexistent ./notify-demo doctor --directory "$d"; echo "status $?"
            """)
        for pattern in [
            "ok      recording  a program was recorded with /.*/libnotification-recorder.so",
            "\nok      sources    .* /.*/llvm-symbolizer\n",
            "\nabsent  server     no server runs at /.*/s\\. The first .* starts one\\.\nstatus 0\n",
            "\nok +server +process \\d+ serves at .* with version \\d+\n",
            "\nfailed  recording  cannot record: libnotification-recorder.so is neither",
            "Build it with 'swift build --product notification-recorder'",
            "\nabsent  sources    llvm-symbolizer is not in PATH", "status 2\n$",
        ] { XCTAssertNotNil(outcome.output.firstMatch(of: try Regex(pattern)), "\(pattern): \(outcome)") }
    }

    func testBridgeExecutesTheOneThatIsNamedOrBesideItOrInPATHWithItsArgumentsAndSaysHowToGetOne() throws {
        let outcome = try Shell.inDirectory(
            #"""
            export LD_LIBRARY_PATH="$(dirname "$(command -v notify-demo)")"
            mkdir beside path; cp "$(command -v notify-demo)" beside
            bridge() { printf '#!/bin/sh\nprintf "%%s" "'$1'" "$@"; echo; exit 7\n' >$1; chmod +x $1; }
            demo() { PATH=$PWD/path:/usr/bin:/bin beside/notify-demo bridge "$@"; echo $?; }
            demo --help; bridge path/notification-bridge; demo --name 'a b' -- --version
            bridge beside/notification-bridge; demo --help; bridge named; NOTIFICATION_BRIDGE=./named demo -h
            NOTIFICATION_BRIDGE=./absent demo; notify-demo help bridge | grep -c notify-demo.bridge.--nats
            """#)
        XCTAssertEqual(
            outcome.output,
            """
            2
            path/notification-bridge--namea b----version
            7
            beside/notification-bridge--help
            7
            named-h
            7
            2
            2

            """, outcome.errors)
        for text in ["BRIDGE=tls swift build -c release --product notification-bridge", "sh --bridge", "is ./absent"] {
            XCTAssertTrue(outcome.errors.contains(text), outcome.errors)
        }
    }

    /// `Scripts/demo.sh`, with the programs under test and a `swift` that only prints the steps of a build.
    func testTheDemoScriptBuildsWhatIsNeededItsNextCommandsCanBePastedAndAnErrorOfTheBuildEndsIt() throws {
        let outcome = try Shell.inDirectory(
            #"""
            export here=$PWD built=$(dirname "$(command -v notify-demo)")
            mkdir bin; cat >bin/swift <<'TEXT'
            #!/bin/sh
            case "$*" in
                *--version*) echo "Swift version 6.3" ;;
                *--show-bin-path*) echo "$built" ;;
                *)
                    echo "Building for debugging..."; echo "[0/9] Write sources"; echo "[1/9] Compiling Main main.swift"
                    while [ $# -gt 1 ]; do [ "$1" = --product ] && echo "$2" >>"$here/products"; shift; done
                    if [ -e "$here/broken" ]; then echo "main.swift:1:1: error: it is broken"; exit 1; fi
                    echo "Build of product complete!"
                    ;;
            esac
            TEXT
            chmod +x bin/swift; PATH=$PWD/bin:$PATH; ln -s '\#(Repository.root.path)/Scripts/demo.sh' 'the demo'
            './the demo' record -o 'my file.jsonl' -- kitchen 2>said; cat products; rm products
            './the demo' diagnose 'my file.jsonl' >found 2>/dev/null
            eval "$(sed -n 's/^Next: //p' said)" 2>/dev/null | cmp - found
            eval "$(sed -n 's/^Next: //p' found)" 2>/dev/null | head -n 1 | sed 's/.*: //'
            touch broken; './the demo' list; echo $?
            """#)
        XCTAssertEqual(
            outcome.output,
            """
            served 6 dishes, and the bell did not ring
            notify-demo
            notification-recorder
            kitchen
            my file.jsonl
            1

            """, outcome.errors)
        XCTAssertEqual(outcome.errors, "[1/9] Compiling Main main.swift\nmain.swift:1:1: error: it is broken\n")
    }
}
