import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("posted in OutcomeTests")

private func number(_ value: Int) -> Notification { Notification(name: posted, object: value) }

/// Guarantee 14: each pair of a post and an observer has one outcome. `RandomProgramsTests` checks it too.
final class OutcomeTests: XCTestCase {
    func testEachPostHasOneOutcomeForEachObserverAndTheEventsAgree() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let observers = Locked<Set<UInt64>>([])
        var tokens: [ObserverToken] = []
        let events = try tracing {
            for policy: OverflowPolicy in [
                .unbounded, .dropOldest(capacity: 3), .dropNewest(capacity: 3), .keepLatest, .refuse(capacity: 1),
            ] {
                tokens.append(
                    center.addObserver(forName: posted, on: worker, options: ObserverOptions(overflow: policy)) {
                        _ in
                    })
            }
            tokens.append(center.addObserver(forName: posted, on: .postingThread) { _ in })
            let ended = try RunLoopThread.started("ended")
            try ended.stopAndWait()
            tokens.append(center.addObserver(forName: posted, on: ended) { _ in })
            observers.withLock { $0 = Set(tokens.map(\.id)) }
            let poster = Thread.posting(2) { for value in 0..<50 { center.post(number(value % 4)) } }
            tokens[0].cancel()
            poster.wait()
            try worker.stopAndWait()
        }
        let outcomes: [DeliveryEvent.Stage] = [.deliver, .coalesce, .drop, .cancel, .targetGone]
        var resolved: [UInt64: [UInt64: [DeliveryEvent.Stage]]] = [:]
        for event in events where outcomes.contains(event.stage) && observers.withLock({ $0.contains(event.observer) })
        {
            resolved[event.observer, default: [:]][event.post, default: []].append(event.stage)
        }
        for token in tokens {
            let counters = token.counters
            XCTAssertEqual(counters.waiting, 0)
            let outcomesOfPosts = resolved[token.id] ?? [:]
            XCTAssertEqual(outcomesOfPosts.count, counters.total)
            XCTAssertTrue(outcomesOfPosts.values.allSatisfy { $0.count == 1 }, "\(outcomesOfPosts)")
            let all = outcomesOfPosts.values.flatMap(\.self)
            XCTAssertEqual(all.count { $0 == .deliver }, counters.delivered)
            XCTAssertEqual(all.count { $0 == .coalesce }, counters.coalesced)
            XCTAssertEqual(all.count { $0 == .drop }, counters.dropped + counters.refused)
            XCTAssertEqual(all.count { $0 == .cancel }, counters.cancelled)
            XCTAssertEqual(all.count { $0 == .targetGone }, counters.targetGone)
        }
        XCTAssertEqual(tokens.last?.counters.targetGone, 100)
    }
}
