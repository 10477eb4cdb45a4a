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

    func testTheFileHasAllTracedEventsInOrderWithAllThatTheyTell() throws {
        let (worker, other) = (RunLoopThread(name: "worker \"1\"\n"), RunLoopThread(name: "other"))
        let foundation = NotificationCenter()
        let center = ThreadedNotificationCenter(capturing: foundation)
        let name = Notification.Name("a \"quoted\"\nname ж")
        let (recording, traced) = try record {
            try worker.start()
            try other.start()
            // Dropped, because the worker is busy; coalesced on this thread; skipped by a transform.
            let isOver = DispatchSemaphore(value: 0)
            try worker.perform { isOver.wait() }
            let bounded = ObserverOptions(overflow: .dropOldest(capacity: 2))
            let latest = ObserverOptions(sameThread: .later, overflow: .keepLatest)
            let tokens = [
                center.addObserver(forName: name, object: "sender", on: worker, options: bounded) { _ in },
                center.addObserver(forName: name, on: .main, options: latest) { _ in },
                center.addObserver(forName: name, on: .postingThread, transform: { $0.object as? Int }) { _ in },
            ]
            for _ in 1...3 { center.post(name: name, object: "sender") }
            isOver.signal()
            let queue = PostingQueue(center: foundation)
            queue.enqueue(Notification(name: name), postingStyle: .now)
            for _ in 1...2 { queue.enqueue(Notification(name: name), postingStyle: .whenIdle) }
            queue.dequeueNotifications(matching: Notification(name: name))
            // The last wait would close a cycle.
            try? worker.performAndWait(timeout: TestTimeout.hang) {
                try other.performAndWait(timeout: TestTimeout.hang) {
                    try worker.performAndWait(timeout: TestTimeout.hang) {}
                }
            }
            _ = center.addObserver(forName: Notification.Name("released"), on: worker) { _ in }
            for thread in [worker, other] {
                thread.stop()
                try thread.waitUntilFinished(timeout: TestTimeout.hang)
            }
            for token in tokens { token.cancel() }
        }
        XCTAssertEqual(recording.problems, [])
        let records = recording.records.filter { $0.stage != .end }
        let missing = Set(DeliveryEvent.Stage.allCases).subtracting(traced.map(\.stage))
        XCTAssertTrue(missing.isSubset(of: [.cancel, .targetGone]), "\(missing)")
        // Each thread's stages are traced in their order.
        for thread in Set(traced.map(\.thread)) {
            let told = traced.filter { $0.thread == thread }
            let recorded = records.filter { $0.thread == thread }
            XCTAssertEqual(recorded.map(\.stage.rawValue), told.map(\.stage.rawValue), "\(thread)")
            XCTAssertEqual(recorded.map(\.name), told.map { $0.name?.rawValue })
            XCTAssertEqual(recorded.map { UInt64($0.post ?? 0) }, told.map(\.post))
            XCTAssertEqual(recorded.map { UInt64($0.observer ?? 0) }, told.map(\.observer))
            XCTAssertEqual(recorded.map { UInt64($0.relatedPost ?? 0) }, told.map(\.relatedPost))
            XCTAssertEqual(recorded.map(\.target), told.map(\.target))
            XCTAssertEqual(recorded.map(\.location), told.map(\.location))
            XCTAssertEqual(recorded.map(\.count), told.map { $0.count ?? $0.policy?.capacity })
            XCTAssertEqual(recorded.map(\.sender), told.map(\.sender))
            XCTAssertEqual(recorded.map(\.message), told.map(\.message))
            XCTAssertEqual(recorded.map(\.overtakes), told.map(\.overtakes))
            XCTAssertEqual(recorded.map(\.style?.rawValue), told.map(\.postingStyle?.name))
            XCTAssertEqual(recorded.map(\.policy?.rawValue), told.map(\.policy?.kind))
            XCTAssertEqual(
                recorded.map(\.reason), told.map { $0.reason.flatMap { .init(name: $0.rawValue, signal: 0) } })
        }
        let dropped = recording.entries.filter { $0.stage == .drop }.compactMap(recording.details(of:))
        XCTAssertEqual(dropped, ["dropOldest(2)"])
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
