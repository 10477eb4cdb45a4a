import ChildProcesses
import DeliveryRecording
import Foundation
import SharedTesting
import Testing

/// Records programs that end, crash, fork or tamper with their recording.
@Suite("notify-demo record")
struct RecordTests {
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

    private func child(_ end: String) throws -> (outcome: Shell.Outcome, recording: Recording, files: [String]) {
        try record("notify-demo record -o run.jsonl -- recording-child \(end)")
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

    @Test("a program is recorded unchanged, with its arguments, open files, input and output")
    func program() async throws {
        let (outcome, recording, files) = try record("notify-demo record -o run.jsonl -- kitchen")
        #expect(outcome.end == .exit(0))
        #expect(outcome.output == Self.dishes)
        #expect(outcome.errors.hasPrefix("notify-demo: recorded "))
        #expect(recording.problems.isEmpty)
        #expect(posts(recording) == [12])
        #expect(recording.entries.last?.stage == .end)
        #expect(files == ["run.jsonl"])
        let passed = try Shell.run(
            """
            cd $(mktemp -d); echo in | notify-demo record -o a -- cat -
            notify-demo record -o a -- cat <(echo opened); notify-demo record -o b -- printf '%s ' --help -- x
            """)
        #expect(passed.output == "in\nopened\n--help -- x ")
    }

    @Test("if two commands record one program, the inner one does")
    func nested() async throws {
        let (outcome, recording, _) = try record(
            "notify-demo record -o outer.jsonl -- notify-demo record -o run.jsonl -- kitchen")
        #expect(posts(recording) == [12])
        #expect(outcome.errors.contains("recorded nothing"))
    }

    @Test("the recording of a program that a signal ends is complete up to the signal")
    func signals() async throws {
        for (end, signal) in [("fault", Int32(11)), ("trap", 4), ("terminate", 15)] {
            let (outcome, recording, _) = try child(end)
            #expect(outcome.end == .exit(128 + signal))
            #expect(recording.problems.isEmpty)
            let last = recording.records.suffix(2)
            #expect(last.map(\.stage) == [.deliver, .end])
            #expect(last.last?.details == "signal \(signal)")
            #expect(outcome.errors.contains("was terminated by signal \(signal)"))
        }
        let (outcome, recording, _) = try child("kill")
        #expect(outcome.end == .exit(137))
        #expect(posts(recording)[0] >= 1000)
        #expect(!recording.entries.contains { $0.stage == .end })
    }

    @Test("records that a full disk does not take are counted exactly, and later ones are recorded in order")
    func fill() async throws {
        let (outcome, recording, _) = try child("fill")
        #expect(outcome.end == .exit(0))
        #expect(outcome.errors.contains("could not be written (File too large)"))
        let lost = recording.entries.filter { $0.stage == .lost }.reduce(0) { $0 + Int($1.count) }
        #expect(lost > 1000)
        #expect(recording.completeness == [.truncated(.lost(lost))])
        // No earlier record is repeated, and no line is truncated.
        #expect(Self.isOnlyIncomplete(recording), "\(recording.problems)")
        #expect(recording.records.last { $0.stage == .post }?.notification == "last")
        #expect(recording.records.last?.details == "exit")
    }

    @Test("a file that a process records to is not changed by another program's recording")
    func second() async throws {
        let (outcome, recording, _) = try record(
            """
            mkfifo ready go; exec 4<> go
            notify-demo record -o run.jsonl -- sh -c 'exec recording-child pause > ready < go' &
            read line < ready
            notify-demo record -o run.jsonl -- kitchen; echo $? >&2
            echo >&4; wait
            """)
        #expect(outcome.errors.contains("cannot record to run.jsonl: another process records to it.\n2\n"))
        #expect(recording.problems.isEmpty)
        #expect(posts(recording) == [1001])
    }

    @Test("a process that outlives the program keeps its own file, and the recording has its records up to the copy")
    func outlived() async throws {
        let (outcome, recording, _) = try record(
            """
            mkfifo ready go; exec 4<> go
            notify-demo record -o run.jsonl -- sh -c 'recording-child pause > ready < go & read line < ready'
            echo >&4; until grep -q '"end"' run.jsonl.*.rest/*; do :; done; cmp run.jsonl run.jsonl.*.rest/*
            """)
        #expect(outcome.errors.contains("still runs and records to "))
        #expect(outcome.errors.contains("EOF on run.jsonl after byte "), "\(outcome.errors)")
        #expect(recording.problems.isEmpty)
        #expect(posts(recording) == [1000])
    }

    @Test("a file size limit does not end a program that is recorded")
    func sizeLimit() async throws {
        let (outcome, recording, _) = try record(
            "notify-demo record -o run.jsonl -- sh -c 'ulimit -f 40; exec recording-child exit'")
        #expect(outcome.end == .exit(0))
        #expect(outcome.errors.contains("could not be written (File too large)"))
        // There may be room for a record of the loss.
        #expect(Self.isOnlyIncomplete(recording), "\(recording.problems)")
        #expect(posts(recording)[0] > 10)
    }

    @Test("a signal after the recording's end, or that the program waits for, has its usual effect on the program")
    func stop() async throws {
        for (end, status, reason) in [("stop", Int32(143), "stopped"), ("wait", 0, "exit")] {
            let (outcome, recording, _) = try child(end)
            #expect(outcome.end == .exit(status))
            #expect(recording.problems.isEmpty)
            #expect(recording.records.last?.details == reason)
        }
    }

    @Test("a forked copy and a started program are recorded after the program")
    func processes() async throws {
        for (end, expected) in [("fork", [1001, 1]), ("spawn", [1001, 1001])] {
            let (outcome, recording, files) = try child(end)
            #expect(outcome.end == .exit(0))
            #expect(recording.problems.isEmpty)
            #expect(posts(recording) == expected)
            #expect(recording.entries.contains { $0.stage == .fork } == (end == "fork"))
            #expect(recording.entries.count { $0.stage == .end } == 2)
            #expect(files == ["run.jsonl"])
            #expect(outcome.errors.contains("of 2 processes"))
        }
    }

    @Test("damage by the program to its file is reported with its line, and the rest is kept")
    func ownFile() async throws {
        for end in ["truncate", "scribble"] {
            let (outcome, recording, _) = try child(end)
            #expect(outcome.end == .exit(0))
            #expect(recording.problemCount > 0)
            #expect(recording.problems.allSatisfy { $0.line != nil })
            #expect(recording.records.contains { $0.notification == "last" })
            #expect(recording.entries.last?.stage == .end)
        }
    }

    @Test("a main thread that ends loses later posts, and a finding says so")
    func mainThreadEnds() async throws {
        let (outcome, recording, _) = try record(
            "notify-demo record -o run.jsonl -- recording-child main-thread-ends; notify-demo diagnose run.jsonl")
        #expect(recording.records.contains { $0.stage == .targetGone && $0.notification == "for main" })
        #expect(outcome.output.contains("for main") && outcome.output.contains("async"), "\(outcome.output)")
    }

    @Test("missing programs, unwritable files and programs that record nothing are reported")
    func errors() async throws {
        let outcome = try Shell.run(
            """
            cd "$(mktemp -d)"; r() { notify-demo record "$@"; echo $?; }
            r -o /nonexistent/f -- true; r -o '' -- true; r -o /tmp -- true; r -- /nonexistent; r -- true; r -- sh -c 'exit 7'
            r -- kitchen; notify-demo diagnose; echo $?; ls
            """)
        #expect(outcome.output.hasPrefix("2\n2\n2\n2\n2\n7\n\(Self.dishes)0\n"), "\(outcome.output)")
        for words in [
            "cannot record to /nonexistent/f: No such file", "cannot record to \"\"", "cannot record to /tmp",
            "cannot run /nonexistent", "true recorded nothing",
        ] { #expect(outcome.errors.contains(words), "\(outcome.errors)") }
        // The mistake in the example.
        #expect(outcome.output.contains("problem: DishRedy was never posted but is observed by observer 2"))
        #expect(outcome.output.hasSuffix("\n1\nnotifications.jsonl\n"), "\(outcome.output)")
    }

    @Test("a request to end is passed on to the program, and the recording is kept")
    func terminated() async throws {
        let (outcome, recording, _) = try record(
            """
            mkfifo go; notify-demo record -o run.jsonl -- sh -c 'kitchen; echo $PPID > go; exec sleep 600' &
            kill -TERM $(cat go); wait $!
            """)
        #expect(outcome.end == .exit(143))
        #expect(posts(recording) == [12])
    }
}
