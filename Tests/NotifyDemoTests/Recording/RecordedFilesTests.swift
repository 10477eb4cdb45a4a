import DeliveryRecording
import Foundation
import SharedTesting
import XCTest

/// The effect of recording on files: the recording itself, earlier files, and files of the program.
final class RecordedFilesTests: XCTestCase {
    /// Runs shell lines in a directory of its own. `preloaded FILE PROGRAM …` records a program as `record` does.
    private func shell(_ line: String) throws -> Shell.Outcome {
        try Shell.inDirectory(
            """
            export SWIFT_BACKTRACE=enable=no; ulimit -c 0
            library=$(dirname "$(command -v notify-demo)")/libnotification-recorder.so
            preloaded() { env LD_PRELOAD=$library \(Self.variable)="$1" "${@:2}"; }
            \(line)
            """)
    }

    private static let dishes = "served 6 dishes, and the bell did not ring\n"
    private static let variable = "THREADED_NOTIFICATIONS_RECORDING"

    /// Runs a command as user 65534 (`nobody`), without root's groups.
    private static let asNobody = "setpriv --reuid=65534 --regid=65534 --clear-groups"

    func testASetUserIdProgramNeitherCreatesNorChangesAFileThatItsEnvironmentNames() throws {
        // A mount without set-user-id programs, a container without new privileges, or a directory that this user
        // cannot enter prevents the test.
        let works = try Shell.inDirectory(
            """
            [ "$(id -u)" = 0 ] || exit; chmod 755 .; cp "$(command -v id)" id; chmod 4755 id; \(Self.asNobody) ./id -u
            """
        ).output
        try XCTSkipUnless(works == "0\n", "A set-user-id program of root's, run by nobody, has no effect here.")
        let outcome = try shell(
            """
            chmod 755 .; cp "$(command -v kitchen)" k; chmod 4755 k; mkdir -m 700 secret; printf '' > empty
            as() { \(Self.asNobody) "$@"; }
            as env LD_PRELOAD=$library \(Self.variable)=$PWD/secret/run.jsonl ./k
            as env LD_PRELOAD=$library \(Self.variable)=$PWD/empty ./k
            ls secret; wc -c < empty
            """)
        XCTAssertEqual(outcome.output, "\(Self.dishes)\(Self.dishes)0\n")
        XCTAssertEqual(outcome.errors, "")
    }

    func testOPrintsOnlyTheRecordingWhichIsKeptInADirectoryThatOnlyItsOwnerCanAccessBefore() throws {
        let outcome = try shell(
            """
            export TMPDIR=$PWD; umask 022
            notify-demo record -o - -- sh -c 'stat -c %a "$(dirname "$\(Self.variable)")"; kitchen'; ls -A >&2
            { preloaded a kitchen; notify-demo record -o b -- kitchen; stat -c '%n %a' a b; } >& said; tail -n 2 said >&2
            """)
        let recording = try Recording(bytes: Array(outcome.output.utf8), name: "output")
        XCTAssertTrue(recording.problems.isEmpty)
        XCTAssertEqual(recording.entries.last?.stage, .end)
        XCTAssertTrue(outcome.errors.hasPrefix("700\n\(Self.dishes)notify-demo: recorded "), "\(outcome.errors)")
        XCTAssertTrue(outcome.errors.hasSuffix(" to standard output\na 600\nb 600\n"), "\(outcome.errors)")
    }

    func testTheOldRecordingStaysUntilAProgramHasRecordedAndEndedAndIsReplacedBehindASymbolicLink() throws {
        let outcome = try shell(
            """
            echo old > target; ln -s target run.jsonl; chmod 640 target
            notify-demo record -o run.jsonl -- ./misspelt; notify-demo record -o new.jsonl -- true
            notify-demo record -o run.jsonl -- sh -c 'cat run.jsonl; kitchen' 2>/dev/null
            ls -A; readlink run.jsonl; stat -c %a target; head -c 12 target
            """)
        XCTAssertEqual(
            outcome.output, "old\n\(Self.dishes)run.jsonl\ntarget\ntarget\n640\n{\"recording\"", "\(outcome.errors)")
    }

    func testAFIFOAndADeviceAreWrittenWhenTheProgramHasEndedARecordingThatDoesNotFitIsKeptAndNamed() throws {
        let outcome = try shell(
            """
            mkfifo f; cat f > copy & notify-demo record -o f -- kitchen 2>/dev/null; wait; head -c 12 copy; echo
            export TMPDIR=$PWD; notify-demo record -o /dev/full -- kitchen; echo $?
            head -c 12 notify-demo.recording-*.rest/recording.jsonl; ls -A notify-demo.recording-*.rest | wc -l
            """)
        XCTAssertEqual(
            outcome.output, "\(Self.dishes){\"recording\"\n\(Self.dishes)2\n{\"recording\"1\n", "\(outcome.errors)")
        XCTAssertTrue(outcome.errors.contains("/dev/full: No space left on device. The records are in /"))
    }

    func testAFileThatIsNotARecordingIsRefusedOnceAndATruncatedOneIsContinuedOnANewLine() throws {
        let outcome = try shell(
            """
            echo my text > a; preloaded a kitchen >&2; cat a >&2; preloaded b kitchen > /dev/null; head -c -30 b > run.jsonl
            preloaded run.jsonl kitchen > /dev/null; cat run.jsonl
            """)
        XCTAssertTrue(outcome.errors.hasSuffix("\nmy text\n"))
        XCTAssertEqual(
            outcome.errors.split(separator: "\n").count { $0.contains("it is not a recording, and not empty") }, 1,
            "\(outcome.errors)")
        let recording = try Recording(bytes: Array(outcome.output.utf8), name: "output")
        XCTAssertEqual(recording.processes.count, 2)
        XCTAssertEqual(recording.entries.count { $0.stage == .post }, 24)
        // The truncated line.
        XCTAssertEqual(recording.problemCount, 1)
    }
}
