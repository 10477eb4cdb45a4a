import DeliveryRecording
import Foundation
import SharedTesting
import XCTest

/// The effect of recording on files: the recording itself, earlier files, and files of the program.
final class RecordedFilesTests: XCTestCase {
    /// Runs shell lines in a directory of its own. `preloaded FILE PROGRAM …` records a program as `record` does.
    private func shell(_ line: String) throws -> Shell.Outcome {
        try Shell.run(
            """
            cd "$(mktemp -d)"; trap 'rm -r "$PWD"' EXIT; export SWIFT_BACKTRACE=enable=no; ulimit -c 0
            library=$(dirname "$(command -v notify-demo)")/libnotification-recorder.so
            preloaded() { env LD_PRELOAD=$library \(Self.variable)="$1" "${@:2}"; }
            \(line)
            """)
    }

    private static let dishes = "served 6 dishes, and the bell did not ring\n"
    private static let variable = "THREADED_NOTIFICATIONS_RECORDING"

    // MARK: Rights

    /// Runs a command as user 65534 (`nobody`), without root's groups.
    private static let asNobody = "setpriv --reuid=65534 --regid=65534 --clear-groups"

    /// True if a set-user-id program has its owner's rights when user 65534 runs it. A mount without set-user-id
    /// programs, a container without new privileges, or a directory that this user cannot enter prevents it.
    private static func setUserIDWorks() throws -> Bool {
        let outcome = try Shell.run(
            """
            [ "$(id -u)" = 0 ] || exit; cd "$(mktemp -d)"; trap 'rm -r "$PWD"' EXIT
            chmod 755 .; cp "$(command -v id)" id; chmod 4755 id; \(asNobody) ./id -u
            """)
        return outcome.output == "0\n"
    }

    /// True if user 65534 can run the program under test, and can write to the tests' directories.
    private static func nobodyCanRecord() throws -> Bool {
        let outcome = try Shell.run(
            """
            [ "$(id -u)" = 0 ] || exit; cd "$(mktemp -d)"; trap 'rm -r "$PWD"' EXIT; chmod 777 .
            \(asNobody) touch "$PWD/a" && \(asNobody) notify-demo --help > /dev/null && echo yes
            """)
        return outcome.output == "yes\n"
    }

    func testASetUserIdProgramNeitherCreatesNorChangesAFileThatItsEnvironmentNames() throws {
        try XCTSkipUnless(
            try Self.setUserIDWorks(), "A set-user-id program of root's, run by nobody, has no effect here.")
        let outcome = try shell(
            """
            chmod 755 .; cp "$(command -v kitchen)" k; chmod 4755 k; mkdir -m 700 secret; printf '' > empty
            as() { \(Self.asNobody) "$@"; }
            as env LD_PRELOAD=$library \(Self.variable)=$PWD/secret/run.jsonl ./k
            as env LD_PRELOAD=$library \(Self.variable)=$PWD/empty ./k
            ls secret; wc -c < empty
            """)
        XCTAssertEqual(
            outcome.output, String(repeating: "served 6 dishes, and the bell did not ring\n", count: 2) + "0\n")
        XCTAssertEqual(outcome.errors, "")
    }

    func testANewRecordingCanBeReadOnlyByItsOwner() throws {
        let outcome = try shell(
            """
            umask 022; preloaded a kitchen; notify-demo record -o b -- kitchen 2>/dev/null
            touch c; chmod 640 c; notify-demo record -o c -- kitchen 2>/dev/null; stat -c '%n %a' a b c
            """)
        XCTAssertTrue(outcome.output.hasSuffix("a 600\nb 600\nc 640\n"), "\(outcome.output)\(outcome.errors)")
    }

    func testAGroupWritableFileKeepsItsOwnerAndPermissionsAlsoInADirectoryThatCannotBeWritten() throws {
        try XCTSkipUnless(
            try Self.nobodyCanRecord(),
            "Only root can give files to others, and nobody must be able to run notify-demo.")
        let outcome = try shell(
            """
            chmod 755 .; export TMPDIR=$PWD/tmp; mkdir -m 777 open tmp; mkdir -m 755 closed
            for file in open/f closed/f; do
                echo old > $file; chown 1:65534 $file; chmod 660 $file
                \(Self.asNobody) notify-demo record -o $file -- kitchen 2>errors || cat errors
                stat -c '%u:%g %a' $file; head -c 12 $file; echo
                echo old > $file; \(Self.asNobody) notify-demo run redirect -o $file > /dev/null 2>errors || cat errors
                stat -c '%u:%g %a' $file; head -c 12 $file; echo
            done
            ls -A open closed tmp
            """)
        let written = "1:65534 660\n{\"recording\"\n"
        XCTAssertEqual(
            outcome.output,
            String(repeating: Self.dishes + written + written, count: 2) + "closed:\nf\n\nopen:\nf\n\ntmp:\n",
            "\(outcome.errors)")
    }

    func testOPrintsOnlyTheRecordingWhichIsKeptInADirectoryThatOnlyItsOwnerCanAccessBefore() throws {
        let outcome = try shell(
            """
            export TMPDIR=$PWD
            notify-demo record -o - -- sh -c 'stat -c %a "$(dirname "$\(Self.variable)")"; kitchen'; ls -A >&2
            """)
        let recording = try Recording(bytes: Array(outcome.output.utf8), name: "output")
        XCTAssertTrue(recording.problems.isEmpty)
        XCTAssertEqual(recording.entries.last?.stage, .end)
        XCTAssertTrue(outcome.errors.hasPrefix("700\n\(Self.dishes)notify-demo: recorded "), "\(outcome.errors)")
        XCTAssertTrue(outcome.errors.hasSuffix(" to standard output\n"), "\(outcome.errors)")
    }

    func testASymbolicLinkAtTheNameThatASecondProcessRecordsToIsRefused() throws {
        let outcome = try shell(
            """
            : > a; preloaded a flock a sh -c 'ln -s target a.$$; exec kitchen'; ls target
            """)
        XCTAssertEqual(outcome.output, "served 6 dishes, and the bell did not ring\n")
        XCTAssertTrue(outcome.errors.contains("Too many levels of symbolic links"), "\(outcome.errors)")
    }

    // MARK: Earlier files

    func testTheOldRecordingStaysUntilAProgramHasRecordedAndEndedAndIsReplacedBehindASymbolicLink() throws {
        let outcome = try shell(
            """
            echo old > target; ln -s target run.jsonl
            notify-demo record -o run.jsonl -- ./misspelt; notify-demo record -o new.jsonl -- true
            notify-demo record -o run.jsonl -- sh -c 'cat run.jsonl; kitchen' 2>/dev/null
            ls -A; readlink run.jsonl; head -c 12 target
            """)
        XCTAssertEqual(
            outcome.output,
            "old\nserved 6 dishes, and the bell did not ring\nrun.jsonl\ntarget\ntarget\n{\"recording\"",
            "\(outcome.errors)")
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
        XCTAssertTrue(outcome.errors.hasSuffix("/recording.jsonl.\n"))
    }

    // MARK: Files of the program

    func testAProgramsFileWhoseNameBeginsLikeTheRecordingsIsNotTakenForARecording() throws {
        let outcome = try shell(
            """
            notify-demo record -o run.jsonl -- \
            sh -c 'kitchen; echo notes > run.jsonl.2026; echo more > "$\(Self.variable).2026"' 2>/dev/null
            cat run.jsonl.2026; cat run.jsonl.recording-*.rest/*.2026; grep -c more run.jsonl
            """)
        XCTAssertTrue(outcome.output.hasSuffix("\nnotes\nmore\n0\n"), "\(outcome.output)\(outcome.errors)")
    }

    func testAProcessThatBeginsToRecordAfterTheProgramHasEndedReportsAnErrorAndLeavesNoFile() throws {
        let outcome = try shell(
            """
            mkfifo go done; export TMPDIR=$PWD
            notify-demo record -o run.jsonl -- \
            sh -c '(read line < go; kitchen > out 2> errors; echo > done) & kitchen' > /dev/null 2>&1
            echo > go; read line < done; ls -A; cat errors
            """)
        XCTAssertTrue(
            outcome.output.hasPrefix("done\nerrors\ngo\nout\nrun.jsonl\n"), "\(outcome.output)\(outcome.errors)")
        XCTAssertTrue(outcome.output.contains("/recording.jsonl"), "\(outcome.output)")
        XCTAssertTrue(outcome.output.contains("No such file or directory"), "\(outcome.output)")
    }

    // MARK: The environment variable

    func testAFileThatIsNotARecordingIsRefusedOnceAndIsNotChanged() throws {
        let outcome = try shell("echo my text > a; preloaded a kitchen; cat a")
        XCTAssertTrue(outcome.output.hasSuffix("\nmy text\n"))
        XCTAssertEqual(
            outcome.errors.split(separator: "\n").count { $0.contains("it is not a recording, and not empty") }, 1,
            "\(outcome.errors)")
    }

    func testARecordingThatIsTruncatedWithinALineIsContinuedOnANewLine() throws {
        let outcome = try shell(
            """
            preloaded a kitchen > /dev/null; head -c -30 a > run.jsonl
            preloaded run.jsonl kitchen > /dev/null; cat run.jsonl
            """)
        let recording = try Recording(bytes: Array(outcome.output.utf8), name: "output")
        XCTAssertEqual(recording.processes.count, 2)
        let posts = recording.processes.indices.map { process in
            recording.entries.count { $0.stage == .post && recording.process(of: $0) == process }
        }
        XCTAssertEqual(posts, [12, 12])
        // The truncated line.
        XCTAssertEqual(recording.problemCount, 1)
    }
}
