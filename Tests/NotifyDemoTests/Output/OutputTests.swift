import Foundation
import SharedTesting
import XCTest

@testable import notify_demo

/// The files that `run`, `timeline`, `trace` and `smoke` write.
final class OutputTests: XCTestCase {
    /// Runs shell lines in a new directory with a recording, `run.jsonl`.
    private func shell(_ line: String) throws -> Shell.Outcome {
        try Shell.run(
            """
            cd "$(mktemp -d)"; trap 'rm -r "$PWD"' EXIT
            notify-demo run redirect -o run.jsonl > /dev/null 2>&1; cp run.jsonl copy
            \(line)
            """)
    }

    func testAnOutputCannotOverwriteTheRecordingThatItIsMadeFromUnderAnyName() throws {
        let outcome = try shell(
            """
            ln -s run.jsonl link; ln run.jsonl hard
            for output in run.jsonl link hard; do notify-demo timeline run.jsonl -o $output; echo $?; done
            notify-demo trace - -o run.jsonl < run.jsonl; echo $?; cmp run.jsonl copy
            """)
        XCTAssertEqual(outcome.output, "64\n64\n64\n64\n")
        XCTAssertTrue(outcome.errors.contains("would overwrite the recording. Name another file with -o."))
    }

    func testAnExistingFileIsWrittenBehindASymbolicLinkAndKeepsItsPermissionsWithoutLeftovers() throws {
        let outcome = try shell(
            """
            mkdir d; echo old > d/target; chmod 640 d/target; ln -s target d/link
            notify-demo timeline run.jsonl -o d/link; ls -A d; stat -c %a d/target; readlink d/link; head -c 3 d/target
            """)
        XCTAssertTrue(outcome.output.hasPrefix("link\ntarget\n640\ntarget\n"), "\(outcome.errors)")
        XCTAssertFalse(outcome.output.hasSuffix("old"))
    }

    func testIfTheOutputDoesNotFitAMessageSaysSoAndTheExistingFileStaysAsItWas() throws {
        let outcome = try shell(
            """
            mkdir d; echo old > d/a; (ulimit -f 1; notify-demo trace run.jsonl -o d/a; echo $?); ls -A d; cat d/a
            notify-demo run redirect -o /dev/full >&-; echo $?
            """)
        XCTAssertEqual(outcome.output, "2\na\nold\n2\n")
        XCTAssertTrue(outcome.errors.contains("cannot write d/a: File too large."), "\(outcome.errors)")
        XCTAssertTrue(outcome.errors.contains("cannot write /dev/full"), "\(outcome.errors)")
    }

    func testASignalOrAClosedPipeThatEndsACommandLeavesNoIncompleteOutput() throws {
        let outcome = try shell(
            """
            mkdir d; echo old > d/a; mkfifo shown; exec 4<> shown
            notify-demo smoke --junit d/a > shown 2>/dev/null & read line <&4
            ls -A d | wc -l; kill -TERM $!; wait $!; echo $?; ls -A d; cat d/a
            notify-demo smoke --junit d/a | head -n 1 > b; ls -A d
            """)
        XCTAssertEqual(outcome.output, "1\n143\na\nold\na\n", "\(outcome.errors)")
    }

    func testDevStdoutAndAreStandardOutputAndOnlyTheOutputIsPrintedThere() throws {
        let outcome = try shell(
            """
            mkdir d; cd d
            notify-demo timeline ../run.jsonl > ../a; notify-demo timeline ../run.jsonl -o - | cmp - ../a
            { echo before; notify-demo timeline ../run.jsonl -o /dev/stdout; echo after; } > ../b
            { echo before; cat ../a; echo after; } | cmp - ../b
            for o in "-o -" "-o /dev/stdout" --json; do
                notify-demo run redirect $o 2>/dev/null | tee ../c | notify-demo check - --rule "everything delivered" | tail -n 1; grep -vc '^{' ../c
            done
            notify-demo timeline ../run.jsonl --svg -o ../e.svg; notify-demo timeline ../run.jsonl --svg | cmp - ../e.svg
            notify-demo trace ../run.jsonl -o ../t.json; notify-demo trace ../run.jsonl | cmp - ../t.json; ls -A
            """)
        XCTAssertEqual(outcome.output, String(repeating: "1 passed, 0 failed\n0\n", count: 3))
        let opens = outcome.errors.split(separator: "\n")
        XCTAssertTrue(opens.count == 1 && opens[0].hasSuffix("open it in https://ui.perfetto.dev"), "\(outcome.errors)")
    }

    func testAMissingDirectoryADirectoryAndAnEmptyPathAreErrorsAndCreateNothing() throws {
        for path in ["/nonexistent/a", FileManager.default.temporaryDirectory.path, ""] {
            XCTAssertThrowsError(try Output(path), path)
        }
        let path = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString).path
        _ = try Output(path)
        XCTAssertFalse(FileManager.default.fileExists(atPath: path))
    }

    func testOutputsWithoutASizeAreWrittenDirectly() throws {
        let outcome = try shell(
            """
            mkfifo f; cat f > a & notify-demo timeline run.jsonl -o f; wait; notify-demo timeline run.jsonl | cmp - a
            notify-demo timeline run.jsonl -o /dev/null; echo $?
            """)
        XCTAssertEqual(outcome.output, "0\n", "\(outcome.errors)")
    }
}
