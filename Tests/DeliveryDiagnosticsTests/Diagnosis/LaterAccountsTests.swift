import DeliveryRecording
import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// A recording of observers with `SameThreadPolicy.later`, and of drains that end when their budget is spent.
final class LaterAccountsTests: XCTestCase {
    func testLaterDeliveriesAndDrainsInSlicesAddUpAndAreNoFinding() throws {
        let path = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString).path
        let before = MainThread.main.drainBudget
        MainThread.main.drainBudget = .deliveries(2)
        defer {
            try? ProcessRecording.stop()
            try? FileManager.default.removeItem(atPath: path)
            MainThread.main.drainBudget = before
        }
        try ProcessRecording.start(to: path)
        let (center, name) = (ThreadedNotificationCenter(), Notification.Name("later"))
        let policies: [SameThreadPolicy] = [.later, .ordered, .later, .ordered]
        let tokens = policies.map { policy in
            center.addObserver(
                forName: name, on: .main, options: ObserverOptions(sameThread: policy),
                transform: { $0.object as? Int }
            ) { value in if value == 1 { center.post(name: name, object: 2) } }
        }
        center.post(name: name, object: 1)
        try MainThread.main.performLater {}
        let removed = center.addObserver(forName: name, on: .main, options: ObserverOptions(sameThread: .later)) { _ in
        }
        center.post(name: name, object: 3)
        removed.cancel()
        let deadline = Date(timeIntervalSinceNow: TestTimeout.seconds)
        while (tokens + [removed]).contains(where: { $0.counters.waiting > 0 }), Date() < deadline {
            _ = RunLoop.main.run(mode: .default, before: deadline)
        }
        try ProcessRecording.stop()

        // Each of the four makes the post 2.
        XCTAssertEqual(tokens.map(\.counters), tokens.map { _ in DeliveryCounters(delivered: 6) })
        let recording = try Recording(path: path)
        let audit = Evidence(recording)
        XCTAssertTrue(audit.addsUp, "\(audit.faults)")
        XCTAssertEqual(
            audit.accounts.sum(.notifications), [.matched: 25, .delivered: 24, .cancelled: 1])
        XCTAssertEqual(audit.accounts.sum(.blocks), [.matched: 1, .delivered: 1])
        XCTAssertEqual(Diagnosis(recording).findings.filter { $0.severity == .problem }.map(\.problem), [])
    }
}
