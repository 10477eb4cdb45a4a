import DeliveryRecording
import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// The accounts of observers whose deliveries are recorded in unusual ways: they add up, and are no problem.
final class AccountsOfRunsTests: XCTestCase {
    func testTheAccountsOfARecordedRunAreTheCountersOfItsObservers() throws {
        let (name, center, path) = (
            Notification.Name("accounts"), ThreadedNotificationCenter(),
            FileManager.default.temporaryDirectory.appending(component: UUID().uuidString).path
        )
        let number: @Sendable (Notification) -> Int? = { $0.object as? Int }
        let (before, worker) = (MainThread.main.drainBudget, RunLoopThread(name: "worker"))
        try worker.start()
        MainThread.main.drainBudget = .deliveries(2)
        try ProcessRecording.start(to: path)
        defer {
            MainThread.main.drainBudget = before
            worker.stop()
            try? worker.waitUntilFinished(timeout: TestTimeout.hang)
            try? ProcessRecording.stop()
            try? FileManager.default.removeItem(atPath: path)
        }
        let (resume, open) = AsyncStream<Never>.makeStream()
        let bounded = ObserverOptions(overflow: .dropOldest(capacity: 2))
        let repost: @Sendable (Int) -> Void = { if $0 == 1 { center.post(name: name, object: 2) } }
        var tokens = [SameThreadPolicy.later, .ordered].map { policy in
            center.addObserver(
                forName: name, on: .main, options: ObserverOptions(sameThread: policy), transform: number,
                using: repost)
        }
        tokens += [
            center.addObserver(forName: name, transform: number) { number in
                repost(number)
                await Task.yield()
            },
            center.addObserver(forName: name, executorPreference: worker, transform: number) { _ in
                await Task.yield()
            }, center.addObserver(forName: name, transform: number) { @MainActor _ in },
            center.addObserver(forName: name, options: bounded, transform: number) { _ in
                for await _ in resume {}
            },
        ]
        for number in [1, 3, 4, 5, 6] { center.post(name: name, object: number) }
        try MainThread.main.performLater {}
        let removed = [
            center.addObserver(forName: name, transform: number) { _ in for await _ in resume {} },
            center.addObserver(forName: name, on: .main, options: ObserverOptions(sameThread: .later)) { _ in },
        ]
        center.post(name: name, object: 7)
        for token in removed { token.cancel() }
        open.finish()
        tokens += removed
        let deadline = Date(timeIntervalSinceNow: TestTimeout.seconds)
        while tokens.contains(where: { $0.counters.waiting > 0 }), Date() < deadline {
            _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
        }
        try ProcessRecording.stop()
        let recording = try Recording(path: path)
        XCTAssertEqual(Diagnosis(recording).findings.filter { $0.severity == .problem }.map(\.problem), [])
        let (accounts, counters) = (Accounts(RecordingIndex(recording)), tokens.map(\.counters))
        for (count, counter) in [
            (Accounts.Count.delivered, \DeliveryCounters.delivered), (.dropped, \.dropped), (.cancelled, \.cancelled),
        ] {
            XCTAssertEqual(
                accounts.sum(.notifications)[count], counters.reduce(0) { $0 + $1[keyPath: counter] }, "\(count)")
        }
        XCTAssertEqual(accounts.sum(.blocks), [.matched: 1, .delivered: 1])
    }
}
