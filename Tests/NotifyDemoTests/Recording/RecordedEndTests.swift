import DeliveryRecording
import Foundation
import SharedTesting
import XCTest

/// What `record` makes of the files that a program leaves behind, however the program ended.
final class RecordedEndTests: XCTestCase {
    /// Records a shell that writes a recording itself, as `$f`, with its own process id.
    ///
    /// - Parameter lines: shell lines. `header VERSION PROCESS [TIME]` and `post NUMBER` print lines of a recording.
    private func record(_ lines: String) throws -> (errors: String, recording: Recording, bytes: Data) {
        let directory = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let program = """
            f=$\(ProcessRecording.environmentVariable)
            header() { printf '{"recording":%s,"process":%s,"name":"p","n":1,"t":%s,"wall":1}\\n' $1 $2 ${3:-1}; }
            post() { printf '{"n":%s,"t":%s,"thread":1,"stage":"post","name":"A","post":%s}\\n' $1 $1 $1; }
            end() { printf '{"n":%s,"t":2,"thread":1,"stage":"end","reason":"stopped"}\\n' $1; }
            \(lines)
            """
        try program.write(to: directory.appending(component: "program"), atomically: true, encoding: .utf8)
        let outcome = try Shell.run(
            "cd '\(directory.path)'; notify-demo record -o run.jsonl -- bash program; echo $? >&2")
        let file = directory.appending(component: "run.jsonl").path
        return (outcome.errors, try Recording(path: file), try Data(contentsOf: URL(filePath: file)))
    }

    func testTheProgramsEndIsAppendedIfItCouldNotRecordItAndNotWhereItWouldHideALoss() throws {
        let torn = [Recording.Completeness.truncated(.missing(1))]
        for (lines, completeness, last) in [
            ("{ header 3 $$; post 1; post 2; printf '\\0\\0\\0'; } > $f; exit 3", [.complete], "exit"),
            ("{ header 3 $$; post 1; post 2; printf '\\0\\0\\0'; } > $f; kill -KILL $$", [.complete], "signal 9"),
            ("{ header 3 $$; post 1; post 2; } > $f; exec true", [.complete], "exit"),
            // In version 2 the last records may be missing.
            ("{ header 2 $$; post 1; } > $f; exit 3", [.truncated(.noEnd)], nil),
            // The number of the record that the program was writing stays missing.
            ("{ header 3 $$; post 1; printf '{\"n\":2,\"t\"\\0\\0\\0\\n'; } > $f; kill -KILL $$", torn, "signal 9"),
            (
                "{ header 3 $$; post 1; printf '\\0\"thread\":2,\"kernelID\":2}\\n{\"n\":2,\"t\"\\0\\n'; } > $f; kill -9 $$",
                torn, "signal 9"
            ),
            ("{ header 3 $$; post 1; end 2; } > $f", [.complete], "stopped"),
            // A child that ended without an end.
            (
                "{ header 3 $$; post 1; } > $f; { header 3 4194305; post 1; printf '\\0\\0'; } > $f.4194305",
                [.complete, .endedWithoutNotice], nil
            ),
            // Room for records is not copied.
            (
                "{ header 3 $$; post 1; } > $f; truncate -s 3M $f; { header 3 $$ 2; post 1; } >> $f; truncate -s 5M $f",
                [.complete, .complete], "exit"
            ),
        ] as [(String, [Recording.Completeness], String?)] {
            let (errors, recording, bytes) = try record(lines)
            XCTAssertEqual(recording.completeness, completeness, lines)
            if let last { XCTAssertEqual(recording.entries.last.flatMap(recording.details(of:)), last, lines) }
            XCTAssertEqual(recording.problems.isEmpty, !completeness.contains { $0 == torn[0] }, lines)
            XCTAssertLessThan(bytes.count, 1000, lines)
            XCTAssertEqual(errors.contains(" of 2 processes, "), lines.contains("4194305"), errors)
        }
    }

    func testWhatCouldNotBeRecordedIsSaidAndARecordingWithoutRecordsIsAnError() throws {
        let unrecorded = "printf '{\"unrecorded\":\"notification centers: this Foundation is unknown\"}\\n'"
        for (records, status) in [("post 1", 0), (":", 2), ("end 1", 2)] {
            let errors = try record("{ header 3 $$; \(unrecorded); \(records); } > $f").errors
            XCTAssertTrue(errors.hasSuffix("\n\(status)\n"), errors)
            XCTAssertTrue(
                errors.contains("\nnotify-demo: not recorded: notification centers: this Foundation is unknown\n"),
                errors)
        }
    }
}
