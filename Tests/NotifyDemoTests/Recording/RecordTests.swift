import ChildProcesses
import DeliveryRecording
import Foundation
import SharedTesting
import XCTest

/// Records programs that end, crash, fork or tamper with their recording.
final class RecordTests: XCTestCase {
    private static let dishes = "served 6 dishes, and the bell did not ring\n"

    private struct Run {
        var outcome: Shell.Outcome
        var recording: Recording
        var files: [String]
        var size: Int

        /// The posts of each process.
        var posts: [Int] {
            recording.processes.indices.map { process in
                recording.entries.count { $0.stage == .post && recording.process(of: $0) == process }
            }
        }
    }

    /// Runs shell lines in a directory of its own, and reads `run.jsonl` there.
    private func record(_ line: String) throws -> Run {
        let directory = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let outcome = try Shell.run("cd '\(directory.path)'; export SWIFT_BACKTRACE=enable=no; \(line)")
        let file = directory.appending(component: "run.jsonl")
        return Run(
            outcome: outcome, recording: try Recording(path: file.path),
            files: try FileManager.default.contentsOfDirectory(atPath: directory.path),
            size: try Data(contentsOf: file).count)
    }

    /// Records a shell that writes a recording itself, as `$f`, with its own process id.
    ///
    /// - Parameter lines: shell lines. `header VERSION PROCESS` and `post NUMBER` print lines of a recording.
    private func record(ofShell lines: String) throws -> Run {
        try record(
            """
            cat > program <<'END'
            f=$\(ProcessRecording.environmentVariable)
            header() { printf '{"recording":%s,"process":%s,"name":"p","n":1,"t":1,"wall":1}\\n' $1 $2; }
            post() { printf '{"n":%s,"t":%s,"thread":1,"stage":"post","name":"A","post":%s}\\n' $1 $1 $1; }
            end() { printf '{"n":%s,"t":2,"thread":1,"stage":"end","reason":"stopped"}\\n' $1; }
            \(lines)
            END
            notify-demo record -o run.jsonl -- bash program; echo $? >&2
            """)
    }

    private func child(_ end: String, of program: String = "test-child recording") throws -> Run {
        try record("notify-demo record -o run.jsonl -- \(program) \(end)")
    }

    func testAProgramIsRecordedUnchangedWithItsArgumentsOpenFilesInputAndOutput() throws {
        let run = try record(
            """
            notify-demo record -o run.jsonl -- kitchen; echo in | notify-demo record -o a -- cat - 2>&-
            notify-demo record -o a -- cat <(echo opened) 2>&-; notify-demo record -o b -- printf '%s ' --help -- x 2>&-
            """)
        XCTAssertEqual(run.outcome.output, "\(Self.dishes)in\nopened\n--help -- x ")
        XCTAssertEqual(
            run.outcome.errors,
            "notify-demo: recorded 12 posts in \(run.recording.entries.count) records to run.jsonl\n"
                + "Next: notify-demo diagnose run.jsonl\n")
        XCTAssertTrue(run.recording.problems.isEmpty)
        XCTAssertEqual(run.posts, [12])
        XCTAssertEqual(run.recording.entries.last?.stage, .end)
        XCTAssertEqual(run.files, ["run.jsonl"])
    }

    func testRecordsThatDoNotFitAreCountedExactlyAndLaterOnesAreRecordedInOrderAndTheProgramDoesNotEnd() throws {
        let run = try child("fill")
        XCTAssertEqual(run.outcome.end, .exit(0))
        XCTAssertTrue(run.outcome.errors.contains("could not be written (File too large)"))
        // No earlier record is repeated, and no line is truncated.
        XCTAssertEqual(run.recording.problems, [])
        let lost = run.recording.entries.filter { $0.stage == .lost }.reduce(0) { $0 + Int($1.count) }
        XCTAssertGreaterThan(lost, 1000)
        XCTAssertEqual(run.recording.completeness, [.truncated(.lost(lost))])
        XCTAssertEqual(run.recording.entries.last { $0.stage == .post }.flatMap(run.recording.name(of:)), "last")
        XCTAssertEqual(run.recording.entries.last.flatMap(run.recording.details(of:)), "exit")
    }

    func testAProcessThatOutlivesTheProgramKeepsItsOwnFileAndTheRecordingHasItsRecordsUpToTheCopy() throws {
        let run = try record(
            """
            mkfifo ready go; exec 4<> go
            notify-demo record -o run.jsonl -- sh -c 'test-child recording pause > ready < go & read line < ready'
            echo >&4; until grep -q '"end"' run.jsonl.*.rest/*; do :; done; cmp run.jsonl run.jsonl.*.rest/*
            """)
        XCTAssertTrue(run.outcome.errors.contains("still runs and records to "))
        XCTAssertTrue(run.outcome.errors.contains("EOF on run.jsonl after byte "), "\(run.outcome.errors)")
        XCTAssertTrue(run.recording.problems.isEmpty)
        XCTAssertEqual(run.posts, [1000])
    }

    func testAProgramThatEndsForksStartsOrExecutesAnotherIsRecordedInOneFile() throws {
        for (command, status, posts, last) in [
            ("recording stop", 143, [], "stopped"), ("recording wait", 0, [], "exit"),
            ("recording record-after-fork", 137, [1003], nil), ("ending forks", 0, [30, 10], "exit"),
            ("ending spawns", 0, [30, 25], "exit"), ("ending executes", 0, [25, 25], "exit"),
        ] as [(String, Int32, [Int], String?)] {
            let run = try child(command, of: "test-child")
            XCTAssertEqual(run.outcome.end, .exit(status), command)
            XCTAssertTrue(run.recording.problems.isEmpty, command)
            if !posts.isEmpty { XCTAssertEqual(run.posts, posts, command) }
            let end = run.recording.entries.last.flatMap(run.recording.details(of:))
            if let last { XCTAssertEqual(end, last, command) }
            XCTAssertEqual(run.files, ["run.jsonl"], command)
            let isForked = command.contains("fork")
            XCTAssertEqual(run.recording.entries.count { $0.stage == .fork } > 0, isForked, command)
            let isOneProcess = Set(run.recording.processes.map(\.id)).count == 1
            XCTAssertEqual(run.outcome.errors.contains("of 2 processes"), posts.count == 2 && !isOneProcess, command)
        }
    }

    func testMissingProgramsUnwritableFilesAndProgramsThatRecordNothingAreReported() throws {
        let outcome = try Shell.inDirectory(
            """
            r() { notify-demo record "$@"; echo $?; }
            r -o /nonexistent/f -- true; r -o /tmp -- true; r -- /nonexistent; r -- true; r -- sh -c 'exit 7'
            r -- kitchen; notify-demo diagnose; echo $?; ls
            """)
        XCTAssertTrue(outcome.output.hasPrefix("2\n2\n2\n2\n7\n\(Self.dishes)0\n"), "\(outcome.output)")
        for words in [
            "cannot record to /nonexistent/f: No such file", "cannot record to /tmp: Is a directory",
            "cannot run /nonexistent", "true recorded nothing",
        ] { XCTAssertTrue(outcome.errors.contains(words), "\(outcome.errors)") }
        // The mistake in the example.
        XCTAssertTrue(outcome.output.contains("note: DishRedy was never posted but is observed by observer 2"))
        XCTAssertTrue(outcome.output.hasSuffix("\n0\nnotifications.jsonl\n"), "\(outcome.output)")
    }

    func testARequestToEndIsPassedOnToTheProgramAndTheRecordingIsKept() throws {
        let run = try record(
            """
            mkfifo go; notify-demo record -o run.jsonl -- sh -c 'kitchen; echo $PPID > go; exec sleep 600' &
            kill -TERM $(cat go); wait $!
            """)
        XCTAssertEqual(run.outcome.end, .exit(143))
        XCTAssertEqual(run.posts, [12])
    }

    func testTheProgramsEndIsAppendedIfItCouldNotRecordItAndNotWhereItWouldHideALoss() throws {
        for (lines, completeness, last) in [
            ("{ header 3 $$; post 1; post 2; printf '\\0\\0\\0'; } > $f; exit 3", [.complete], "exit"),
            ("{ header 3 $$; post 1; post 2; printf '\\0\\0\\0'; } > $f; kill -KILL $$", [.complete], "signal 9"),
            ("{ header 3 $$; post 1; post 2; } > $f; exec true", [.complete], "exit"),
            // In version 2 the last records may be missing.
            ("{ header 2 $$; post 1; } > $f; exit 3", [.truncated(.noEnd)], nil),
            // The line that the program was writing.
            ("{ header 3 $$; post 1; printf '\\0\"n\":2,\"t\":2\\0\\0'; } > $f; kill -9 $$", [.complete], "signal 9"),
            ("{ header 3 $$; post 1; end 2; } > $f", [.complete], "stopped"),
            // A child that ended without an end.
            (
                "{ header 3 $$; post 1; } > $f; { header 3 4194305; post 1; printf '\\0\\0'; } > $f.4194305",
                [.complete, .endedWithoutNotice], nil
            ),
            // Room for records is not copied.
            ("{ header 3 $$; post 1; } > $f; truncate -s 3M $f", [.complete], "exit"),
        ] as [(String, [Recording.Completeness], String?)] {
            let run = try record(ofShell: lines)
            let (errors, recording) = (run.outcome.errors, run.recording)
            XCTAssertEqual(recording.completeness, completeness, lines)
            if let last { XCTAssertEqual(recording.entries.last.flatMap(recording.details(of:)), last, lines) }
            XCTAssertEqual(recording.problems, [], lines)
            XCTAssertLessThan(run.size, 1000, lines)
            XCTAssertEqual(errors.contains(" of 2 processes "), lines.contains("4194305"), errors)
        }
    }

    func testWhatCouldNotBeRecordedIsSaidAndARecordingWithoutRecordsIsAnError() throws {
        let unrecorded = "printf '{\"unrecorded\":\"notification centers: this Foundation is unknown\"}\\n'"
        for (records, status) in [("post 1", 0), (":", 2), ("end 1", 2)] {
            let errors = try record(ofShell: "{ header 3 $$; \(unrecorded); \(records); } > $f").outcome.errors
            XCTAssertTrue(errors.hasSuffix("\n\(status)\n"), errors)
            XCTAssertTrue(
                errors.contains("\nnotify-demo: not recorded: notification centers: this Foundation is unknown\n"),
                errors)
        }
    }

    // MARK: Repeating

    func testRepeatKeepsGoodAndBadRecordingsApartStopsAtTheFirstBadOneAndPrintsTheCommandThatComparesThem() throws {
        let outcome = try Shell.inDirectory(
            """
            mkdir d; printf 'kitchen; echo >> runs; [ $(wc -l < runs) != 3 ]' > program
            notify-demo record --repeat 9 --until-fail -o d -- bash program > /dev/null; echo $?; ls d
            notify-demo record --repeat 1 -o new -- sh -c 'kitchen; kill -INT $$' > /dev/null 2>&1; echo $?; ls new
            notify-demo record --repeat 3 -- sh -c 'kitchen; kill -TERM $PPID; exec sleep 60' 2>&-; echo $?
            notify-demo record --repeat 3 -- true 2>&-; echo $?; notify-demo record --repeat 2 -- kitchen 2>&-; echo $?; ls
            """)
        XCTAssertEqual(
            outcome.output.replacing(Self.dishes, with: "").split(separator: "\n"),
            """
            1 bad-1.jsonl good-1.jsonl good-2.jsonl 1 bad-1.jsonl 143 2 0 d good-1.jsonl good-2.jsonl new program runs
            """.split(separator: " "), outcome.errors)
        let lines = outcome.errors.split(separator: "\n")
        try require(lines.count == 5, outcome.errors)
        XCTAssertNotNil(
            lines[2].wholeMatch(
                of: /notify-demo: run 3 of 9: exit 1; recorded 12 posts in \d+ records to d\/bad-1.jsonl/))
        XCTAssertEqual(lines[3], "notify-demo: 2 good runs, 1 bad run")
        XCTAssertEqual(
            lines[4], "Next: notify-demo compare --good d/good-1.jsonl d/good-2.jsonl --bad d/bad-1.jsonl")
    }
}
