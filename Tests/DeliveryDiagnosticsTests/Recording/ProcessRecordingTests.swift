import Foundation
import PostingQueues
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryRecording

/// A program's recording of itself.
final class ProcessRecordingTests: XCTestCase {
    private var path = ""

    override func setUp() {
        path = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString).path
    }

    override func tearDown() {
        try? ProcessRecording.stop()
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Runs `body` and returns the recording and the events that a tracer received.
    private func record(_ body: () throws -> Void) throws -> (recording: Recording, traced: [DeliveryEvent]) {
        let traced = Locked<[DeliveryEvent]>([])
        DeliveryEvent.tracer = { event in traced.withLock { $0.append(event) } }
        defer { DeliveryEvent.tracer = nil }
        try ProcessRecording.start(to: path)
        try body()
        try ProcessRecording.stop()
        return (try Recording(path: path), traced.withLock { $0 })
    }

    func testARecordOfADropNamesThePolicy() throws {
        let worker = RunLoopThread(name: "worker")
        let center = ThreadedNotificationCenter()
        let name = Notification.Name("dropped")
        let policies: [OverflowPolicy] = [
            .dropOldest(capacity: 2), .dropNewest(capacity: 2), .refuse(capacity: 2),
        ]
        let recording = try record {
            try worker.start()
            let isOver = DispatchSemaphore(value: 0)
            try worker.perform { isOver.wait() }
            let tokens = policies.map { policy in
                center.addObserver(forName: name, on: worker, options: ObserverOptions(overflow: policy)) { _ in }
            }
            for _ in 1...3 { center.post(name: name) }
            isOver.signal()
            worker.stop()
            try worker.waitUntilFinished(timeout: TestTimeout.hang)
            for token in tokens { token.cancel() }
        }.recording
        let named = recording.entries.filter { $0.stage == .drop }.compactMap(recording.details(of:))
        XCTAssertEqual(named.sorted(), ["dropNewest(2)", "dropOldest(2)", "refuse(2)"])
    }

    func testTheFileSaysWhatRemovedAnObserverAndWhichThreadIsWaitedFor() throws {
        let worker = RunLoopThread(name: "worker")
        let center = ThreadedNotificationCenter()
        let recording = try record {
            try worker.start()
            _ = center.addObserver(forName: Notification.Name("released"), on: worker) { _ in }
            center.addObserver(forName: Notification.Name("cancelled"), on: worker) { _ in }.cancel()
            try worker.performAndWait(timeout: TestTimeout.hang, file: "file", line: 7) {}
            worker.stop()
            try worker.waitUntilFinished(timeout: TestTimeout.hang, file: "file", line: 8)
        }.recording
        let removals = recording.records.filter { $0.stage == .remove }
        XCTAssertEqual(removals.map(\.reason), [.released, .cancelled])
        let waits = recording.records.filter { $0.stage == .wait }
        XCTAssertEqual(waits.map(\.target), [worker.identity, worker.identity])
        XCTAssertEqual(waits.map(\.location), [SourceLocation("file", 7), SourceLocation("file", 8)])
        XCTAssertEqual(waits.last?.message, worker.identity.map { "\($0) to end" })
    }

    func testTheFileHasAllTracedEventsInOrder() throws {
        let worker = RunLoopThread(name: "worker \"1\"\n")
        let center = ThreadedNotificationCenter()
        let name = Notification.Name("a \"quoted\"\nname ж")
        let (recording, traced) = try record {
            try worker.start()
            let token = center.addObserver(forName: name, object: "sender", on: worker) { _ in }
            center.post(name: name, object: "sender")
            PostingQueue(center: center).enqueue(Notification(name: name), postingStyle: .now)
            worker.stop()
            try worker.waitUntilFinished(timeout: TestTimeout.hang)
            token.cancel()
        }
        XCTAssertEqual(recording.problems, [])
        let records = recording.records.filter { $0.stage != .end }
        XCTAssertEqual(Set(traced.map(\.stage.rawValue)).count, 12)
        // Each thread's stages are traced in their order.
        for thread in Set(traced.map(\.thread)) {
            let told = traced.filter { $0.thread == thread }
            let recorded = records.filter { $0.thread == thread }
            XCTAssertEqual(recorded.map(\.stage.rawValue), told.map(\.stage.rawValue), "\(thread)")
            XCTAssertEqual(recorded.map(\.name), told.map { $0.name?.rawValue })
            XCTAssertEqual(recorded.map { UInt64($0.post ?? 0) }, told.map(\.post))
            XCTAssertEqual(recorded.map { UInt64($0.observer ?? 0) }, told.map(\.observer))
            XCTAssertEqual(recorded.map(\.target), told.map(\.target))
            XCTAssertEqual(recorded.map(\.location), told.map(\.location))
            XCTAssertEqual(recorded.map(\.count), told.map { $0.count ?? $0.policy?.capacity })
            XCTAssertEqual(recorded.map(\.sender?.identifier), told.map(\.sender?.identifier))
            XCTAssertEqual(recorded.map(\.sender?.type), told.map(\.sender?.type))
            XCTAssertEqual(recorded.map(\.message), told.map(\.message))
            XCTAssertEqual(recorded.map(\.style?.rawValue), told.map(\.postingStyle?.name))
        }
    }

    func testWhatFollowsComesLaterInTheFileAndTheClockDoesNotRunBackwards() throws {
        let name = Notification.Name("n")
        let center = ThreadedNotificationCenter()
        let threads = (1...3).map { RunLoopThread(name: "target \($0)") }
        let (recording, _) = try record {
            for thread in threads { try thread.start() }
            let tokens = threads.map { center.addObserver(forName: name, on: $0) { _ in } }
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                for _ in 1...500 { center.post(name: name) }
            }
            for thread in threads {
                thread.stop()
                try thread.waitUntilFinished(timeout: TestTimeout.hang)
            }
            for token in tokens { token.cancel() }
        }
        XCTAssertEqual(recording.problems, [])
        struct Pair: Hashable {
            var post: Int32
            var observer: Int32
        }
        var (posted, appended, delivered): (Set<Int32>, Set<Pair>, Set<Pair>) = ([], [], [])
        for entry in recording.entries {
            let pair = Pair(post: entry.post, observer: entry.observer)
            switch entry.stage {
            case .post: posted.insert(entry.post)
            case .append:
                XCTAssertTrue(posted.contains(entry.post))
                appended.insert(pair)
            case .deliver:
                XCTAssertTrue(appended.contains(pair))
                delivered.insert(pair)
            case .return: XCTAssertTrue(delivered.contains(pair))
            default: break
            }
        }
        XCTAssertEqual(delivered.count, 6000)
        XCTAssertEqual(recording.entries.map(\.time), recording.entries.map(\.time).sorted())
        XCTAssertEqual(recording.entries.count { $0.stage == .threadEnd && $0.thread > 0 } >= 3, true)
    }

    func testIfTheMemoryIsFullTheRecordingThreadWritesAndNothingIsLost() throws {
        let center = ThreadedNotificationCenter()
        let name = Notification.Name(String(repeating: "long ", count: 100))
        let (recording, _) = try record {
            // Three times the recorder's memory of 8 MiB.
            for _ in 1...40_000 { center.post(name: name) }
        }
        XCTAssertEqual(recording.problems, [])
        XCTAssertEqual(recording.entries.count { $0.stage == .post }, 40_000)
        XCTAssertFalse(recording.entries.contains { $0.stage == .lost })
    }

    func testALongStringIsTruncatedBetweenCharactersAndTheLineIsStillRead() throws {
        let center = ThreadedNotificationCenter()
        let (recording, _) = try record {
            center.post(name: Notification.Name("a" + String(repeating: "漢", count: 5000)))
        }
        XCTAssertEqual(recording.problems, [])
        let name = try XCTUnwrap(recording.records.first { $0.stage == .post }?.name)
        XCTAssertEqual(name, "a" + String(repeating: "漢", count: 1365) + "…")
    }

    func testAPostSaysWhereWhoseAndHowManyMatchAndASkippedObserverIsNamed() throws {
        let center = ThreadedNotificationCenter()
        let name = Notification.Name("n")
        let line = #line + 2
        let (recording, _) = try record {
            let one = center.addObserver(forName: name, object: "a", on: .postingThread) { _ in }
            let other = center.addObserver(
                forName: name, on: .postingThread, transform: { $0.object as? Int }, using: { _ in })
            center.post(name: name, object: "a")
            for token in [one, other] { token.cancel() }
        }
        let records = recording.records
        let register = try XCTUnwrap(records.first { $0.stage == .register })
        XCTAssertEqual(register.location, SourceLocation(#fileID, line))
        XCTAssertEqual(register.sender?.type, "String")
        let post = try XCTUnwrap(records.first { $0.stage == .post })
        XCTAssertEqual(post.location, SourceLocation(#fileID, line + 3))
        XCTAssertEqual(post.count, 2)
        XCTAssertEqual(post.sender, register.sender)
        XCTAssertEqual(
            records.filter { $0.post == post.post }.map(\.stage), [.post, .skip, .deliver, .return])
    }

    func testAQueuesPostAndWhatACenterCapturesOfItAreRelated() throws {
        let foundation = NotificationCenter()
        let center = ThreadedNotificationCenter(capturing: foundation)
        let name = Notification.Name("n")
        let (recording, _) = try record {
            let token = center.addObserver(forName: name, on: .postingThread) { _ in }
            PostingQueue(center: foundation).enqueue(Notification(name: name), postingStyle: .now)
            foundation.post(name: name, object: nil)
            token.cancel()
        }
        let records = recording.records
        let post = try XCTUnwrap(records.first { $0.stage == .post })
        XCTAssertEqual(records.filter { $0.stage == .capture }.map(\.relatedPost), [post.post, nil])
        XCTAssertEqual(records.filter { $0.stage == .capture }.map(\.count), [1, 1])
    }

    func testWhatIsCoalescedNamesWhatStandsForIt() throws {
        let center = ThreadedNotificationCenter()
        let name = Notification.Name("n")
        let (recording, _) = try record {
            let queue = PostingQueue(center: center)
            queue.enqueue(Notification(name: name), postingStyle: .whenIdle)
            queue.enqueue(Notification(name: name), postingStyle: .whenIdle)
            queue.dequeueNotifications(matching: Notification(name: name))
            let token = center.addObserver(
                forName: name, on: .main, options: .init(sameThread: .later, overflow: .keepLatest)
            ) { _ in }
            center.post(name: name)
            center.post(name: name)
            token.cancel()
        }
        let coalesced = recording.records.filter { $0.stage == .coalesce }
        XCTAssertEqual(coalesced.count, 2)
        for record in coalesced { XCTAssertEqual(record.relatedPost, record.post.map { $0 + 1 }) }
    }

    func testWaitsAreRecordedFromTheirBeginningToTheirEndAndARefusedOneNamesTheCycle() throws {
        let (one, other) = (RunLoopThread(name: "one"), RunLoopThread(name: "other"))
        let (recording, _) = try record {
            try one.start()
            try other.start()
            try? one.performAndWait(timeout: TestTimeout.hang) {
                try other.performAndWait(timeout: TestTimeout.hang) {
                    try one.performAndWait(timeout: TestTimeout.hang) {}
                }
            }
            for thread in [one, other] {
                thread.stop()
                try thread.waitUntilFinished(timeout: TestTimeout.hang)
            }
        }
        let records = recording.records
        XCTAssertEqual(records.count { $0.stage == .wait }, records.count { $0.stage == .waitEnd })
        XCTAssertGreaterThanOrEqual(records.count { $0.stage == .wait }, 4)
        let refused = try XCTUnwrap(records.first { $0.stage == .refuseWait })
        XCTAssertEqual(refused.thread.name, "other")
        XCTAssertTrue(refused.message?.contains("name = one") == true, refused.message ?? "")
    }

    func testARemovalSaysHowManyOfTheHandlersRun() throws {
        let center = ThreadedNotificationCenter()
        let name = Notification.Name("n")
        let (recording, _) = try record {
            let token = Locked<ObserverToken?>(nil)
            let one = center.addObserver(forName: name, on: .postingThread) { _ in
                token.withLock { $0 }?.cancel()
            }
            token.withLock { $0 = one }
            center.post(name: name)
            center.addObserver(forName: name, on: .postingThread) { _ in }.cancel()
        }
        XCTAssertEqual(recording.records.filter { $0.stage == .remove }.map(\.count), [1, 0])
    }

    func testNothingIsRecordedBeforeTheStartOrAfterTheStopAndASecondRecordingIsOfItsOwn() throws {
        let center = ThreadedNotificationCenter()
        center.post(name: Notification.Name("before"))
        try ProcessRecording.start(to: path)
        center.post(name: Notification.Name("one"))
        try ProcessRecording.stop()
        center.post(name: Notification.Name("between"))
        XCTAssertEqual(try Recording(path: path).records.map(\.name), ["one", nil])
        XCTAssertNil(ProcessRecording.path)
        try ProcessRecording.start(to: path)
        XCTAssertEqual(ProcessRecording.path, path)
        center.post(name: Notification.Name("two"))
        XCTAssertEqual(try Recording(path: path).records.map(\.name), ["two"])
        try ProcessRecording.stop()
        try ProcessRecording.stop()
        XCTAssertEqual(try Recording(path: path).records.map(\.stage), [.post, .end])
    }

    func testARecordingThatStopsWhileThreadsRecordIsWholeAndEnds() throws {
        let isOver = Locked(false)
        let center = ThreadedNotificationCenter()
        let ended = DispatchGroup()
        for _ in 1...4 {
            DispatchQueue.global().async(group: ended) {
                while !isOver.withLock({ $0 }) { center.post(name: Notification.Name("n")) }
            }
        }
        for _ in 1...50 {
            try ProcessRecording.start(to: path)
            try ProcessRecording.stop()
            let recording = try Recording(path: path)
            XCTAssertEqual(recording.problems, [])
            XCTAssertEqual(recording.entries.count { $0.stage == .end }, 1)
            XCTAssertEqual(recording.entries.last?.stage, .end)
        }
        isOver.withLock { $0 = true }
        ended.wait()
    }

    func testAFileThatCannotBeWrittenIsRefusedWithItsReason() throws {
        for (wrong, reason) in [
            ("/nonexistent/run.jsonl", "No such file"), ("/tmp", "directory"), ("/dev/full", "no regular file"),
            ("", "No such"),
        ] {
            XCTAssertThrowsError(try ProcessRecording.start(to: wrong)) { error in
                XCTAssertTrue("\(error)".contains(reason), "\(error)")
            }
            XCTAssertNil(ProcessRecording.path)
        }
        try ProcessRecording.start(to: path)
        XCTAssertThrowsError(try ProcessRecording.start(to: path)) { error in
            XCTAssertTrue("\(error)".contains("records once"), "\(error)")
        }
    }

    func testAnIdleTargetIsKnownByItsName() throws {
        let center = ThreadedNotificationCenter()
        let worker = RunLoopThread(name: "idle worker")
        try worker.start()
        let (recording, _) = try record {
            let token = center.addObserver(forName: Notification.Name("n"), on: worker) { _ in }
            center.post(name: Notification.Name("n"))
            token.cancel()
        }
        worker.stop()
        try worker.waitUntilFinished(timeout: TestTimeout.hang)
        XCTAssertEqual(recording.records.first { $0.stage == .append }?.target?.name, "idle worker")
    }

    func testAThreadThatIsNamedLaterIsKnownByItsName() throws {
        let center = ThreadedNotificationCenter()
        let (recording, _) = try record {
            let ended = DispatchSemaphore(value: 0)
            Thread {
                center.post(name: Notification.Name("unnamed"))
                ThreadIdentity.nameCurrentThread("late")
                center.post(name: Notification.Name("named"))
                ended.signal()
            }.start()
            ended.wait()
        }
        XCTAssertEqual(recording.records.filter { $0.stage == .post }.map(\.thread.name), ["late", "late"])
    }
}
