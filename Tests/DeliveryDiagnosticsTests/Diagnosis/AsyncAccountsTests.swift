import DeliveryRecording
import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// A recording of observers with async handlers.
final class AsyncAccountsTests: XCTestCase {
    private static let name = Notification.Name("async")
    private static let number: @Sendable (Notification) -> Int? = { $0.object as? Int }

    func testDeliveriesToAsyncHandlersAddUpAndAreNoFinding() throws {
        let path = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString).path
        defer {
            try? ProcessRecording.stop()
            try? FileManager.default.removeItem(atPath: path)
        }
        try ProcessRecording.start(to: path)
        let center = ThreadedNotificationCenter()
        let worker = RunLoopThread(name: "worker")
        try worker.start()
        let (resume, open) = AsyncStream<Never>.makeStream()
        let bounded = ObserverOptions(overflow: .dropOldest(capacity: 2))
        let tokens = [
            center.addObserver(forName: Self.name, transform: Self.number) { number in
                if number == 1 { center.post(name: Self.name, object: 2) }
                await Task.yield()
            },
            center.addObserver(forName: Self.name, executorPreference: worker, transform: Self.number) { _ in
                await Task.yield()
            },
            center.addObserver(forName: Self.name, transform: Self.number) { @MainActor _ in },
            center.addObserver(forName: Self.name, options: bounded, transform: Self.number) { _ in
                for await _ in resume {}
            },
        ]
        for number in [1, 3, 4, 5, 6] { center.post(name: Self.name, object: number) }
        let removed = center.addObserver(forName: Self.name, transform: Self.number) { _ in
            for await _ in resume {}
        }
        center.post(name: Self.name, object: 7)
        removed.cancel()
        open.finish()
        let deadline = Date(timeIntervalSinceNow: TestTimeout.seconds)
        while (tokens + [removed]).contains(where: { $0.counters.waiting > 0 }), Date() < deadline {
            _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
        }
        worker.stop()
        try worker.waitUntilFinished(timeout: TestTimeout.hang)
        try ProcessRecording.stop()

        for token in tokens.prefix(3) { XCTAssertEqual(token.counters, DeliveryCounters(delivered: 7)) }
        let recording = try Recording(path: path)
        let audit = Evidence(recording)
        XCTAssertTrue(audit.addsUp, "\(audit.faults)")
        let sum = audit.accounts.sum(.notifications)
        let counters = (tokens + [removed]).map(\.counters)
        XCTAssertEqual(sum[.delivered], counters.reduce(0) { $0 + $1.delivered })
        XCTAssertEqual(sum[.dropped], counters.reduce(0) { $0 + $1.dropped })
        XCTAssertEqual(sum[.cancelled], counters.reduce(0) { $0 + $1.cancelled })
        XCTAssertEqual(Diagnosis(recording).findings.filter { $0.severity == .problem }.map(\.problem), [])
    }
}
