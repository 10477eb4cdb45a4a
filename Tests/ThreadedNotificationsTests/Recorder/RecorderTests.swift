import CDeliveryRecorder
import CRecorderInterface
import Foundation
import SharedTesting
import Synchronization
import ThreadedNotifications
import XCTest

/// The recorder that is linked into a program.
final class RecorderTests: XCTestCase {
    private let recorder = delivery_recorder().pointee
    private let fields = RecordFields()
    private var directory = URL(filePath: "/")
    private var file = "run.jsonl"
    private var path: String { directory.appending(component: file).path }

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
        try content().split(separator: "\n")
            .map { String($0).replacing(/"(t|wall|process|kernelID)":\d+,?| +$/, with: "") }
    }

    /// The file without the room at its end that is not used yet.
    private func content() throws -> String {
        let bytes = try Data(contentsOf: URL(filePath: path))
        return String(decoding: bytes[..<(bytes.firstIndex(of: 0) ?? bytes.endIndex)], as: UTF8.self)
    }

    /// Checks that the records have the numbers from 1 on, and times that do not decrease, in the order of the file,
    /// that each line is whole, and that a thread is identified before its first record. Returns how many records have
    /// each stage.
    @discardableResult
    private func assertNumberedInOrder(file: StaticString = #filePath, line: UInt = #line) throws -> [String: Int] {
        var stages: [String: Int] = [:]
        var (number, time) = (0, 0)
        var known: Set<Int> = []
        for bytes in try Data(contentsOf: URL(filePath: path)).split(separator: UInt8(ascii: "\n"))
        where bytes.first != 0 {
            let fields = try XCTUnwrap(JSONSerialization.jsonObject(with: bytes) as? [String: Any])
            if fields["recording"] != nil { continue }
            guard let stage = fields["stage"] as? String else {
                known.insert(fields["thread"] as? Int ?? 0)
                continue
            }
            if stage == "lost" { continue }
            stages[stage, default: 0] += 1
            number += 1
            XCTAssertEqual(fields["n"] as? Int, number, file: file, line: line)
            XCTAssertGreaterThanOrEqual(fields["t"] as? Int ?? 0, time, file: file, line: line)
            time = fields["t"] as? Int ?? 0
            if let thread = fields["thread"] as? Int { XCTAssertTrue(known.contains(thread), file: file, line: line) }
        }
        return stages
    }

    func testARecordIsInTheFileWhenItIsAppendedBehindTheHeaderAndItsThreadAndTheEndIsLast() throws {
        XCTAssertNil(start(path))
        append("one")
        append("two")
        // It is in the file as soon as it is appended.
        XCTAssertEqual(try lines().last, "{\"n\":2,\"thread\":1,\"stage\":\"two\"}")
        recorder.forget_thread(1)
        append("three")
        append("four", thread: 70)
        XCTAssertNil(stop())
        XCTAssertEqual(try Data(contentsOf: URL(filePath: path)).last, UInt8(ascii: "\n"))
        let lines = try lines()
        XCTAssertTrue(lines.first?.hasPrefix("{\"recording\":3,\"name\":") == true, "\(lines)")
        XCTAssertEqual(
            Array(lines.dropFirst()),
            [
                "{\"thread\":1,\"name\":\"thread 1\",}", "{\"n\":1,\"thread\":1,\"stage\":\"one\"}",
                "{\"n\":2,\"thread\":1,\"stage\":\"two\"}", "{\"thread\":1,\"name\":\"thread 1\",}",
                "{\"n\":3,\"thread\":1,\"stage\":\"three\"}", "{\"thread\":70,\"name\":\"thread 70\",}",
                "{\"n\":4,\"thread\":70,\"stage\":\"four\"}", "{\"n\":5,\"stage\":\"end\",\"reason\":\"stopped\"}",
            ])
    }

    func testAJSONReaderReadsEveryNumberAndStringOfWhichALongOneIsTruncatedBetweenCharacters() throws {
        var random = SeededGenerator(seed: 1)
        var strings = (UInt8(0)..<0x80).map { "x\(UnicodeScalar($0))漢" }
        var expected = strings
        for (before, character) in [(0, "\u{1}"), (1, "ж"), (2, "漢"), (3, "🍰")] {
            let start = String(repeating: "a", count: before)
            strings += [4096, 10_000].map { start + String(repeating: character, count: $0) }
            let kept = start + String(repeating: character, count: (4096 - before) / character.utf8.count)
            expected += [before == 0 ? kept : kept + "…", kept + "…"]
        }
        let numbers = strings.indices.map { $0 == 0 ? .max : random.next() >> UInt64($0 % 64) }
        XCTAssertNil(start(path))
        for (string, number) in zip(strings, numbers) {
            var record = fields.record("one", name: string)
            (record.count, record.has_count) = (number, true)
            (record.message, record.file, record.type) = (record.name, record.name, record.name)
            recorder.append(&record)
        }
        XCTAssertNil(stop())
        let lines = try Data(contentsOf: URL(filePath: path)).split(separator: UInt8(ascii: "\n"))
            .filter { $0.range(of: Data("\"stage\":\"one\"".utf8)) != nil }
        XCTAssertFalse(lines.joined().contains { $0 < 0x20 || $0 == 0x7F })
        for (line, (string, number)) in zip(lines, zip(expected, numbers)) {
            let read = try XCTUnwrap(JSONSerialization.jsonObject(with: line) as? [String: Any])
            XCTAssertEqual(read["name"] as? String, string)
            XCTAssertEqual(read["type"] as? String, string)
            XCTAssertEqual((read["count"] as? NSNumber)?.uint64Value, number)
        }
        XCTAssertEqual(lines.count, expected.count)
    }

    func testRecordsOfSeveralThreadsAreWholeNumberedInOrderAndTheirTimesDoNotDecreaseInAFileOfSeveralPieces() throws {
        XCTAssertNil(start(path))
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            let fields = RecordFields()
            var record = fields.record("one", name: String(repeating: "x", count: 500), thread: UInt64(thread) + 2)
            for _ in 1...1000 { delivery_recorder().pointee.append(&record) }
            withExtendedLifetime(fields) {}
        }
        XCTAssertNil(stop())
        XCTAssertEqual(try assertNumberedInOrder(), ["one": 4000, "end": 1])
    }

    func testASignalHandlerMayAppendWhileItsThreadAppends() throws {
        XCTAssertNil(start(path))
        handledRecords.store(0, ordering: .relaxed)
        signal(SIGALRM) { _ in appendInHandler() }
        setTimer(microseconds: 500)
        defer { signal(SIGALRM, SIG_IGN) }
        var record = fields.record("one", name: String(repeating: "x", count: 500))
        var count = 0
        // Ends when the handler has appended often enough.
        while handledRecords.load(ordering: .acquiring) < 20 {
            for _ in 1...100 { recorder.append(&record) }
            count += 100
        }
        setTimer(microseconds: 0)
        XCTAssertNil(stop())
        let stages = try assertNumberedInOrder()
        XCTAssertEqual(stages["one"], count)
        XCTAssertGreaterThanOrEqual(stages["signal"] ?? 0, 20)
    }

    private func setTimer(microseconds: Int) {
        let interval = timeval(tv_sec: 0, tv_usec: microseconds)
        var timer = itimerval(it_interval: interval, it_value: interval)
        setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil)
    }

    func testAFileThatIsLockedOrNoRegularFileAndASecondRecordingAreRefusedWithoutWaiting() {
        let (pipe, locked) = (path + "pipe", path + "locked")
        XCTAssertEqual(mkfifo(pipe, 0o600), 0)
        let descriptor = open(locked, O_RDWR | O_CREAT, 0o600)
        defer { close(descriptor) }
        XCTAssertEqual(flock(descriptor, LOCK_EX), 0)
        for (path, problem) in [
            (pipe, "it is no regular file"), ("/dev/null", "it is no regular file"),
            (directory.path, "Is a directory"), ("/nonexistent/run.jsonl", "No such file or directory"),
            (locked, "another process records to it"), (path, nil),
            (path + "2", "this process records to \(path), and records once"),
        ] as [(String, String?)] { XCTAssertEqual(start(path), problem) }
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

    /// Limits the size of the files that this process writes.
    /// - Returns: restores the limit.
    private func limitFiles(to bytes: UInt) -> () -> Void {
        let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        var before = rlimit()
        getrlimit(resource, &before)
        var limit = rlimit(rlim_cur: rlim_t(bytes), rlim_max: before.rlim_max)
        setrlimit(resource, &limit)
        return { setrlimit(resource, &before) }
    }

    func testRecordsThatExceedTheLimitOfFileSizesAreCountedInTheFileAlsoIfTheProcessIsKilledThen() throws {
        let restore = limitFiles(to: 8192)
        XCTAssertNil(start(path))
        for _ in 1...400 { append("one") }
        let lost = 400 - (try content().matches(of: /"stage":"one"/).count)
        XCTAssertGreaterThan(lost, 100)
        XCTAssertTrue(try content().contains("\"stage\":\"lost\",\"count\":\(lost)}"))
        // The end is lost, too.
        XCTAssertEqual(stop(), "\(lost + 1) records could not be written (File too large)")
        restore()
        XCTAssertEqual(try assertNumberedInOrder(), ["one": 400 - lost])
        XCTAssertTrue(try content().hasSuffix("}\n"))
    }

    func testAFileWithoutRoomForTheFirstLineIsRefusedAndStaysEmpty() throws {
        let restore = limitFiles(to: 64)
        let problem = start(path)
        restore()
        XCTAssertEqual(problem, "File too large")
        XCTAssertEqual(try Data(contentsOf: URL(filePath: path)), Data())
    }

    func testAnotherFileThatGetsTheDescriptorIsNotChangedAndTheRecordingContinues() throws {
        let other = directory.appending(component: "other").path
        try "content of another program\n".write(toFile: other, atomically: true, encoding: .utf8)
        XCTAssertNil(start(path))
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
        // More than a piece of the file.
        var record = fields.record("one", name: String(repeating: "x", count: 4000))
        for _ in 1...200 { recorder.append(&record) }
        // The file that was reopened is locked as well.
        let another = open(path, O_RDWR)
        XCTAssertEqual(flock(another, LOCK_EX | LOCK_NB), -1)
        close(another)
        XCTAssertNil(stop())
        XCTAssertEqual(try String(contentsOfFile: other, encoding: .utf8), "content of another program\n")
        XCTAssertEqual(try assertNumberedInOrder(), ["one": 200, "end": 1])
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
        for number in 1...20 {
            // A process that another test starts may still have the descriptor of the last one, with its lock.
            file = "\(number).jsonl"
            XCTAssertNil(start(path))
            XCTAssertNil(stop())
            XCTAssertEqual(try assertNumberedInOrder()["end"], 1)
            XCTAssertTrue(try content().hasSuffix("\"stage\":\"end\",\"reason\":\"stopped\"}\n"))
        }
        isOver.withLock { $0 = true }
        ended.wait()
    }
}

private let handledRecords = Atomic(0)

private func appendInHandler() {
    var record = recorder_record()
    let stage: StaticString = "signal"
    record.stage = recorder_text(
        start: UnsafeRawPointer(stage.utf8Start).assumingMemoryBound(to: CChar.self), length: stage.utf8CodeUnitCount)
    record.thread.number = 1
    delivery_recorder().pointee.append(&record)
    handledRecords.add(1, ordering: .acquiringAndReleasing)
}
