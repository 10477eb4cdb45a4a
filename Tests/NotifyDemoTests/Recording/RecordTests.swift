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
        return Run(
            outcome: outcome, recording: try Recording(path: directory.appending(component: "run.jsonl").path),
            files: try FileManager.default.contentsOfDirectory(atPath: directory.path))
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
        let begin = "notify-demo: recorded 12 posts in \(run.recording.entries.count) records, "
        XCTAssertTrue(run.outcome.errors.hasPrefix(begin), run.outcome.errors)
        XCTAssertTrue(run.outcome.errors.hasSuffix(", to run.jsonl\nNext: notify-demo diagnose run.jsonl\n"))
        XCTAssertTrue(run.recording.problems.isEmpty)
        XCTAssertEqual(run.posts, [12])
        XCTAssertEqual(run.recording.entries.last?.stage, .end)
        XCTAssertEqual(run.files, ["run.jsonl"])
    }

    func testIfTwoCommandsRecordOneProgramTheInnerOneDoes() throws {
        let run = try record("notify-demo record -o outer.jsonl -- notify-demo record -o run.jsonl -- kitchen")
        XCTAssertEqual(run.posts, [12])
        XCTAssertTrue(run.outcome.errors.contains("recorded nothing"))
    }

    func testRecordsThatDoNotFitAreCountedExactlyAndLaterOnesAreRecordedInOrderAndTheProgramDoesNotEnd() throws {
        for command in ["test-child recording fill", "sh -c 'ulimit -f 40; exec test-child recording exit'"] {
            let run = try record("notify-demo record -o run.jsonl -- \(command)")
            XCTAssertEqual(run.outcome.end, .exit(0))
            XCTAssertTrue(run.outcome.errors.contains("could not be written (File too large)"))
            // No earlier record is repeated, and no line is truncated.
            let isOnlyIncomplete = run.recording.problems.allSatisfy { "\($0)".contains(" missing before this line") }
            XCTAssertTrue(isOnlyIncomplete, "\(run.recording.problems)")
            if command.hasPrefix("sh") { continue }
            let lost = run.recording.entries.filter { $0.stage == .lost }.reduce(0) { $0 + Int($1.count) }
            XCTAssertGreaterThan(lost, 1000)
            XCTAssertEqual(run.recording.completeness, [.truncated(.lost(lost))])
            XCTAssertEqual(run.recording.entries.last { $0.stage == .post }.flatMap(run.recording.name(of:)), "last")
            XCTAssertEqual(run.recording.entries.last.flatMap(run.recording.details(of:)), "exit")
        }
    }

    func testAFileThatAProcessRecordsToIsNotChangedByAnotherRecording() throws {
        let run = try record(
            """
            mkfifo ready go; exec 4<> go; export THREADED_NOTIFICATIONS_RECORDING=run.jsonl
            LD_PRELOAD=$(dirname "$(command -v notify-demo)")/libnotification-recorder.so \
            test-child recording pause > ready < go & read line < ready
            notify-demo record -o run.jsonl -- kitchen; echo $? >&2; echo >&4; wait
            """)
        XCTAssertTrue(
            run.outcome.errors.contains("cannot record to run.jsonl: another process records to it.\n2\n"),
            run.outcome.errors)
        XCTAssertTrue(run.recording.problems.isEmpty)
        XCTAssertEqual(run.posts, [1001])
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

    func testAFindingTellsAboutAForkedCopyAndAboutAMainThreadThatEnds() throws {
        for (command, texts) in [
            ("ending forks", ["note: The process forked once."]),
            ("recording main-thread-ends", ["for main", "async"]),
        ] {
            let run = try record(
                "notify-demo record -o run.jsonl -- test-child \(command); notify-demo diagnose run.jsonl")
            for text in texts { XCTAssertTrue(run.outcome.output.contains(text), run.outcome.output) }
        }
    }

    func testDamageByTheProgramToItsFileIsReportedWithItsLineAndTheRestIsKept() throws {
        let run = try child("scribble")
        XCTAssertEqual(run.outcome.end, .exit(0))
        XCTAssertGreaterThan(run.recording.problemCount, 0)
        XCTAssertTrue(run.recording.problems.allSatisfy { $0.line != nil })
        XCTAssertTrue(run.recording.entries.contains { run.recording.name(of: $0) == "last" })
        XCTAssertEqual(run.recording.entries.last?.stage, .end)
    }

    func testMissingProgramsUnwritableFilesAndProgramsThatRecordNothingAreReported() throws {
        let outcome = try Shell.inDirectory(
            """
            r() { notify-demo record "$@"; echo $?; }
            r -o /nonexistent/f -- true; r -o '' -- true; r -o /tmp -- true; r -- /nonexistent; r -- true; r -- sh -c 'exit 7'
            r -- kitchen; notify-demo diagnose; echo $?; ls
            """)
        XCTAssertTrue(outcome.output.hasPrefix("2\n2\n2\n2\n2\n7\n\(Self.dishes)0\n"), "\(outcome.output)")
        for words in [
            "cannot record to /nonexistent/f: No such file", "cannot record to \"\"", "cannot record to /tmp",
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

    // MARK: Repeating

    func testRepeatKeepsGoodAndBadRecordingsApartStopsAtTheFirstBadOneAndPrintsTheCommandThatComparesThem() throws {
        let outcome = try Shell.inDirectory(
            """
            mkdir d; printf 'kitchen; echo >> runs; [ $(wc -l < runs) != 3 ]' > program
            notify-demo record --repeat 9 --until-fail -o d -- bash program > /dev/null; echo $?; ls d
            notify-demo record --repeat 4 -o d -- bash program; notify-demo record --repeat 4 -o runs -- bash program
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
        try require(lines.count == 7, outcome.errors)
        XCTAssertNotNil(
            lines[2].wholeMatch(
                of: /notify-demo: run 3 of 9: exit 1; recorded 12 posts in \d+ records, \d+ bytes, to d\/bad-1.jsonl/))
        XCTAssertEqual(lines[3], "notify-demo: 2 good runs, 1 bad run")
        XCTAssertEqual(
            lines[4], "Next: notify-demo compare --good d/good-1.jsonl d/good-2.jsonl --bad d/bad-1.jsonl")
        XCTAssertEqual(
            lines[5],
            "notify-demo: d has 3 recordings of an earlier --repeat, such as bad-1.jsonl. Remove them, or name another "
                + "directory with -o.")
        XCTAssertTrue(lines[6].hasSuffix("With --repeat, -o names a directory."), outcome.errors)
    }
}
