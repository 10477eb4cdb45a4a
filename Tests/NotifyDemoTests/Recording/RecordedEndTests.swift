import ChildProcesses
import DeliveryRecording
import Foundation
import SharedTesting
import XCTest

/// What `record` makes of the files that a program leaves behind, however the program ended.
final class RecordedEndTests: XCTestCase {
    /// Records a shell that writes a recording itself, as `$f`, with its own process id.
    ///
    /// - Parameter lines: shell lines. `header VERSION PROCESS [TIME]` and `post NUMBER` print lines of a recording.
    private func record(_ lines: String) throws -> (outcome: Shell.Outcome, recording: Recording, bytes: Data) {
        let directory = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let program = """
            f=$\(ProcessRecording.environmentVariable)
            header() { printf '{"recording":%s,"process":%s,"name":"p","n":1,"t":%s,"wall":1}\\n' $1 $2 ${3:-1}; }
            post() { printf '{"n":%s,"t":%s,"thread":1,"stage":"post","name":"A","post":%s}\\n' $1 $1 $1; }
            \(lines)
            """
        try program.write(to: directory.appending(component: "program"), atomically: true, encoding: .utf8)
        let outcome = try Shell.run("cd '\(directory.path)'; notify-demo record -o run.jsonl -- bash program")
        let file = directory.appending(component: "run.jsonl").path
        return (outcome, try Recording(path: file), try Data(contentsOf: URL(filePath: file)))
    }

    func testTheProgramsEndIsAppendedIfItCouldNotRecordIt() throws {
        for (last, reason) in [("exit 3", "exit"), ("kill -KILL $$", "signal 9"), ("exec true", "exit")] {
            let (_, recording, bytes) = try record("{ header 3 $$; post 1; post 2; printf '\\0\\0\\0'; } > $f; \(last)")
            XCTAssertEqual(recording.completeness, [.complete], last)
            XCTAssertEqual(recording.problems, [], last)
            XCTAssertEqual(recording.entries.map(\.stage), [.post, .post, .end], last)
            XCTAssertEqual(recording.entries.last.flatMap(recording.details(of:)), reason, last)
            XCTAssertEqual(recording.entries.last?.isThreadKnown, false, last)
            XCTAssertFalse(bytes.contains(0), last)
        }
    }

    func testAnEndIsNotAppendedWhereItWouldHideALoss() throws {
        // In version 2 the last records may be missing.
        XCTAssertEqual(
            try record("{ header 2 $$; post 1; } > $f; exit 3").recording.completeness, [.truncated(.noEnd)])
        // The number of the record that the program was writing stays missing.
        for identity in ["", "\\0\"thread\":2,\"kernelID\":2}\\n"] {
            let (_, torn, _) = try record(
                "{ header 3 $$; post 1; printf '\(identity){\"n\":2,\"t\"\\0\\0\\0\\n'; } > $f; kill -KILL $$")
            XCTAssertEqual(torn.completeness, [.truncated(.missing(1))])
            XCTAssertEqual(torn.entries.last.flatMap(torn.details(of:)), "signal 9")
        }
        // A stopped recording has an end, and an earlier program of the process has ended.
        let end = "printf '{\"n\":2,\"t\":2,\"thread\":1,\"stage\":\"end\",\"reason\":\"stopped\"}\\n'"
        XCTAssertEqual(
            try record("{ header 3 $$; post 1; \(end); } > $f").recording.entries.map(\.stage), [.post, .end])
    }

    func testAChildThatEndedWithoutAnEndEndedWithoutNotice() throws {
        let (outcome, recording, _) = try record(
            "{ header 3 $$; post 1; } > $f; { header 3 4194305; post 1; printf '\\0\\0'; } > $f.4194305")
        XCTAssertEqual(recording.completeness, [.complete, .endedWithoutNotice])
        XCTAssertEqual(recording.problems, [])
        XCTAssertTrue(outcome.errors.contains(" of 2 processes, "), outcome.errors)
    }

    func testALargeRoomForRecordsIsNotCopied() throws {
        let (_, recording, bytes) = try record(
            "{ header 3 $$; post 1; } > $f; truncate -s 3M $f; { header 3 $$ 2; post 1; } >> $f; truncate -s 5M $f")
        XCTAssertLessThan(bytes.count, 1000)
        XCTAssertEqual(recording.entries.count { $0.stage == .post }, 2)
    }

    func testWhatCouldNotBeRecordedIsSaidAndARecordingWithoutRecordsIsAnError() throws {
        let unrecorded = "printf '{\"unrecorded\":\"notification centers: this Foundation is unknown\"}\\n'"
        let end = "printf '{\"n\":1,\"t\":1,\"thread\":1,\"stage\":\"end\",\"reason\":\"exit\"}\\n'"
        for (records, status) in [("post 1", Int32(0)), (":", 2), (end, 2)] {
            let (outcome, _, _) = try record("{ header 3 $$; \(unrecorded); \(records); } > $f")
            XCTAssertEqual(outcome.end, .exit(status))
            XCTAssertTrue(
                outcome.errors.contains(
                    "\nnotify-demo: not recorded: notification centers: this Foundation is unknown\n"),
                outcome.errors)
        }
    }

    func testAnInterruptionWhileTheRecordingIsWrittenSaysWhereTheRecordsAre() throws {
        let programs = try Shell.directory()
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let errors = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
            try Data().write(to: errors)
            defer { try? FileManager.default.removeItem(at: errors) }
            let written = try FileHandle(forWritingTo: errors)
            let record = try ChildProgram(
                path: "\(programs)/notify-demo",
                arguments: ["record", "-o", "-", "--", "\(programs)/test-child", "recording", "exit"]
            ).start(output: .piped, errors: .descriptor(written.fileDescriptor))
            // The output is larger than a pipe, so the command is writing the recording now, and waits.
            XCTAssertEqual(try record.readLine(timeout: TestTimeout.hang)?.hasPrefix("{\"recording\":"), true)
            record.kill(signal)
            XCTAssertEqual(record.wait(timeout: TestTimeout.hang), .signal(signal))
            let message = try String(contentsOf: errors, encoding: .utf8)
            let file = try XCTUnwrap(message.firstMatch(of: /The records are in (\S+)\.\n/)?.1, message)
            defer { try? FileManager.default.removeItem(at: URL(filePath: String(file)).deletingLastPathComponent()) }
            XCTAssertEqual(try Recording(path: String(file)).entries.count { $0.stage == .post }, 1001)
        }
    }

    /// Runs shell lines in a mount namespace of their own, in an empty directory.
    private func inNamespace(_ lines: String) throws -> Shell.Outcome {
        let works = try Shell.run("[ $(id -u) = 0 ] && unshare -m sh -c 'mount -t tmpfs tmpfs /mnt && umount /mnt'")
        try XCTSkipUnless(works.end == .exit(0), "This user cannot mount file systems.")
        return try Shell.run("cd \"$(mktemp -d)\"; trap 'rm -r \"$PWD\"' EXIT; unshare -m sh -c '\(lines)'")
    }

    func testAFullFileSystemIsNamedBeforeTheProgramRuns() throws {
        let outcome = try inNamespace(
            """
            mkdir d; mount -t tmpfs -o size=64k tmpfs d; cd d; dd if=/dev/zero of=full bs=1k count=64 2> /dev/null
            notify-demo record -o run.jsonl -- echo ran; echo $?; ls; cd ..; umount d
            """)
        XCTAssertEqual(outcome.output, "2\nfull\n")
        XCTAssertTrue(
            outcome.errors.contains("cannot record to run.jsonl: No space left on device, in /"), outcome.errors)
    }

    func testASystemWithoutProcIsNamed() throws {
        let outcome = try inNamespace("umount /proc; notify-demo record -o run.jsonl -- echo ran; echo $?; ls")
        XCTAssertEqual(outcome.output, "2\n")
        XCTAssertTrue(outcome.errors.contains("there is no /proc"), outcome.errors)
    }

    func testAFileSizeLimitThatTakesNoRecordIsNamedBeforeTheProgramRuns() throws {
        let outcome = try Shell.run(
            """
            cd "$(mktemp -d)"; trap 'rm -r "$PWD"' EXIT
            (ulimit -f 0; notify-demo record -o run.jsonl -- echo ran); echo $?; ls
            """)
        XCTAssertEqual(outcome.output, "2\n")
        XCTAssertTrue(outcome.errors.contains("cannot record to run.jsonl: File too large, in "), outcome.errors)
    }
}
