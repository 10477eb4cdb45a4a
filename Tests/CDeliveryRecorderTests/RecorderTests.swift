import CDeliveryRecorder
import CRecorderInterface
import Foundation
import ThreadedNotifications
import XCTest

/// The recorder that is linked into a program.
final class RecorderTests: XCTestCase {
    private let recorder = delivery_recorder().pointee
    private let fields = RecordFields()
    private var directory = URL(filePath: "/")
    private var path: String { directory.appending(component: "run.jsonl").path }

    override func setUpWithError() throws {
        directory = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    override func tearDown() {
        _ = stop()
        try? FileManager.default.removeItem(at: directory)
    }

    /// Starts recording. Returns the problem, or nil.
    private func start(_ path: String) -> String? { problem { recorder.start(path, $0, $1) } }

    private func stop() -> String? { problem { recorder.stop($0, $1) } }

    private func problem(_ call: (UnsafeMutablePointer<CChar>, Int) -> Bool) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { memory in
            guard let start = memory.baseAddress, !call(start, memory.count) else { return nil }
            return String(cString: start)
        }
    }

    private func append(_ stage: String, thread: UInt64 = 1) {
        var record = fields.record(stage, thread: thread)
        recorder.append(&record)
    }

    /// The file's lines, each without the clock and the number of a process.
    private func lines() throws -> [String] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            .map { String($0).replacing(/"(t|wall|process|kernelID)":\d+,?/, with: "") }
    }

    func testARecordFollowsTheHeaderAndItsThreadAndTheEndIsLast() throws {
        XCTAssertNil(start(path))
        append("one")
        append("two")
        append("three", thread: 70)
        XCTAssertNil(stop())
        let lines = try lines()
        XCTAssertTrue(lines.first?.hasPrefix("{\"recording\":2,\"name\":") == true, "\(lines)")
        XCTAssertEqual(
            Array(lines.dropFirst()),
            [
                "{\"thread\":1,\"name\":\"thread 1\",}", "{\"n\":1,\"thread\":1,\"stage\":\"one\"}",
                "{\"n\":2,\"thread\":1,\"stage\":\"two\"}", "{\"thread\":70,\"name\":\"thread 70\",}",
                "{\"n\":3,\"thread\":70,\"stage\":\"three\"}", "{\"n\":4,\"stage\":\"end\",\"reason\":\"stopped\"}",
            ])
    }

    func testAThreadThatIsForgottenIsIdentifiedAgain() throws {
        XCTAssertNil(start(path))
        append("one")
        recorder.forget_thread(1)
        append("two")
        XCTAssertNil(stop())
        XCTAssertEqual(try lines().count { $0.hasPrefix("{\"thread\":1,") }, 2)
    }

    func testFlushedRecordsAreInTheFile() throws {
        XCTAssertNil(start(path))
        append("one")
        recorder.flush()
        XCTAssertEqual(try lines().last, "{\"n\":1,\"thread\":1,\"stage\":\"one\"}")
    }

    func testAFileThatIsNoRegularFileIsRefusedWithoutWaiting() {
        let pipe = directory.appending(component: "pipe").path
        XCTAssertEqual(mkfifo(pipe, 0o600), 0)
        for path in [pipe, "/dev/null"] { XCTAssertEqual(start(path), "it is no regular file") }
        XCTAssertEqual(start(directory.path), "Is a directory")
        XCTAssertEqual(start(directory.path + "/absent/run.jsonl"), "No such file or directory")
    }

    func testAStartedRecordingReplacesTheFileAndOnlyItsOwnerCanReadANewOne() throws {
        XCTAssertNil(start(path))
        XCTAssertNil(stop())
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        XCTAssertEqual(mode, 0o600)
        try String(repeating: "content of another program\n", count: 100)
            .write(toFile: path, atomically: false, encoding: .utf8)
        XCTAssertNil(start(path))
        XCTAssertNil(stop())
        XCTAssertEqual(try lines().count, 2)
    }

    func testAFileThatIsLockedIsRefused() {
        let descriptor = open(path, O_RDWR | O_CREAT, 0o600)
        defer { close(descriptor) }
        XCTAssertEqual(flock(descriptor, LOCK_EX), 0)
        XCTAssertEqual(start(path), "another process records to it")
    }

    func testAProcessRecordsOnce() {
        XCTAssertNil(start(path))
        XCTAssertEqual(start(path + "2"), "this process records to \(path), and records once")
    }

    func testRecordsThatExceedTheLimitOfFileSizesAreCountedAndTheFileHasCompleteLines() throws {
        XCTAssertNil(start(path))
        let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        var before = rlimit()
        getrlimit(resource, &before)
        var limit = rlimit(rlim_cur: 4096, rlim_max: before.rlim_max)
        setrlimit(resource, &limit)
        for _ in 1...200 { append("one") }
        recorder.flush()
        setrlimit(resource, &before)
        append("last")
        let problem = try XCTUnwrap(stop())
        let text = try String(contentsOfFile: path, encoding: .utf8)
        for line in text.split(separator: "\n") {
            XCTAssertNoThrow(try JSONSerialization.jsonObject(with: Data(line.utf8)), String(line))
        }
        let lost = 200 - text.matches(of: /"stage":"one"/).count
        XCTAssertGreaterThan(lost, 100)
        XCTAssertEqual(problem, "\(lost) records could not be written (File too large)")
        XCTAssertTrue(text.contains("\"stage\":\"lost\",\"count\":\(lost)}"), text)
        XCTAssertTrue(text.contains("\"stage\":\"last\""))
    }

    func testAnotherFileThatGetsTheDescriptorIsNotChangedAndTheRecordingContinues() throws {
        let other = directory.appending(component: "other").path
        try "content of another program\n".write(toFile: other, atomically: true, encoding: .utf8)
        XCTAssertNil(start(path))
        append("one")
        recorder.flush()
        let descriptor = try XCTUnwrap(
            (0..<1024).first {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
            })
        // Programs expect that new descriptors are small.
        XCTAssertGreaterThanOrEqual(descriptor, 100)
        let opened = open(other, O_RDWR)
        XCTAssertEqual(dup2(opened, Int32(descriptor)), Int32(descriptor))
        defer {
            close(opened)
            close(Int32(descriptor))
        }
        append("two")
        XCTAssertNil(stop())
        XCTAssertEqual(try String(contentsOfFile: other, encoding: .utf8), "content of another program\n")
        XCTAssertEqual(try lines().suffix(2).first, "{\"n\":2,\"thread\":1,\"stage\":\"two\"}")
        XCTAssertNotEqual(fcntl(Int32(descriptor), F_GETFD), -1)
    }

    func testThreadsRecordWhileARecordingBeginsAndEndsAndEachRecordingIsComplete() throws {
        let isOver = Locked(false)
        let ended = DispatchGroup()
        for thread in UInt64(2)...5 {
            DispatchQueue.global().async(group: ended) {
                let fields = RecordFields()
                var record = fields.record("one", name: "name", thread: thread)
                while !isOver.withLock({ $0 }) { delivery_recorder().pointee.append(&record) }
                withExtendedLifetime(fields) {}
            }
        }
        for round in 1...20 {
            XCTAssertNil(start(path))
            if round.isMultiple(of: 2) { recorder.flush() }
            XCTAssertNil(stop())
            let lines = try lines()
            XCTAssertEqual(lines.count { $0.contains("\"stage\":\"end\"") }, 1)
            let numbers = lines.compactMap { $0.firstMatch(of: /^{"n":(\d+)/).flatMap { Int($0.1) } }
            XCTAssertEqual(numbers, Array(1...numbers.count))
        }
        isOver.withLock { $0 = true }
        ended.wait()
    }
}
