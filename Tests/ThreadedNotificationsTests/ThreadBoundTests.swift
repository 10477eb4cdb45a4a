import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("bound")

/// Values that live on one thread.
final class ThreadBoundTests: XCTestCase {
    private let timeout = TestTimeout.hang

    func testAValueIsCreatedUsedAndReleasedOnItsThreadAlthoughItIsNotSendable() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let log = Locked<[String]>([])
        do {
            let parser = try ThreadBound(on: worker) { Parser("parser", log) }
            let token = center.addObserver(
                forName: posted, on: parser, transform: { $0.object as? Int }, using: { parser.value.feed($0) })
            for number in 1...3 { center.post(name: posted, object: number) }
            try parser.perform { parser.value.feed(4) }
            let sum = try parser.performAndWait(timeout: timeout) {
                parser.value.sum += 90
                return parser.value.sum
            }
            XCTAssertEqual(sum, 100)
            token.cancel()
        }
        try worker.performAndWait(timeout: timeout) { log.withLock { $0.append("later") } }
        XCTAssertEqual(log.withLock { $0 }, ["create parser on worker", "release parser on worker", "later"])
        try worker.stopAndWait()
    }

    func testOnTheThreadItselfTheValueExistsWhenItsCreationReturns() throws {
        let log = Locked<[String]>([])
        let bound = try ThreadBound(on: .current) { Parser("own", log) }
        XCTAssertEqual(log.withLock { $0 }, ["create own on main"])
        bound.value.feed(3)
        XCTAssertEqual(bound.value.sum, 3)
        let model = try ThreadBound(on: .main) { MainActorModel() }
        MainActor.assumeIsolated { model.value.count += 1 }
    }

    func testTheEndOfAThreadReleasesItsValuesThereInReverseOrderBeforeItIsReported() throws {
        let worker = try RunLoopThread.started("worker")
        let log = Locked<[String]>([])
        let values = try ["first", "second"].map { name in try ThreadBound(on: worker) { Parser(name, log) } }
        let token = worker.addEndObserver(on: .postingThread) { _ in log.withLock { $0.append("end") } }
        try worker.stopAndWait()
        XCTAssertEqual(
            log.withLock { $0 },
            [
                "create first on worker", "create second on worker", "release second on worker",
                "release first on worker", "end",
            ])
        withExtendedLifetime(values) {}
        token.cancel()
    }

    func testAValueThatIsReleasedBeforeItsThreadComesToItIsNotCreated() throws {
        let worker = try RunLoopThread.started("worker")
        let log = Locked<[String]>([])
        let resume = try worker.keptBusy()
        _ = try ThreadBound(on: worker) { Parser("parser", log) }
        resume.signal()
        try worker.stopAndWait()
        XCTAssertEqual(log.withLock { $0 }, [])
    }

    func testAThreadThatDoesNotRunCreatesNoValue() throws {
        let worker = RunLoopThread(name: "worker")
        assertThrows(DeliveryError.threadNotStarted(thread: "worker")) { try ThreadBound(on: worker) { 1 } }
        worker.stop()
        assertThrows(DeliveryError.threadStopped(thread: "worker")) { try ThreadBound(on: worker) { 1 } }
    }
}

/// Not `Sendable`.
private final class Parser {
    let name: String
    var sum = 0
    private let log: Locked<[String]>

    init(_ name: String, _ log: Locked<[String]>) {
        self.name = name
        self.log = log
        note("create")
    }

    deinit { note("release") }

    func feed(_ number: Int) { sum += number }

    private func note(_ verb: String) {
        let (name, thread) = (name, ThreadIdentity.current.name ?? "")
        log.withLock { $0.append("\(verb) \(name) on \(thread)") }
    }
}

@MainActor
private final class MainActorModel {
    var count = 0
}
