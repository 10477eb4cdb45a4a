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

    // MARK: Exact values

    /// The worker posts A ten times. Main handles each post after 1 µs to 10 µs, for 100 ns.
    private func ten() -> [TestRecord] {
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
        records.add(2_000_000, main, .log, nil, message: "end")
        return records.records
    }

    func testTheMeanDepthIsOverTime() throws {
        var records = HandMadeRecords()
        records.add(0, worker, .post, post: 1)
        records.add(100, worker, .append, post: 1, observer: 1, target: main)
        records.add(200, worker, .append, post: 1, observer: 2, target: main)
        records.add(400, main, .deliver, post: 1, observer: 1)
        records.add(500, main, .return, post: 1, observer: 1)
        records.add(1_000, main, .log)
        let statistics = statistics(of: records.records)
        let mailbox = try XCTUnwrap(statistics.mailboxes.first)
        XCTAssertEqual(mailbox.label, "main")
        XCTAssertEqual(mailbox.highestDepth, 2)
        // Depth 1 for 100 ns, 2 for 200 ns and 1 for 600 ns, of 1000 ns.
        XCTAssertEqual(try XCTUnwrap(mailbox.meanDepth), 1.1, accuracy: 1e-9)
        XCTAssertEqual(statistics.total.counts[.pending], 1)
        XCTAssertEqual(statistics.mailboxes.count, 1, "the worker has no mailbox")
    }

    func testQueuesWaitsAndDrainsHaveTheirOwnFigures() {
        var records = HandMadeRecords()
        records.add(0, worker, .enqueue, post: 1, target: worker)
        records.add(5, worker, .enqueue, post: 2, target: worker)
        records.add(6, worker, .coalesce, post: 2, relatedPost: 1)
        records.add(70, worker, .post, post: 1)
        records.add(80, worker, .wait, nil, message: "main")
        records.add(90, main, .drain, nil)
        records.add(130, worker, .waitEnd, nil)
        records.add(140, main, .wait, nil)
        records.add(150, main, .refuseWait, nil)
        records.add(160, worker, .signal, nil, target: main)
        records.add(170, worker, .dropSignal, nil, target: main)
        let statistics = statistics(of: records.records)
        XCTAssertEqual([statistics.queues.enqueued, statistics.queues.posted, statistics.queues.coalesced], [2, 1, 1])
        XCTAssertEqual(statistics.queues.waiting?.max, 70)
        XCTAssertEqual(statistics.total.counts[.coalesced], 0, "a queue coalesces before it posts")
        XCTAssertEqual(statistics.waits?.sum, 50)
        XCTAssertEqual(statistics.mailboxes.map(\.endlessWaits).sorted(), [0, 1])
        XCTAssertEqual(statistics.deliveriesPerDrain?.max, 0)
        let text = StatisticsReport(statistics).text()
        XCTAssertTrue(
            text.contains("\n1 wait did not end in the recording.\n1 wait was refused because of a deadlock."), text)
        XCTAssertTrue(text.contains("\n1 signal and 1 lost, 1 drain: 1.00 signals a drain\n"), text)
    }

    // MARK: Tables

    func testTheTablesOfAKnownRecording() {
        XCTAssertEqual(
            StatisticsReport(statistics(of: ten())).text(),
            """
            62 records of 2 threads in 2.00 ms
            10 posted (5.00 k a second)
            10 matched: 10 delivered
            10 signals, 10 drains: 1.00 signals a drain

            time                      count      p50      p90      p99    p99.9      max
            post to delivery             10  5.00 µs  9.00 µs  10.0 µs  10.0 µs  10.0 µs
            waiting in a mailbox         10  4.80 µs  8.80 µs  9.80 µs  9.80 µs  9.80 µs
            in a posting queue            –        –        –        –        –        –
            handler                      10   100 ns   100 ns   100 ns   100 ns   100 ns
            wait for others               –        –        –        –        –        –
            deliveries a drain           10        1        1        1        1        1

                                                           post to delivery         handler
            name                   posted delivered     p50     p99     max     p50     max
            A                          10        10 5.00 µs 10.0 µs 10.0 µs  100 ns  100 ns

                                                            post to delivery         handler
            observer               matched delivered     p50     p99     max     p50     max
            3 A                         10        10 5.00 µs 10.0 µs 10.0 µs  100 ns  100 ns

                                                           post to delivery         handler
            thread                 posted delivered     p50     p99     max     p50     max
            main                        –        10 5.00 µs 10.0 µs 10.0 µs  100 ns  100 ns
            worker                     10         –       –       –       –       –       –

                                   waiting                deliveries a drain
            mailbox of     highest    mean signals  drains     mean      max waits  waited
            main                 1    0.03      10      10     1.00        1     –       –
            """)
        XCTAssertEqual(
            StatisticsReport(statistics(of: ten())).text(by: .observer),
            """
            matched  delivered  observer
                 10         10  A  observer 3 on main, A.swift:5

            post to delivery          count      p50      p90      p99    p99.9      max
            3 A                          10  5.00 µs  9.00 µs  10.0 µs  10.0 µs  10.0 µs

            waiting in a mailbox      count      p50      p90      p99    p99.9      max
            3 A                          10  4.80 µs  8.80 µs  9.80 µs  9.80 µs  9.80 µs

            handler                   count      p50      p90      p99    p99.9      max
            3 A                          10   100 ns   100 ns   100 ns   100 ns   100 ns
            """)
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
