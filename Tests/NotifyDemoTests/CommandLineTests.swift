import ChildProcesses
import DeliveryDiagnostics
import DeliveryRecording
import Foundation
import Scenarios
import SharedTesting
import Testing

/// Runs the built program as a user does.
@Suite("notify-demo")
struct CommandLineTests {
    private func shell(_ line: String, input: String = "") throws -> Shell.Outcome {
        try Shell.run(line, input: input)
    }

    // MARK: Running

    @Test("the tour shows listings 1 and 2, and names commands to type next")
    func tour() async throws {
        let tour = try shell("notify-demo")
        #expect(tour.end == .exit(0))
        #expect(tour.errors.contains("A notification center delivers on the thread that posts."))
        #expect(tour.errors.hasSuffix("\n  notify-demo list\n  notify-demo run redirect\n  notify-demo --help\n"))
        let log = tour.output.split(separator: "\n").map { $0 + "\n" }
        let expected = ReferenceLog.listing1.text + ReferenceLog.listing2.text
        #expect(log.count == 6)
        #expect(expected.split(separator: "\n").count == 6)
        for (name, lines) in [("listing-1", log[..<3]), ("listing-2", log[3...])] {
            let same = try shell("notify-demo compare --reference \(name) -", input: lines.joined())
            #expect(same.end == .exit(0), "\(same.output)")
        }
    }

    @Test("a scenario's log equals the document's, and a difference from another log is reported")
    func documents() async throws {
        for (scenario, listing, status) in [
            ("posting-thread", "listing-1", Int32(0)), ("redirect --json", "listing-2", 0),
            ("observer-lifetime --capture unsafe", "listing-4", 0), ("redirect", "listing-1", 1),
        ] {
            let outcome = try shell(
                "set -o pipefail; notify-demo run \(scenario) 2>&- | notify-demo compare --reference \(listing) -")
            #expect(outcome.end == .exit(status), "\(scenario): \(outcome.output)\(outcome.errors)")
        }
    }

    @Test("lines are exactly as the documents print them")
    func exactForm() async throws {
        let outcome = try shell("notify-demo run posting-thread 2>/dev/null")
        let form = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} notify-demo\[(\d+):(\d+)\] (.*)/
        let lines = try outcome.output.split(separator: "\n").map { try #require($0.wholeMatch(of: form)) }
        #expect(
            lines.map(\.3) == [
                "current thread = {number = 1, name = main}", "current thread = {number = 2, name = (null)}",
                "test notification",
            ])
        #expect(lines[0].1 == lines[0].2, "the main thread's kernel id is the process id")
        #expect(lines[1].2 != lines[0].2)
        #expect(lines[1].2 == lines[2].2)
    }

    @Test("observer-lifetime reports how each way of holding the observer ends")
    func lifetimes() async throws {
        let outcome = try shell("notify-demo run observer-lifetime 2>/dev/null")
        let lines = outcome.output.split(separator: "\n").filter { $0.hasPrefix("# ") }
        for (capture, end) in [("unsafe", "signal 11"), ("unowned", "signal 6"), ("weak", "exit 0")] {
            #expect(lines.contains { $0.contains(capture) && $0.contains(end) }, "\(outcome.output)")
        }
        #expect(outcome.output.contains("\n# unowned: Attempted to read an unowned reference but object "))
    }

    @Test("--stable prints the same each time, in every time zone")
    func stable() async throws {
        let scenarios = [
            "posting-thread", "redirect", "held-message", "perform-block", "pinned-actor", "deadlock-cycle",
            "thread-exit", "overflow", "removal", "posting-styles", "coalescing", "run-loop-modes", "suspension",
        ]
        let outcome = try shell(
            """
            for s in \(scenarios.joined(separator: " ")); do
                one=$(notify-demo run $s --stable 2>&-); [[ $one == "2001-01-01 00:00:00.001 notify-demo[1:1] "* ]] || echo "$s"
                [ "$one" = "$(TZ=Asia/Tokyo notify-demo run $s --stable 2>&-)" ] || echo "$s differs"
            done
            """)
        #expect(outcome.output == "")
    }

    @Test("data goes to standard output, messages to standard error, and stages have their threads")
    func streams() async throws {
        let outcome = try shell("notify-demo run redirect --style stages")
        for stage in [" register ", " post ", " capture ", " signal ", " drain ", " deliver "] {
            #expect(outcome.output.contains(stage), "\(outcome.output)")
        }
        #expect(outcome.errors.split(separator: "\n").allSatisfy { $0.hasPrefix("ok ") })
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

    @Test("the smoke test passes, ends with its counts, and writes the same results for continuous integration")
    func smokeTest() async throws {
        let output = try Self.smoke.get().output
        let parts = output.components(separatedBy: "status 0\n")
        try #require(parts.count == 2, "\(output.split(separator: "\n").filter { !$0.contains("32mok") })")
        let lines = parts[0].split(separator: "\n")
        let ok = "\u{1B}[32mok\u{1B}[0m      "
        let claims = lines.dropLast().map { $0.hasPrefix(ok) ? String($0.dropFirst(ok.count)) : "not ok: \($0)" }
        #expect(lines.last == "\(claims.count) passed, 0 failed")
        for name in ScenarioCatalog.all.map(\.name) {
            #expect(claims.contains { $0.hasPrefix("\(name): ") }, "\(name)")
            #expect(parts[1].contains("<testsuite name=\"\(name)\""))
            #expect(parts[1].contains("\"name\":\"\(name)\""))
            #expect(parts[1].contains("\n\(name) "))
        }
        #expect(parts[1].components(separatedBy: "<testcase ").count == claims.count + 1)
    }

    @Test("smoke runs the scenarios that are named, as a report or in the Test Anything Protocol")
    func smokeReports() async throws {
        let outcome = try shell(
            """
            notify-demo smoke redirect removal --tap; notify-demo smoke redirect --junit - | head -n 1
            notify-demo smoke redirect --junit /dev/full >/dev/null; echo $?; notify-demo smoke --junit /nonexistent/a; echo $?
            """)
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.first == "TAP version 13")
        let points = lines.filter { $0.hasPrefix("ok ") && $0.contains(" - ") }
        for (number, point) in zip(1..., points) { #expect(point.hasPrefix("ok \(number) - re")) }
        #expect(lines.contains("1..\(points.count)"))
        #expect(lines.contains(#"<?xml version="1.0" encoding="UTF-8"?>"#))
        #expect(lines.suffix(2) == ["2", "2"], "\(outcome.output)")
        #expect(outcome.errors.contains("cannot write /dev/full: No space left on device"))
        #expect(outcome.errors.contains("cannot write /nonexistent/a: No such file or directory"))
    }

    @Test("a scenario that cannot be run is a failure with its reason")
    func failure() async throws {
        // A program cannot start itself again after its file was removed.
        let path = "/dev/shm/notify-demo-\(UUID().uuidString)"
        let outcome = try shell(
            """
            cp "$(command -v notify-demo)" \(path); exec 3< \(path); rm \(path)
            exec /proc/self/fd/3 smoke observer-lifetime
            """)
        #expect(outcome.end == .exit(1), "\(outcome.errors)")
        #expect(outcome.output.contains("FAILED  observer-lifetime: can be run: "), "\(outcome.output)")
        #expect(outcome.output.contains("\(path) (deleted)"), "\(outcome.output)")
    }

    @Test("a terminal shows the running scenario on standard error after a second, and clears it")
    func progress() async throws {
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
        #expect(outcome.output.contains(" passed, 0 failed\n"), "\(outcome.output)")
        #expect(outcome.output.contains("\rsmoke: observer-lifetime, 1 of 1: running\u{1B}[K"), "\(outcome.output)")
        #expect(outcome.output.contains("\r\u{1B}[K"))
    }

    @Test("colours appear on a terminal, and not with NO_COLOR or --color never")
    func colour() async throws {
        let outcome = try shell(
            """
            export TERM=xterm; t() { script -qec "$1" /dev/null | grep -c $'\\e\\[32mok'; }
            t 'notify-demo smoke redirect'; t 'notify-demo smoke redirect --color never'; notify-demo smoke redirect | grep -c $'\\e'
            NO_COLOR=1 t 'notify-demo smoke redirect'; NO_COLOR=1 t 'notify-demo smoke redirect --color always'
            """)
        let counts = outcome.output.split(separator: "\n").map { Int($0) ?? -1 }
        try #require(counts.count == 5)
        #expect(counts.map { $0 > 0 } == [true, false, false, false, true], "\(outcome.output)")
    }

    // MARK: Errors

    @Test("a closed pipe ends it quietly, even if the signal is ignored")
    func closedPipe() async throws {
        for before in ["", "trap '' PIPE; "] {
            let piped = try shell(
                "\(before)set -o pipefail; { notify-demo run flood --json | head -1 >/dev/null; } 2>&1; echo \"status $?\""
            )
            #expect(piped.output == "status 141\n")
        }
    }

    @Test("an unknown word is 64 with a suggestion, also after help, and --version prints the version")
    func words() async throws {
        let outcome = try shell(
            "notify-demo help diagnos; echo $?; notify-demo rnu; echo $?; notify-demo --version")
        #expect(outcome.output.wholeMatch(of: /64\n64\n\d+\.\d+\.\d+\n/) != nil, "\(outcome.output)")
        #expect(outcome.errors.contains("Did you mean \"diagnose\"?"))
    }

    @Test("a full disk is an error, with a message")
    func fullDisk() async throws {
        let outcome = try shell("notify-demo run redirect > /dev/full")
        #expect(outcome.end == .exit(2))
        #expect(outcome.errors.contains("cannot write to standard output: No space left on device"))
    }

    @Test("Ctrl-C ends it with status 130")
    func interrupt() async throws {
        let outcome = try shell(
            // Job control is needed: without it a shell's background processes ignore the signal.
            """
            set -m; fifo=$(mktemp -u); mkfifo $fifo; exec 3<>$fifo; rm $fifo
            notify-demo compare --reference listing-1 - <&3 & child=$!
            for i in {1..10000}; do [ "$(< /proc/$child/comm)" = notify-demo ] && break; done
            kill -INT $child; wait $child; echo $?
            """)
        #expect(outcome.output.hasSuffix("130\n"), "\(outcome.output)\(outcome.errors)")
    }
}
