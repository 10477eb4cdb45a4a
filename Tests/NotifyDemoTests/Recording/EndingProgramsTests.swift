import ChildProcesses
import DeliveryRecording
import Dispatch
import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

/// A recorded program has the same end and output as alone, and its recording has every post that it made.
final class EndingProgramsTests: XCTestCase {
    /// The programs of `test-child ending`, and how each ends.
    private static let programs: [(name: String, end: ChildProcess.End)] = [
        ("returns", .exit(0)), ("exit", .exit(3)), ("underscoreExit", .exit(4)), ("quickExit", .exit(5)),
        ("abort", .signal(SIGABRT)), ("kill", .signal(SIGKILL)), ("trap", .signal(trap)),
        ("stackOverflow", .signal(SIGSEGV)), ("executes", .exit(0)), ("postsAtExit", .exit(0)),
        ("mainThreadExits", .exit(0)), ("joins", .exit(0)), ("exitsWhilePosting", .exit(0)),
        ("killsWhilePosting", .signal(SIGKILL)), ("forks", .exit(0)), ("forksAndKills", .exit(0)),
        ("forksWhilePosting", .exit(0)), ("forksInHandler", .exit(0)), ("spawns", .exit(0)),
        ("copiesContinue", .exit(0)), ("handlesTermination", .exit(7)), ("chainsHandlers", .signal(SIGTERM)),
        ("exitsInHandler", .exit(6)),
        ("ignoresBrokenPipe", .exit(0)), ("endsByBrokenPipe", .signal(SIGPIPE)), ("fileSizeLimit", .exit(0)),
        ("descriptorLimit", .exit(0)),
    ]

    #if arch(x86_64)
        private static let trap = SIGILL
    #else
        private static let trap = SIGTRAP
    #endif

    private struct Run {
        var result: ChildProgram.Result
        /// The posts that began, and those that returned.
        var counts: ClosedRange<Int>
        var recording: Recording?

        /// The standard error without the messages about the recording, and without addresses.
        var errors: [Substring] {
            result.errors.split(separator: "\n").filter { line in
                !["notify-demo: ", "Next: ", "ThreadedNotifications: "].contains { line.hasPrefix($0) }
            }.prefix { $0 != "Current stack trace:" }.map { $0 }
        }

        var recordedPosts: Int {
            recording?.entries.count { $0.stage == .post && recording?.name(of: $0) == "Counted" } ?? 0
        }
    }

    private static func run(_ program: String, isRecorded: Bool) throws -> Run {
        let directory = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let counts = directory.appending(component: "counts")
        let file = directory.appending(component: "run.jsonl").path
        let (child, record) = ("\(try Shell.directory())/test-child", "\(try Shell.directory())/notify-demo")
        try Data(count: 4096).write(to: counts)
        let result = try ChildProgram(
            path: isRecorded ? record : child,
            arguments: (isRecorded ? ["record", "-o", file, "--", child] : []) + ["ending", program],
            // Without PATH there is no symbolizer, which would take most of the time.
            environment: ["COUNTS": counts.path, "SWIFT_BACKTRACE": "enable=no", "PATH": "/nonexistent"]
        ).run(timeout: .seconds(60))
        let numbers = try Data(contentsOf: counts).withUnsafeBytes { bytes in
            [0, 64].map { bytes.loadUnaligned(fromByteOffset: $0, as: Int.self) }
        }
        return Run(
            result: result, counts: numbers[1]...max(numbers[0], numbers[1]),
            recording: isRecorded ? try? Recording(path: file) : nil)
    }

    func testARecordedProgramEndsAndPrintsAsItDoesAlone() throws {
        let runs = Locked<[Int: (alone: Run, recorded: Run)]>([:])
        DispatchQueue.concurrentPerform(iterations: Self.programs.count) { index in
            let name = Self.programs[index].name
            guard let alone = try? Self.run(name, isRecorded: false),
                let recorded = try? Self.run(name, isRecorded: true)
            else { return }
            runs.withLock { $0[index] = (alone, recorded) }
        }
        for (index, (name, end)) in Self.programs.enumerated() {
            let (alone, recorded) = try XCTUnwrap(runs.withLock { $0[index] }, name)
            XCTAssertEqual(alone.result.end, end, "\(name): \(alone.result.errors)")
            // `record` has the status of a shell.
            let status: ChildProcess.End = if case .signal(let signal) = end { .exit(128 + signal) } else { end }
            XCTAssertEqual(recorded.result.end, status, "\(name): \(recorded.result.errors)")
            if case .signal(let signal) = end {
                XCTAssertTrue(recorded.result.errors.contains("was terminated by signal \(signal)\n"), name)
            }
            XCTAssertEqual(recorded.result.output, alone.result.output, name)
            XCTAssertEqual(recorded.errors, alone.errors, name)
            let posts = recorded.recordedPosts
            // A copy may record the post that was interrupted, too.
            let copies = name == "copiesContinue" ? 50 : 0
            XCTAssertLessThanOrEqual(posts, recorded.counts.upperBound + copies, name)
            // A recording ends at exit; other threads may still post.
            if !["fileSizeLimit", "exitsWhilePosting"].contains(name) {
                XCTAssertGreaterThanOrEqual(posts, recorded.counts.lowerBound, name)
            }
            for completeness in recorded.recording?.completeness ?? [.truncated(.noEnd)] {
                switch completeness {
                case .complete: break
                case .endedWithoutNotice: XCTAssertTrue(name == "forksAndKills" || name == "copiesContinue", name)
                case .truncated(.lost): XCTAssertEqual(name, "fileSizeLimit")
                case .truncated: XCTFail("\(name): \(completeness)")
                }
            }
        }
    }
}
