import DeliveryRecording
import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

final class DeliveryStatisticsTests: XCTestCase {
    private let (main, worker) = (HandMadeRecords.main, HandMadeRecords.worker)

    private func statistics(of records: [TestRecord]) -> DeliveryStatistics {
        DeliveryStatistics(RecordingIndex(Recording(records, source: "test")))
    }

    func testPercentilesAreExactInAnyOrder() throws {
        XCTAssertNil(Distribution(of: []))
        for count in [1, 1000, 10_000] {
            let values = (1...count).map { UInt64($0) * 12_345 }
            let distribution = try XCTUnwrap(Distribution(of: values.shuffled()))
            XCTAssertEqual([distribution.count, Int(distribution.max)], [count, count * 12_345])
            let percentiles = [50, 99].map { values[(count * $0 + 99) / 100 - 1] }
            XCTAssertEqual([distribution.p50, distribution.p99], percentiles)
        }
    }

    /// The worker posts A ten times. Main handles each post after 1 µs to 10 µs, for 100 ns. Two posts of B are
    /// enqueued.
    func testTheTablesOfAKnownRecording() {
        var records = HandMadeRecords()
        records.add(0, main, .register, "A", observer: 3, target: main, location: SourceLocation("A.swift", 5))
        for post in 1...10 {
            let time = UInt64(post) * 100_000
            records.add(time, worker, .post, "A", post: post)
            records.add(time + 200, worker, .append, "A", post: post, observer: 3, target: main)
            records.add(time + 300, worker, .signal, nil, target: main)
            records.add(time + 400, main, .drain, nil)
            records.add(time + UInt64(post) * 1_000, main, .deliver, "A", post: post, observer: 3, target: main)
            records.add(time + UInt64(post) * 1_000 + 100, main, .return, "A", post: post, observer: 3)
        }
        records.add(1_900_000, worker, .enqueue, "B", post: 11, target: worker)
        records.add(1_900_005, worker, .enqueue, "B", post: 12, target: worker)
        records.add(1_900_006, worker, .coalesce, "B", post: 12, relatedPost: 11)
        records.add(2_000_000, worker, .post, "B", post: 11)
        let statistics = statistics(of: records.records)
        XCTAssertEqual(
            StatisticsReport(statistics).text(),
            """
            65 records of 2 threads in 2.00 ms
            11 posted
            10 matched: 10 delivered
            2 enqueued in posting queues: 1 posted, 1 coalesced

            time                     count     p50     p99     max
            post to delivery            10 5.00 µs 10.0 µs 10.0 µs
            waiting in a mailbox        10 4.80 µs 9.80 µs 9.80 µs
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
            worker                     11         –       –       –       –       –       –

            mailbox of             appended most waiting signals drains
            main                         10            1      10     10
            """)
        XCTAssertEqual(statistics.total.counts[.coalesced], 0, "a queue coalesces before it posts")
        let observer = StatisticsReport(statistics).text(by: .observer)
        XCTAssertTrue(observer.contains("\n3 A, A.swift:5"), observer)
    }

    // MARK: Random recordings

    /// Checks that nothing traps, tables fit, and sums equal the sums of their parts.
    private func check(_ records: [TestRecord], _ name: String) throws {
        let statistics = statistics(of: records)
        let total = statistics.total
        for group in [total] + statistics.names + statistics.observers + statistics.threads {
            let outcomes: [Accounts.Count] = [
                .delivered, .coalesced, .dropped, .cancelled, .targetGone, .pending, .lost,
            ]
            XCTAssertEqual(outcomes.reduce(0) { $0 + group[$1] }, group[.matched], "\(name): \(group.label)")
        }
        XCTAssertEqual(statistics.names.reduce(0) { $0 + $1[.delivered] }, total.counts[.delivered], name)
        XCTAssertEqual(statistics.names.reduce(0) { $0 + $1[.pending] }, total.counts[.pending], name)
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
        XCTAssertEqual(StatisticsReport(statistics(of: [])).text().split(separator: "\n").first?.prefix(9), "0 records")
    }
}
