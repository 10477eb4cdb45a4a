import DeliveryRecording
import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// The accounts of observers whose deliveries are recorded in unusual ways: they add up, and are no problem.
final class AccountsOfRunsTests: XCTestCase {
    private let posted = Notification.Name("accounts")
    private let number: @Sendable (Notification) -> Int? = { $0.object as? Int }

    /// Records what happens, and waits until nothing waits for the observers.
    private func accounts(_ happen: (ThreadedNotificationCenter) throws -> [ObserverToken]) throws -> Accounts {
        let path = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString).path
        defer {
            try? ProcessRecording.stop()
            try? FileManager.default.removeItem(atPath: path)
        }
        try ProcessRecording.start(to: path)
        let tokens = try happen(ThreadedNotificationCenter())
        let deadline = Date(timeIntervalSinceNow: TestTimeout.seconds)
        while tokens.contains(where: { $0.counters.waiting > 0 }), Date() < deadline {
            _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
        }
        try ProcessRecording.stop()
        let recording = try Recording(path: path)
        let audit = Evidence(recording)
        XCTAssertTrue(audit.addsUp, "\(audit.faults)")
        XCTAssertEqual(Diagnosis(recording).findings.filter { $0.severity == .problem }.map(\.problem), [])
        return audit.accounts
    }

    func testThoseOfAsyncHandlers() throws {
        let worker = RunLoopThread(name: "worker")
        try worker.start()
        defer {
            worker.stop()
            try? worker.waitUntilFinished(timeout: TestTimeout.hang)
        }
        var tokens: [ObserverToken] = []
        let sum = try accounts { center in
            let (name, number) = (posted, number)
            let (resume, open) = AsyncStream<Never>.makeStream()
            let bounded = ObserverOptions(overflow: .dropOldest(capacity: 2))
            tokens = [
                center.addObserver(forName: name, transform: number) { number in
                    if number == 1 { center.post(name: name, object: 2) }
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
            tokens.append(center.addObserver(forName: name, transform: number) { _ in for await _ in resume {} })
            center.post(name: name, object: 7)
            tokens[4].cancel()
            open.finish()
            return tokens
        }.sum(.notifications)
        for token in tokens.prefix(3) { XCTAssertEqual(token.counters, DeliveryCounters(delivered: 7)) }
        let counters = tokens.map(\.counters)
        XCTAssertEqual(sum[.delivered], counters.reduce(0) { $0 + $1.delivered })
        XCTAssertEqual(sum[.dropped], counters.reduce(0) { $0 + $1.dropped })
        XCTAssertEqual(sum[.cancelled], counters.reduce(0) { $0 + $1.cancelled })
    }

    func testThoseOfLaterDeliveriesAndOfDrainsThatEndWhenTheirBudgetIsSpent() throws {
        let before = MainThread.main.drainBudget
        MainThread.main.drainBudget = .deliveries(2)
        defer { MainThread.main.drainBudget = before }
        var tokens: [ObserverToken] = []
        let accounts = try accounts { center in
            let (name, number) = (posted, number)
            let policies: [SameThreadPolicy] = [.later, .ordered, .later, .ordered]
            tokens = policies.map { policy in
                center.addObserver(
                    forName: name, on: .main, options: ObserverOptions(sameThread: policy), transform: number
                ) { value in if value == 1 { center.post(name: name, object: 2) } }
            }
            center.post(name: name, object: 1)
            try MainThread.main.performLater {}
            let later = ObserverOptions(sameThread: .later)
            let removed = center.addObserver(forName: name, on: .main, options: later) { _ in }
            center.post(name: name, object: 3)
            removed.cancel()
            return tokens + [removed]
        }
        // Each of the four makes the post 2.
        XCTAssertEqual(tokens.map(\.counters), tokens.map { _ in DeliveryCounters(delivered: 6) })
        XCTAssertEqual(accounts.sum(.notifications), [.matched: 25, .delivered: 24, .cancelled: 1])
        XCTAssertEqual(accounts.sum(.blocks), [.matched: 1, .delivered: 1])
    }
}
