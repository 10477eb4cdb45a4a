import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

extension RunComparison {
    var isSame: Bool { if case .same = outcome { true } else { false } }
    var differences: [RunDifference] { if case .different(let differences) = outcome { differences } else { [] } }
    var truncation: RunDifference? { if case .truncated(let difference) = outcome { difference } else { nil } }
    var isUndecided: Bool { if case .undecided = outcome { true } else { false } }
    var text: String { ComparisonReport(self).description }
}

/// Tests of recordings of three threads.
class RecordingComparisonTestCase: XCTestCase {
    static let (main, a, b) = (
        RecordedStory.main, RecordedStory.thread(2, "a"), RecordedStory.thread(3, "b")
    )

    func script(_ write: (inout RecordedStory) -> Void) -> RecordedStory {
        var script = RecordedStory()
        write(&script)
        // Without an end, a recording is incomplete.
        if !script.records.contains(where: { $0.stage == .end }) { script.end() }
        return script
    }

    func compare(
        _ first: RecordedStory, _ second: RecordedStory, _ change: (inout RunComparison.Options) -> Void = { _ in }
    ) -> RunComparison {
        var options = RunComparison.Options()
        change(&options)
        return RunComparison(first.recording("A"), second.recording("B"), options: options)
    }
}

final class RunComparisonTests: RecordingComparisonTestCase {
    /// Posts from threads to an observer on another one, some of which are handled in an order.
    private func run(
        _ posts: [(thread: ThreadIdentity, post: Int)], handles order: [Int], on target: ThreadIdentity
    ) -> RecordedStory {
        script { script in
            for (thread, post) in posts {
                script.add(.post, on: thread, post: post)
                script.add(.append, on: thread, post: post, observer: 1, target: target)
            }
            for post in order { script.handle(post, by: 1, on: target) }
        }
    }

    private func log(_ messages: String...) -> RecordedStory {
        script { script in for message in messages { script.add(.log, message: message) } }
    }

    // MARK: Order and outcomes

    func testDeliveriesFromTwoThreadsMayInterleaveDeliveriesFromOneMayNotChangeOrder() {
        func run(_ order: [Int]) -> RecordedStory {
            self.run([(Self.a, 1), (Self.a, 2), (Self.b, 3), (Self.b, 4)], handles: order, on: Self.main)
        }
        XCTAssertTrue(compare(run([1, 2, 3, 4]), run([3, 1, 4, 2])).isSame)
        XCTAssertFalse(compare(run([1, 2, 3, 4]), run([3, 1, 4, 2])) { $0.isExact = true }.isSame)
        let swapped = compare(run([1, 2, 3, 4]), run([1, 2, 4, 3])).differences
        XCTAssertEqual(swapped.map(\.reason), [.post])
        XCTAssertEqual(swapped.first?.first.line, 13)
        XCTAssertEqual(
            swapped.first?.explanation,
            [
                "In A #3 for observer 1 comes before #4 for observer 1, in B #3 for observer 1 after #4 for "
                    + "observer 1."
            ])
    }

    func testADeliveryOnAnotherThreadIsReportedWithBothRecordsAndTheirSourceLocations() {
        func run(handledOn thread: ThreadIdentity) -> RecordedStory {
            script { script in
                script.add(.register, observer: 1, target: Self.a, at: 3)
                script.add(.post, post: 1, at: 9, count: 1)
                script.add(.append, post: 1, observer: 1, target: Self.a)
                script.handle(1, by: 1, on: thread)
            }
        }
        XCTAssertEqual(
            compare(run(handledOn: Self.a), run(handledOn: Self.b)).text,
            """
            the runs differ
            Done is handled on a in A, on b in B.
            What the handler shares with other code may be used by two threads.
              A:4  a deliver #1 Done observer 1; posted at Demo/main.swift:9; observed at Demo/main.swift:3
              B:4  b deliver #1 Done observer 1; posted at Demo/main.swift:9; observed at Demo/main.swift:3
            """)
    }

    func testAMissingDeliveryIsReportedWhicheverRunItIsMissingIn() {
        func run(_ delivered: [Int]) -> RecordedStory {
            self.run((1...3).map { (Self.main, $0) }, handles: delivered, on: Self.a)
        }
        for (first, second, lines, name) in [
            ([1, 2, 3], [1, 3], [9, 9], "B"), ([1, 3], [1, 2, 3], [9, 9], "A"), ([1, 2], [1], [9, nil], "B"),
            ([1], [1, 2], [nil, 9], "A"),
        ] as [([Int], [Int], [Int?], String)] {
            let found = compare(run(first), run(second)).differences
            XCTAssertEqual(found.map { [$0.first.line, $0.second.line] }, [lines])
            XCTAssertEqual(
                found.first?.explanation, ["In \(name) #2 for observer 1 was not delivered and has no other outcome."])
        }
    }

    func testADifferentOutcomeIsReported() {
        func run(_ outcome: DeliveryStage) -> RecordedStory {
            script { script in
                script.add(.post, post: 1)
                script.add(.append, post: 1, observer: 1, target: Self.a)
                script.add(outcome, on: Self.a, post: 1, observer: 1, target: Self.a)
            }
        }
        for (outcome, words) in [
            (DeliveryStage.cancel, "was cancelled"), (.targetGone, "lost its target thread"), (.drop, "was dropped"),
        ] {
            let difference = compare(run(.deliver), run(outcome)).differences.first
            XCTAssertEqual(difference?.reason, .stage)
            XCTAssertEqual(difference?.explanation, ["In B #1 for observer 1 \(words) on a."])
        }
    }

    // MARK: Compared properties

    func testTheNumberOfSignalsAndDrainsTimesAndAddressesMayDiffer() {
        func run(_ post: Int, _ observer: Int, _ thread: ThreadIdentity, _ address: String, isBusy: Bool)
            -> RecordedStory
        {
            script { script in
                if isBusy { script.add(.wait) }
                script.hand(post, to: [observer], on: thread)
                if isBusy {
                    script.add(.signal, target: thread)
                    for _ in 1...2 { script.add(.drain, on: thread) }
                }
                script.handle(post, by: observer, on: thread)
                if isBusy { script.add(.waitEnd) }
                script.add(.log, message: "made \(address) of 0x10 by {number = \(thread.number), name = a}")
                script.add(.remove, observer: observer, count: isBusy ? 1 : 0)
                if isBusy { script.add(.threadEnd, on: thread) }
            }
        }
        let plain = run(1, 1, Self.a, "0x55d0c8a7f2b0", isBusy: false)
        let busy = run(4, 9, RecordedStory.thread(5, "a"), "0x7f00aa5400c0", isBusy: true)
        XCTAssertTrue(compare(plain, busy).isSame)
        XCTAssertFalse(compare(plain, busy) { $0.isExact = true }.isSame)
    }

    func testWhatDiffersOfTwoRecordsIsTheReason() {
        func post(_ count: Int, _ sender: UInt64, _ type: String) -> RecordedStory {
            script { $0.add(.post, post: 1, count: count, sender: .init(identifier: sender, type: type)) }
        }
        func append(_ target: ThreadIdentity) -> RecordedStory {
            script { $0.add(.append, post: 1, observer: 1, target: target) }
        }
        func gone(_ reason: Recording.Reason?) -> RecordedStory {
            script { $0.add(.targetGone, post: 1, reason: reason) }
        }
        func end(_ reason: Recording.Reason) -> RecordedStory { script { $0.end(reason) } }
        for (one, other, reason) in [
            (log("status 0x10"), log("status 0x11"), .message),
            (log("{number = 2, name = a}"), log("{number = 2, name = c}"), .mention),
            (log("{number = 1, name = main}"), log("{number = 2, name = a}"), .mention),
            (post(2, 1, "Window"), post(2, 2, "Window"), nil), (post(2, 1, "Window"), post(3, 1, "Window"), .count),
            (post(2, 1, "Window"), post(2, 1, "Panel"), .sender), (append(Self.a), append(Self.b), .target),
            (gone(.notStarted), gone(nil), .details), (end(.exit), end(.stopped), nil),
            (end(.exit), end(.signal(11)), .end), (end(.signal(6)), end(.signal(11)), .end),
            (script { _ in }, script { _ in }, nil), (log("x"), script { _ in }, .onlyInFirst),
        ] as [(RecordedStory, RecordedStory, RunDifference.Reason?)] {
            let comparison = compare(one, other)
            XCTAssertEqual(comparison.differences.map(\.reason), reason.map { [$0] } ?? [], comparison.text)
            XCTAssertEqual(comparison.isSame, reason == nil)
        }
    }

    func testTheExplanationTellsRecordsApartThatReadTheSame() {
        func register(_ target: ThreadIdentity?, _ type: String? = nil) -> RecordedStory {
            let sender = type.map { Recording.Sender(identifier: 1, type: $0) }
            return script { $0.add(.register, observer: 2, target: target, sender: sender) }
        }
        // Threads with one name are shown with their numbers.
        func worker(_ target: Int) -> RecordedStory {
            script { script in
                for number in 2...3 { script.add(.log, on: RecordedStory.thread(number, "w"), message: "\(number)") }
                script.add(.register, observer: 1, target: RecordedStory.thread(target, "w"))
            }
        }
        func observers(_ order: [Int]) -> RecordedStory {
            script { script in
                for observer in order { script.add(.register, observer: observer) }
                script.add(.append, post: 1, observer: 2)
            }
        }
        for (one, other, explanation) in [
            (register(nil), register(nil, "Station"), ["The types of the senders differ."]),
            (
                register(Self.main), register(nil),
                ["The observer of Done is for main in A, for the posting thread in B."]
            ),
            (worker(2), worker(3), ["The targets differ.", "They are for w (thread 2) in A and w (thread 3) in B."]),
            (
                observers([2, 1]), observers([1, 2]),
                ["The observers differ.", "observer 2 in A corresponds to observer 1 in B."]
            ),
        ] {
            XCTAssertEqual(compare(one, other).differences.first?.explanation, explanation)
        }
    }

    // MARK: Several differences

    func testDifferencesAreFoundOneAfterTheOtherWithoutTheirConsequencesUpToANumber() throws {
        func run(_ says: String, delivers: [Int], last: String) -> RecordedStory {
            script { script in
                script.add(.log, message: says)
                for post in 1...4 {
                    script.add(.post, post: post)
                    script.add(.append, post: post, observer: 1, target: Self.a)
                }
                for post in delivers {
                    script.add(.deliver, on: Self.a, post: post, observer: 1)
                    script.add(.append, on: Self.a, nil, post: post + 10, target: Self.b)
                    script.add(.return, on: Self.a, post: post, observer: 1)
                }
                for post in delivers { script.handle(post + 10, by: nil, on: Self.b) }
                script.add(.log, on: Self.b, message: last)
            }
        }
        let (one, other) = (
            run("1", delivers: [1, 2, 3, 4], last: "x"), run("2", delivers: [1, 4], last: "y")
        )
        // The blocks that the missing handlers would have performed are not reported.
        let found = compare(one, other).differences
        XCTAssertEqual(found.map(\.first.line), [1, 13, 16, 30])
        XCTAssertEqual(found.map(\.reason), [.message, .post, .post, .message])
        let limited = compare(one, other) { $0.maximumDifferences = 2 }
        XCTAssertEqual(limited.differences.map(\.first.line), [1, 13])
        let report = ComparisonReport(limited, maximumDifferences: 2)
        let paragraphs = report.description.split(separator: "\n\n")
        XCTAssertEqual(paragraphs.count, 3)
        XCTAssertTrue(paragraphs[1].hasPrefix("Later differences, which may be consequences of the first:\n"))
        XCTAssertTrue(paragraphs[1].contains("\n  A:13  a "))
        XCTAssertTrue(report.description.hasSuffix("There may be more differences. See --differences."))
        XCTAssertTrue(try JSONText.of(report).contains(#"{"differences":[{"#))
    }

    func testAfterARecordThatOnlyOneRunHasTheRestIsCompared() {
        let one = log("a", "b", "c", "d", "e")
        for (first, second, lines) in [
            (one, log("a", "x", "y", "b", "c", "d", "z"), [2, 5]), (log("a", "x", "b"), log("a", "b"), [2]),
            (one, log("a", "b", "x", "d", "e"), [3]),
        ] {
            XCTAssertEqual(compare(first, second).differences.map(\.first.line), lines)
        }
    }

    // MARK: Foundation

    func testTheOrderInWhichAFoundationPostCallsItsObserversIsChanceAndNothingElseIs() {
        /// Each post is handled in one order; the handler of one observer posts another.
        func run(_ orders: [Int]..., poster: Int = 2, on thread: ThreadIdentity = RecordedStory.main) -> Recording {
            RecordedStory.complete { story in
                for observer in 1...3 { story.addFoundationObserver(observer) }
                var post = 0
                for order in orders {
                    post += 1
                    let outer = post
                    story.beginFoundationPost(outer)
                    for observer in order {
                        story.add(.deliver, on: thread, nil, post: outer, observer: observer, foundation: .init())
                        if observer == poster {
                            post += 1
                            story.postToFoundation(post, from: thread, "Nested")
                        }
                        story.add(.return, on: thread, nil, post: outer, observer: observer, foundation: .init())
                    }
                    story.endFoundationPost(outer, count: order.count)
                }
            }
        }
        let (one, worker) = (run([1, 2, 3], [1, 2, 3]), RecordedStory.worker)
        for (first, second, isSame) in [
            (one, run([3, 1, 2], [2, 3, 1]), true), (run([1, 2, 3], on: worker), run([2, 1, 3], on: worker), true),
            (one, run([1, 2, 3], [2, 3]), false), (run([1, 2, 3]), run([1, 2, 3], poster: 1), false),
            (run([1, 2, 3]), run([1, 2, 3], on: worker), false),
        ] {
            XCTAssertEqual(RunComparison(first, second).isSame, isSame)
        }
    }
}
