import DeliveryRecording
import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

final class DeliveryStatisticsTests: XCTestCase {
    private func statistics(of recording: Recording) -> DeliveryStatistics {
        DeliveryStatistics(RecordingIndex(recording))
    }

    /// The worker posts A ten times. Main handles each post after 1 µs to 10 µs, for 100 ns. Two posts of B are
    /// enqueued.
    func testTheTablesOfAKnownRecording() {
        let story = RecordedStory(
            """
            add o3 A >main @5
            1-10: worker post #* A & worker append #* o3 A >main +0ns & deliver #* o3 A >main +*us & return #* o3 A +100ns
            11-12: worker enqueue #* B >worker
            worker coalesce #12 B ~11; worker post #11 B
            """)
        let statistics = statistics(of: story.recording)
        XCTAssertEqual(
            StatisticsReport(statistics).text(),
            """
            45 records of 2 threads in 14.1 ms
            11 posted
            10 matched: 10 delivered
            2 enqueued in posting queues: 1 posted, 1 coalesced

            time                     count     p50     p99     max
            post to delivery            10 5.00 µs 10.0 µs 10.0 µs
            waiting in a mailbox        10 5.00 µs 10.0 µs 10.0 µs
            handler                     10  100 ns  100 ns  100 ns

                                                           post to delivery         handler
            name                   posted delivered     p50     p99     max     p50     max
            A                          10        10 5.00 µs 10.0 µs 10.0 µs  100 ns  100 ns
            B                           1         –       –       –       –       –       –

                                                            post to delivery         handler
            observer               matched delivered     p50     p99     max     p50     max
            3 A                         10        10 5.00 µs 10.0 µs 10.0 µs  100 ns  100 ns

                                                           post to delivery         handler
            thread                 posted delivered     p50     p99     max     p50     max
            main                        –        10 5.00 µs 10.0 µs 10.0 µs  100 ns  100 ns
            worker (thread 2)          11         –       –       –       –       –       –

            mailbox of             appended most waiting
            main                         10            1
            """)
        XCTAssertEqual(statistics.total.counts[.coalesced], 0, "a queue coalesces before it posts")
        let observer = StatisticsReport(statistics).text(by: .observer)
        XCTAssertTrue(observer.contains("\n3 A, Demo/main.swift:5"), observer)
    }

    func testWhatAnEndedThreadDidNotHandleIsLostInEachTable() {
        let statistics = statistics(of: RecordedStory("add o1; hand #1 o1; worker threadEnd -; end - !exit").recording)
        for groups in [[statistics.total], statistics.names, statistics.observers, statistics.threads] {
            XCTAssertEqual(groups.map { $0.counts[.lost] }.reduce(0, +), 1, groups.map(\.label).joined())
        }
    }

    // MARK: Random recordings

    /// Checks that nothing traps, tables fit, and sums equal the sums of their parts.
    private func check(_ records: [TestRecord], _ name: String) throws {
        let statistics = statistics(of: Recording(records))
        let total = statistics.total
        for group in [total] + statistics.names + statistics.observers + statistics.threads {
            let outcomes: [Accounts.Count] = [
                .delivered, .coalesced, .dropped, .cancelled, .targetGone, .pending, .lost,
            ]
            let sum = outcomes.reduce(0) { $0 + group.counts[$1] }
            XCTAssertEqual(sum, group.counts[.matched], "\(name): \(group.label)")
        }
        XCTAssertEqual(statistics.names.reduce(0) { $0 + $1.counts[.delivered] }, total.counts[.delivered], name)
        XCTAssertEqual(statistics.names.reduce(0) { $0 + $1.counts[.pending] }, total.counts[.pending], name)
        for groups in [statistics.names, statistics.threads] {
            XCTAssertEqual(groups.reduce(0) { $0 + ($1.handler?.count ?? 0) }, total.handler?.count ?? 0, name)
        }
        let report = StatisticsReport(statistics)
        for grouping in [nil] + StatisticsReport.Grouping.allCases {
            for line in report.text(by: grouping).split(separator: "\n") {
                XCTAssertLessThanOrEqual(line.count, 80, "\(name): \(line)")
            }
        }
        XCTAssertNoThrow(try JSONEncoder().encode(statistics), name)
    }

    func testTheStatisticsOfAnythingAddUp() throws {
        let step = TestRounds.rounds(20, stress: 1)
        for seed in stride(from: 0 as UInt64, through: 300, by: step) {
            try check(RandomRecords.records(Int(seed) + 1, seed: seed), "seed \(seed)")
        }
        XCTAssertTrue(StatisticsReport(statistics(of: Recording([]))).text().hasPrefix("0 records"))
    }
}
