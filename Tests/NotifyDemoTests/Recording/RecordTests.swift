import ChildProcesses
import DeliveryRecording
import Foundation
import SharedTesting
import XCTest

/// Records programs that end, crash, fork or tamper with their recording.
final class RecordTests: XCTestCase {
    private static let dishes = "served 6 dishes, and the bell did not ring\n"

    /// Runs shell lines in a directory of its own, and reads `run.jsonl` there.
    private func record(_ line: String) throws -> (outcome: Shell.Outcome, recording: Recording, files: [String]) {
        let directory = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let outcome = try Shell.run("cd '\(directory.path)'; export SWIFT_BACKTRACE=enable=no; \(line)")
        let recording = try Recording(path: directory.appending(component: "run.jsonl").path)
        return (outcome, recording, try FileManager.default.contentsOfDirectory(atPath: directory.path))
    }

    private func child(
        _ end: String, of program: String = "test-child recording"
    ) throws -> (outcome: Shell.Outcome, recording: Recording, files: [String]) {
        try record("notify-demo record -o run.jsonl -- \(program) \(end)")
    }

    /// True if the only problems of a recording are missing records.
    private static func isOnlyIncomplete(_ recording: Recording) -> Bool {
        recording.problems.allSatisfy { $0.description.contains(" missing before this line") }
    }

    /// The posts of each process.
    private func posts(_ recording: Recording) -> [Int] {
        recording.processes.indices.map { process in
            recording.entries.count { $0.stage == .post && recording.process(of: $0) == process }
        }
    }

    func testAProgramIsRecordedUnchangedWithItsArgumentsOpenFilesInputAndOutput() throws {
        let (outcome, recording, files) = try record("notify-demo record -o run.jsonl -- kitchen")
        XCTAssertEqual(outcome.end, .exit(0))
        XCTAssertEqual(outcome.output, Self.dishes)
        let count = recording.entries.count
        XCTAssertTrue(
            outcome.errors.hasPrefix("notify-demo: recorded 12 posts in \(count) records, "), outcome.errors)
        XCTAssertTrue(
            outcome.errors.hasSuffix(", to run.jsonl\nNext: notify-demo diagnose run.jsonl\n"), outcome.errors)
        XCTAssertTrue(recording.problems.isEmpty)
        XCTAssertEqual(posts(recording), [12])
        XCTAssertEqual(recording.entries.last?.stage, .end)
        XCTAssertEqual(files, ["run.jsonl"])
        let passed = try Shell.run(
            """
            cd $(mktemp -d); echo in | notify-demo record -o a -- cat -
            notify-demo record -o a -- cat <(echo opened); notify-demo record -o b -- printf '%s ' --help -- x
            """)
        XCTAssertEqual(passed.output, "in\nopened\n--help -- x ")
    }

    func testIfTwoCommandsRecordOneProgramTheInnerOneDoes() throws {
        let (outcome, recording, _) = try record(
            "notify-demo record -o outer.jsonl -- notify-demo record -o run.jsonl -- kitchen")
        XCTAssertEqual(posts(recording), [12])
        XCTAssertTrue(outcome.errors.contains("recorded nothing"))
    }

    func testRecordsThatAFullDiskDoesNotTakeAreCountedExactlyAndLaterOnesAreRecordedInOrder() throws {
        let (outcome, recording, _) = try child("fill")
        XCTAssertEqual(outcome.end, .exit(0))
        XCTAssertTrue(outcome.errors.contains("could not be written (File too large)"))
        let lost = recording.entries.filter { $0.stage == .lost }.reduce(0) { $0 + Int($1.count) }
        XCTAssertGreaterThan(lost, 1000)
        XCTAssertEqual(recording.completeness, [.truncated(.lost(lost))])
        // No earlier record is repeated, and no line is truncated.
        XCTAssertTrue(Self.isOnlyIncomplete(recording), "\(recording.problems)")
        XCTAssertEqual(recording.entries.last { $0.stage == .post }.flatMap(recording.name(of:)), "last")
        XCTAssertEqual(recording.entries.last.flatMap(recording.details(of:)), "exit")
    }

    func testAFileThatAProcessRecordsToIsNotChangedByAnotherProgramsRecording() throws {
        let (outcome, recording, _) = try record(
            """
            mkfifo ready go; exec 4<> go
            notify-demo record -o run.jsonl -- sh -c 'exec test-child recording pause > ready < go' &
            read line < ready
            notify-demo record -o run.jsonl -- kitchen; echo $? >&2
            echo >&4; wait
            """)
        XCTAssertTrue(outcome.errors.contains("cannot record to run.jsonl: another process records to it.\n2\n"))
        XCTAssertTrue(recording.problems.isEmpty)
        XCTAssertEqual(posts(recording), [1001])
    }

    func testAProcessThatOutlivesTheProgramKeepsItsOwnFileAndTheRecordingHasItsRecordsUpToTheCopy() throws {
        let (outcome, recording, _) = try record(
            """
            mkfifo ready go; exec 4<> go
            notify-demo record -o run.jsonl -- sh -c 'test-child recording pause > ready < go & read line < ready'
            echo >&4; until grep -q '"end"' run.jsonl.*.rest/*; do :; done; cmp run.jsonl run.jsonl.*.rest/*
            """)
        XCTAssertTrue(outcome.errors.contains("still runs and records to "))
        XCTAssertTrue(outcome.errors.contains("EOF on run.jsonl after byte "), "\(outcome.errors)")
        XCTAssertTrue(recording.problems.isEmpty)
        XCTAssertEqual(posts(recording), [1000])
    }

    func testAFileSizeLimitDoesNotEndAProgramThatIsRecorded() throws {
        let (outcome, recording, _) = try record(
            "notify-demo record -o run.jsonl -- sh -c 'ulimit -f 40; exec test-child recording exit'")
        XCTAssertEqual(outcome.end, .exit(0))
        XCTAssertTrue(outcome.errors.contains("could not be written (File too large)"))
        // There may be room for a record of the loss.
        XCTAssertTrue(Self.isOnlyIncomplete(recording), "\(recording.problems)")
        XCTAssertGreaterThan(posts(recording)[0], 10)
    }

    func testASignalAfterTheRecordingsEndOrThatTheProgramWaitsForHasItsUsualEffectOnTheProgram() throws {
        for (end, status, reason) in [("stop", Int32(143), "stopped"), ("wait", 0, "exit")] {
            let (outcome, recording, _) = try child(end)
            XCTAssertEqual(outcome.end, .exit(status))
            XCTAssertTrue(recording.problems.isEmpty)
            XCTAssertEqual(recording.entries.last.flatMap(recording.details(of:)), reason)
        }
    }

    func testAForkedCopyAndAStartedProgramAreRecordedAfterTheProgramAndCounted() throws {
        for (end, expected) in [("forks", [30, 10]), ("spawns", [30, 25])] {
            let (outcome, recording, files) = try child(end, of: "test-child ending")
            XCTAssertEqual(outcome.end, .exit(0))
            XCTAssertTrue(recording.problems.isEmpty)
            XCTAssertEqual(posts(recording), expected)
            XCTAssertEqual(recording.entries.contains { $0.stage == .fork }, end == "forks")
            XCTAssertEqual(recording.entries.count { $0.stage == .end }, 2)
            XCTAssertEqual(files, ["run.jsonl"])
            XCTAssertTrue(outcome.errors.contains("recorded \(expected.reduce(0, +)) posts in "), outcome.errors)
            XCTAssertTrue(outcome.errors.contains("of 2 processes"))
        }
    }

    func testTheDiagnosisOfAForkSaysThatTheCopyIsInTheRecording() throws {
        let (outcome, recording, _) = try record(
            "notify-demo record -o run.jsonl -- test-child ending forks; notify-demo diagnose run.jsonl")
        XCTAssertEqual(posts(recording), [30, 10])
        let finding = try XCTUnwrap(outcome.output.split(separator: "\n").first { $0.contains(" forked ") })
        XCTAssertTrue(finding.contains("this recording also has"), "\(finding)")
    }

    func testRecordsAfterAForkAreWrittenWhileTheProgramRuns() throws {
        let (outcome, recording, _) = try child("record-after-fork")
        XCTAssertEqual(outcome.end, .exit(137))
        XCTAssertTrue(recording.problems.isEmpty)
        XCTAssertEqual(posts(recording), [1003])
        XCTAssertEqual(recording.entries.count { $0.stage == .fork }, 3)
    }

    func testAProgramThatExecutesAnotherContinuesTheRecordingInTheSameFile() throws {
        let (outcome, recording, files) = try child("executes", of: "test-child ending")
        XCTAssertEqual(outcome.end, .exit(0))
        XCTAssertEqual(posts(recording), [25, 25])
        XCTAssertEqual(Set(recording.processes.map(\.id)).count, 1)
        XCTAssertEqual(files, ["run.jsonl"])
    }

    func testDamageByTheProgramToItsFileIsReportedWithItsLineAndTheRestIsKept() throws {
        let (outcome, recording, _) = try child("scribble")
        XCTAssertEqual(outcome.end, .exit(0))
        XCTAssertGreaterThan(recording.problemCount, 0)
        XCTAssertTrue(recording.problems.allSatisfy { $0.line != nil })
        XCTAssertTrue(recording.entries.contains { recording.name(of: $0) == "last" })
        XCTAssertEqual(recording.entries.last?.stage, .end)
    }

    func testAMainThreadThatEndsLosesLaterPostsAndAFindingSaysSo() throws {
        let (outcome, recording, _) = try record(
            "notify-demo record -o run.jsonl -- test-child recording main-thread-ends; notify-demo diagnose run.jsonl")
        XCTAssertTrue(
            recording.entries.contains { $0.stage == .targetGone && recording.name(of: $0) == "for main" })
        XCTAssertTrue(outcome.output.contains("for main") && outcome.output.contains("async"), "\(outcome.output)")
    }

    func testMissingProgramsUnwritableFilesAndProgramsThatRecordNothingAreReported() throws {
        let outcome = try Shell.run(
            """
            cd "$(mktemp -d)"; r() { notify-demo record "$@"; echo $?; }
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
        let (outcome, recording, _) = try record(
            """
            mkfifo go; notify-demo record -o run.jsonl -- sh -c 'kitchen; echo $PPID > go; exec sleep 600' &
            kill -TERM $(cat go); wait $!
            """)
        XCTAssertEqual(outcome.end, .exit(143))
        XCTAssertEqual(posts(recording), [12])
    }

    // MARK: Repeating

    func testRepeatKeepsGoodAndBadRecordingsApartStopsAtTheFirstBadOneAndPrintsTheCommandThatComparesThem() throws {
        let outcome = try Shell.run(
            """
            cd "$(mktemp -d)"; mkdir d; printf 'kitchen; echo >> runs; [ $(wc -l < runs) != 3 ]' > program
            notify-demo record --repeat 9 --until-fail -o d -- bash program > /dev/null; echo $?; ls d
            notify-demo record --repeat 4 -o d -- bash program; notify-demo record --repeat 4 -o runs -- bash program
            notify-demo record --repeat 1 -o new -- sh -c 'kitchen; kill -INT $$' > /dev/null 2>&1; echo $?; ls new
            notify-demo record --repeat 2 -- kitchen > /dev/null 2>&1; echo $?; ls
            """)
        XCTAssertEqual(
            outcome.output.split(separator: "\n"),
            """
            1 bad-1.jsonl good-1.jsonl good-2.jsonl 1 bad-1.jsonl 0 d good-1.jsonl good-2.jsonl new program runs
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

    func testRepeatEndsWhenTheProgramIsInterruptedOrRecordsNothing() throws {
        let outcome = try Shell.run(
            """
            cd "$(mktemp -d)"; notify-demo record --repeat 3 -- sh -c 'kitchen; kill -TERM $PPID; exec sleep 60'; echo $?
            notify-demo record --repeat 3 -- true; echo $?; ls
            """)
        XCTAssertEqual(outcome.output, "\(Self.dishes)143\n2\n", outcome.errors)
        XCTAssertTrue(outcome.errors.contains("true recorded nothing"), outcome.errors)
    }
}
