import DeliveryDiagnostics
import DeliveryRecording
import Foundation
import Scenarios
import Subprocess
import Testing

/// Runs the built program as a user does.
@Suite("notify-demo")
struct CommandLineTests {
    private func shell(_ line: String, input: String = "") async throws -> Shell.Outcome {
        try await Shell.run(line, input: input)
    }

    // MARK: Running

    @Test("the tour shows listings 1 and 2")
    func tour() async throws {
        let tour = try await shell("notify-demo")
        #expect(tour.status == .exited(0))
        #expect(tour.errors.contains("A notification center delivers on the thread that posts."))
        let log = tour.output.split(separator: "\n").map { $0 + "\n" }
        let expected = ReferenceLog.listing1.text + ReferenceLog.listing2.text
        #expect(log.count == 6)
        #expect(expected.split(separator: "\n").count == 6)
        for (name, lines) in [("listing-1", log[..<3]), ("listing-2", log[3...])] {
            let same = try await shell("notify-demo compare --reference \(name) -", input: lines.joined())
            #expect(same.status == .exited(0), "\(same.output)")
        }
    }

    @Test(
        "a scenario's log equals the document's, and a difference from another log is reported",
        arguments: [
            ("posting-thread", "listing-1", 0), ("redirect", "listing-2", 0),
            ("observer-lifetime --capture unsafe", "listing-4", 0),
            ("redirect", "listing-1", 1), ("posting-thread", "listing-2", 1),
        ])
    func documents(scenario: String, listing: String, status: Int32) async throws {
        let outcome = try await shell(
            "set -o pipefail; notify-demo run \(scenario) 2>/dev/null | notify-demo compare --reference \(listing) -")
        #expect(outcome.status == .exited(status), "\(outcome.output)\(outcome.errors)")
        #expect(outcome.output.contains(status == 0 ? "the same: 3 lines" : "the logs differ at line 2\n"))
    }

    @Test("lines are exactly as the documents print them")
    func exactForm() async throws {
        let outcome = try await shell("notify-demo run posting-thread 2>/dev/null")
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

    @Test("every capture ends as expected, and the table shows how")
    func observerLifetime() async throws {
        let outcome = try await shell("notify-demo run observer-lifetime")
        #expect(outcome.status == .exited(0), "\(outcome.errors)")
        let report = outcome.output.split(separator: "\n").filter { $0.hasPrefix("# ") }.map { $0.dropFirst(2) }
        let table = report.drop { !$0.hasPrefix("capture ") }.dropFirst().prefix(6)
        let ends = Dictionary(
            table.map { row in
                (String(row.prefix { $0 != " " }), String(row.split(separator: "  ").last ?? "").trimmed)
            }
        ) { first, _ in first }
        #expect(Set(ends.keys) == Set(ObserverCapture.allCases.map(\.rawValue)))
        #expect(ends["unsafe"] == "signal 11")
        #expect(ends["unowned"] == "signal 6")
        #expect(outcome.output.contains("\n# unowned: Attempted to read an unowned reference but object "))
        for capture in ["weak", "stable", "delegation", "one-thread"] {
            #expect(ends[capture] == "exit 0")
        }
    }

    @Test(
        "a scenario prints a log, with its report as comments",
        arguments: [
            "flood", "observer-lifetime", "many-observers", "thread-exit", "overflow", "removal", "posting-styles",
            "coalescing", "run-loop-modes", "suspension",
        ])
    func reports(scenario: String) async throws {
        let outcome = try await shell(
            "notify-demo run \(scenario) > \"$T\" 2>&- ; notify-demo compare \"$T\" \"$T\"".replacing(
                "$T", with: "/dev/shm/notify-demo-\(UUID().uuidString)"))
        #expect(outcome.status == .exited(0), "\(outcome.errors)")
        #expect(outcome.output.hasPrefix("the same: "))
    }

    @Test(
        "two runs of a scenario whose threads interleave by chance are the same",
        arguments: [
            ("flood --notifications 400 --seed 1", "flood --notifications 400 --seed 2"),
            ("many-observers", "many-observers"), ("perform-block", "perform-block"), ("removal", "removal"),
        ])
    func interleaving(one: String, other: String) async throws {
        let outcome = try await shell(
            "notify-demo compare <(notify-demo run \(one) --json 2>&-) <(notify-demo run \(other) --json 2>&-)")
        #expect(outcome.status == .exited(0), "\(outcome.output)\(outcome.errors)")
        #expect(outcome.output.hasPrefix("the same: "))
    }

    @Test("a difference of recordings is printed as text and as JSON")
    func differentRecordings() async throws {
        let files =
            "A=$(mktemp); B=$(mktemp); trap 'rm -f $A $B' EXIT; notify-demo run redirect --json >$A 2>&-; "
            + "notify-demo run posting-thread --json >$B 2>&-; "
        let words = try await shell(files + "notify-demo compare $A $B")
        #expect(words.status == .exited(1), "\(words.errors)")
        #expect(words.output.hasPrefix("the runs differ\n"))
        #expect(words.output.contains(" #1 was delivered on main.\n"), "\(words.output)")
        let json = try await shell(files + "notify-demo compare --json $A $B")
        #expect(json.status == .exited(1))
        let line = try #require(
            try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect(line["outcome"] as? String == "different")
        #expect(line["reason"] as? String == "stage")
        #expect((line["first"] as? [String: Any])?["line"] as? Int == 7)
        let same = try await shell(files + "notify-demo compare --json - $A <$A")
        #expect(same.output.contains("\"outcome\":\"same\""), "\(same.output)\(same.errors)")
    }

    @Test("the log lines of a recording are compared with a document's log")
    func recordingAndDocument() async throws {
        for (scenario, status) in [("posting-thread", Int32(0)), ("redirect", 1)] {
            let outcome = try await shell(
                "notify-demo run \(scenario) --json 2>&- | notify-demo compare --reference listing-1 -")
            #expect(outcome.status == .exited(status), "\(outcome.output)\(outcome.errors)")
        }
    }

    @Test("the smoke test passes and ends with its counts")
    func smoke() async throws {
        let outcome = try await shell("notify-demo smoke")
        #expect(outcome.status == .exited(0), "\(outcome.output)")
        let lines = outcome.output.split(separator: "\n")
        let passed = lines.count { $0.hasPrefix("ok ") }
        #expect(lines.last == "\(passed) passed, 0 failed")
        #expect(passed == lines.count - 1)
        for name in ScenarioCatalog.all.map(\.name) { #expect(outcome.output.contains(" \(name): ")) }
    }

    @Test("the list names every scenario, as text and as JSON")
    func list() async throws {
        let text = try await shell("notify-demo list")
        let json = try await shell("notify-demo list --json")
        for scenario in ScenarioCatalog.all {
            #expect(text.output.contains("\n\(scenario.name) ") || text.output.hasPrefix(scenario.name))
            #expect(json.output.contains("\"name\":\"\(scenario.name)\""))
        }
        #expect(json.output.split(separator: "\n").count == ScenarioCatalog.all.count)
    }

    // MARK: Output

    @Test("JSON has one record per line, in sequence, and can be read as a recording")
    func json() async throws {
        let outcome = try await shell("notify-demo run held-message --notifications 5 --json 2>/dev/null")
        let recording = try Recording(bytes: Array(outcome.output.utf8), name: "output")
        #expect(recording.problems.isEmpty)
        let records = recording.records
        #expect(records.map(\.sequence) == Array(1...records.count))
        #expect(records.count { $0.stage == .deliver } == 5)
    }

    @Test("stages are printed with their threads")
    func stages() async throws {
        let outcome = try await shell("notify-demo run redirect --style stages 2>/dev/null")
        for stage in [" register ", " post ", " capture ", " signal ", " drain ", " deliver "] {
            #expect(outcome.output.contains(stage), "\(outcome.output)")
        }
    }

    @Test(
        "--stable prints the same each time",
        arguments: [
            "posting-thread", "redirect", "held-message", "perform-block", "pinned-actor", "deadlock-cycle",
            "thread-exit", "overflow", "removal", "posting-styles", "coalescing", "run-loop-modes",
            "suspension",
        ])
    func stable(scenario: String) async throws {
        let one = try await shell("notify-demo run \(scenario) --stable 2>/dev/null")
        let other = try await shell("TZ=Asia/Tokyo notify-demo run \(scenario) --stable 2>/dev/null")
        #expect(one.output == other.output)
        #expect(one.output.hasPrefix("2001-01-01 00:00:00.001 notify-demo[1:1] "))
    }

    @Test("data goes to standard output and messages to standard error")
    func streams() async throws {
        let outcome = try await shell("notify-demo run redirect")
        #expect(outcome.output.split(separator: "\n").count == 3)
        #expect(outcome.errors.split(separator: "\n").allSatisfy { $0.hasPrefix("ok ") })
    }

    @Test("colours appear only on a terminal, and not with NO_COLOR")
    func colour() async throws {
        let coloured = try await shell("TERM=xterm script -qec 'notify-demo smoke' /dev/null")
        #expect(coloured.output.contains("\u{1B}[32mok"))
        let plain = try await shell("TERM=xterm NO_COLOR=1 script -qec 'notify-demo smoke' /dev/null")
        #expect(plain.output.contains("ok "))
        #expect(!plain.output.contains("\u{1B}["))
        #expect(try await !shell("notify-demo smoke").output.contains("\u{1B}"))
    }

    // MARK: Errors

    @Test("a closed pipe ends it quietly, even if the signal is ignored", arguments: ["", "trap '' PIPE; "])
    func closedPipe(before: String) async throws {
        let piped = try await shell(
            "\(before)set -o pipefail; { notify-demo run flood --json | head -1 >/dev/null; } 2>&1; echo \"status $?\"")
        #expect(piped.output == "status 141\n")
    }

    @Test("a full disk is an error, with a message")
    func fullDisk() async throws {
        let outcome = try await shell("notify-demo run redirect > /dev/full")
        #expect(outcome.status == .exited(2))
        #expect(outcome.errors.contains("cannot write to standard output: No space left on device"))
    }

    @Test("Ctrl-C ends it with status 130")
    func interrupt() async throws {
        let outcome = try await shell(
            // Job control is needed: without it a shell's background processes ignore the signal.
            """
            set -m; fifo=$(mktemp -u); mkfifo $fifo; exec 3<>$fifo; rm $fifo
            notify-demo compare --reference listing-1 - <&3 & child=$!
            for i in {1..10000}; do [ "$(< /proc/$child/comm)" = notify-demo ] && break; done
            kill -INT $child; wait $child; echo $?
            """)
        #expect(outcome.output.hasSuffix("130\n"), "\(outcome.output)\(outcome.errors)")
    }

    @Test(
        "a usage error is 64, with a suggestion",
        arguments: [
            ("run redirct", "Did you mean \"redirect\"?"),
            ("run observer_lifetime", "Did you mean \"observer-lifetime\"?"),
            ("run xyzzy", "'notify-demo list' lists all"),
            ("rnu redirect", "Did you mean \"run\"?"),
            ("run", "Missing expected argument"),
            ("--version", "there is no option \"--version\""),
            ("redirect", "Did you mean \"run redirect\"?"),
            ("run redirect --posters 3", "takes no --posters; flood and many-observers do"),
            ("run flood --posters 0", "--posters is 0; it must be from 1 to 256"),
            ("run flood --posters -1", "--posters"),
            ("run flood --notifications 99999999", "must be from 1 to 1000000"),
            ("run many-observers --notifications 50001", "must be from 1 to 50000"),
            ("run flood --drop-signals 1.5", "must be from 0 to 1"),
            ("run flood --drop-signals nan", "must be from 0 to 1"),
            ("run flood --seed x", "--seed"),
            ("run observer-lifetime --capture strong", "--capture"),
            ("run redirect --json --style stages", "--json"),
            ("compare a.log", "expected two runs, got 1"),
            ("compare --reference listing-1 a b", "expected one run with --reference, got 2"),
            ("compare --reference listing-3 a", "listing-3"),
            ("doctor --fact F24", "The facts are F1 to F23"),
            ("doctor --fact 7", "there is no fact \"7\""),
            ("doctor --limit 0", "--limit is 0.0"),
            ("doctor --limit nan", "--limit is nan"),
            ("doctor --queues --json", "does not allow --fact or --json"),
            ("doctor --markdown", "--markdown requires --queues"),
            ("compare - -", "standard input can be read only once"),
            ("smoke --tap --junit -", "both write to standard output"),
            ("post", "Missing expected argument"),
            ("post ''", "the name \"\" is empty"),
            ("post $(printf 'é%.0s' {1..128})", "has 256 bytes. A name is 1 to 255 bytes"),
            ("post x --object $(printf 'o%.0s' {1..1025})", "has 1025 bytes. An object is up to 1024 bytes"),
            ("post x --user-info k=v --plist f", "Leave out one of them"),
            ("post --user-info k=v x", "Missing expected argument '<name>'"),
            ("post x --user-info k=v y", "has no \"=\""),
            ("post x --user-info k=1 --user-info k:=2", "contains the key \"k\" twice"),
            ("post x --user-info =v", "has no key"),
            ("post x --user-info k:=", "ends too early"),
            ("observe ''", "the name \"\" is empty"),
            ("observe --behavior keep", "'deliver-immediately'"),
            ("observe --behavior deliverImmediately", "'deliver-immediately'"),
            ("observe --resume-after 1s", "needs --suspend-after"),
            ("observe -N 0", "-N is 0, and must be 1 or more"),
            ("observe --timeout 5", "200ms, 5s, 2m"),
            ("observe --timeout -5s", "--timeout"),
            ("wait", "Missing expected argument"),
            ("wait x --ready-fd 1", "3 or more"),
            ("wait x --ready-fd 9 9>&-", "must be an open file descriptor"),
            ("serve --idle-exit 0s", "--idle-exit is 0"),
            ("serve --log-level loud", "notice"),
            ("status --directory ''", "--directory is empty"),
        ])
    func usage(arguments: String, message: String) async throws {
        let outcome = try await shell("notify-demo \(arguments)")
        #expect(outcome.status == .exited(64))
        #expect(outcome.output == "")
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }

    @Test("a property list that cannot be read is 2, and no server is started", arguments: ["/nonexistent", "''"])
    func missingPropertyList(file: String) async throws {
        let outcome = try await shell(
            """
            d=$(mktemp -d); notify-demo post x --directory $d/place --plist \(file); echo $?; ls $d
            """)
        #expect(outcome.output == "2\n")
        #expect(outcome.errors.contains(file == "''" ? "\"\"" : file), "\(outcome.errors)")
    }

    @Test("without a server the status is 1, with a message, and none is started")
    func noServer() async throws {
        let outcome = try await shell(
            "d=$(mktemp -d); cd $d; notify-demo status --json --directory place/; echo $?; ls; echo $d >&2")
        #expect(outcome.output == "1\n")
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines[0].hasPrefix("notify-demo: no server runs at \(lines[1])/place. "))
    }

    @Test(
        "a log that cannot be read is 2, with its file and line",
        arguments: [
            ("compare /nonexistent a", "", "notify-demo: /nonexistent: cannot be opened: No such file or directory.\n"),
            ("compare --reference listing-1 /", "", "notify-demo: /: cannot be read: Is a directory.\n"),
            ("compare --reference listing-1 -", "", "notify-demo: standard input: contains no log lines."),
            ("compare --reference listing-1 -", "hello\n", "notify-demo: standard input:1: this is not a log line: "),
            ("compare --reference listing-1 -", ReferenceLog.listing1.text + "2026-", "standard input:4: "),
        ])
    func unreadable(arguments: String, input: String, message: String) async throws {
        let outcome = try await shell("notify-demo \(arguments)", input: input)
        #expect(outcome.status == .exited(2))
        #expect(outcome.output == "")
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }

    @Test(
        "help has examples for each subcommand",
        arguments: [
            "", "run", "record", "compare", "audit", "diagnose", "timeline", "trace", "stats", "list", "doctor",
            "smoke", "post", "observe", "wait", "serve", "status",
        ])
    func help(subcommand: String) async throws {
        let outcome = try await shell("notify-demo \(subcommand) --help")
        #expect(outcome.status == .exited(0))
        #expect(outcome.output.contains("EXAMPLES"))
        #expect(!outcome.output.contains("observer-lifetime-child"))
        #expect(!outcome.output.contains("distributed-child"))
        #expect(!outcome.output.contains("doctor-child"))
    }
}

extension String {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespaces) }
}
