import DeliveryRecording
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

final class RunComparisonTests: XCTestCase {
    private static let (main, a, b) = (
        RecordedStory.main, RecordedStory.thread(2, "a"), RecordedStory.thread(3, "b")
    )

    private func script(_ write: (inout RecordedStory) -> Void) -> RecordedStory {
        var script = RecordedStory()
        write(&script)
        return script
    }

    private func compare(
        _ first: RecordedStory, _ second: RecordedStory, _ change: (inout RunComparison.Options) -> Void = { _ in }
    ) -> RunComparison {
        var options = RunComparison.Options()
        change(&options)
        // Without an end, a recording is incomplete.
        var (first, second) = (first, second)
        if !first.records.contains(where: { $0.stage == .end }) { first.end() }
        if !second.records.contains(where: { $0.stage == .end }) { second.end() }
        return RunComparison(first.recording("A"), second.recording("B"), options: options)
    }

    private func differences(
        _ first: RecordedStory, _ second: RecordedStory, _ change: (inout RunComparison.Options) -> Void = { _ in }
    ) -> [RunDifference] {
        guard case .different(let differences) = compare(first, second, change).outcome else { return [] }
        return differences
    }

    private func difference(_ first: RecordedStory, _ second: RecordedStory) -> RunDifference? {
        differences(first, second).first
    }

    private func areSame(
        _ first: RecordedStory, _ second: RecordedStory, _ change: (inout RunComparison.Options) -> Void = { _ in }
    ) -> Bool {
        guard case .same = compare(first, second, change).outcome else { return false }
        return true
    }

    // MARK: Compared properties

    func testDeliveriesFromTwoThreadsMayInterleaveDeliveriesFromOneMayNotChangeOrder() {
        func run(_ order: [Int]) -> RecordedStory {
            script { script in
                for (thread, posts) in [(Self.a, [1, 2]), (Self.b, [3, 4])] {
                    for post in posts {
                        script.add(.post, on: thread, post: post)
                        script.add(.append, on: thread, post: post, observer: 1, target: Self.main)
                    }
                }
                for post in order { script.handle(post, by: 1, on: Self.main) }
            }
        }
        XCTAssertTrue(areSame(run([1, 2, 3, 4]), run([3, 1, 4, 2])))
        XCTAssertFalse(areSame(run([1, 2, 3, 4]), run([3, 1, 4, 2])) { $0.isExact = true })
        let swapped = differences(run([1, 2, 3, 4]), run([1, 2, 4, 3]))
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
            ComparisonReport(compare(run(handledOn: Self.a), run(handledOn: Self.b))).description,
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
            script { script in
                for post in 1...3 {
                    script.add(.post, post: post)
                    script.add(.append, post: post, observer: 1, target: Self.a)
                }
                for post in delivered { script.handle(post, by: 1, on: Self.a) }
            }
        }
        for (first, second, line, otherLine, name) in [
            ([1, 2, 3], [1, 3], 9, 9, "B"), ([1, 3], [1, 2, 3], 9, 9, "A"), ([1, 2], [1], 9, nil, "B"),
            ([1], [1, 2], nil, 9, "A"),
        ] as [([Int], [Int], Int?, Int?, String)] {
            let found = differences(run(first), run(second))
            XCTAssertEqual(found.count, 1)
            XCTAssertEqual([found.first?.first.line, found.first?.second.line], [line, otherLine])
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
            (DeliveryStage.drop, "was dropped"), (.cancel, "was cancelled"), (.coalesce, "was coalesced"),
            (.targetGone, "lost its target thread"),
        ] {
            let difference = difference(run(.deliver), run(outcome))
            XCTAssertEqual(difference?.reason, .stage)
            XCTAssertEqual(difference?.explanation, ["In B #1 for observer 1 \(words) on a."])
        }
    }

    func testTheNumberOfSignalsAndDrainsTimesAndAddressesMayDiffer() {
        let plain = script { script in
            script.deliver(1, to: [1], on: Self.a)
            script.add(.log, message: "made 0x55d0c8a7f2b0 of 0x10 by {number = 2, name = a}")
            script.add(.remove, observer: 1, count: 0)
        }
        let busy = script { script in
            script.add(.wait)
            script.add(.post, post: 4, count: 1)
            script.add(.append, post: 4, observer: 9, target: RecordedStory.thread(5, "a"))
            script.add(.signal, target: RecordedStory.thread(5, "a"))
            script.add(.drain, on: RecordedStory.thread(5, "a"))
            script.add(.drain, on: RecordedStory.thread(5, "a"))
            script.handle(4, by: 9, on: RecordedStory.thread(5, "a"))
            script.add(.waitEnd)
            script.add(.log, message: "made 0x7f00aa5400c0 of 0x10 by {number = 5, name = a}")
            script.add(.remove, observer: 9, count: 1)
            script.add(.threadEnd, on: RecordedStory.thread(5, "a"))
            script.add(.end, reason: .exit)
        }
        XCTAssertTrue(areSame(plain, busy))
        XCTAssertFalse(areSame(plain, busy) { $0.isExact = true })
    }

    func testMessagesNamesNumbersOfObserversSenderTypesAndTargetsAreCompared() {
        for (one, other, reason) in [
            ("status 0x10", "status 0x11", RunDifference.Reason.message),
            ("{number = 2, name = a}", "{number = 2, name = c}", .mention),
            ("{number = 1, name = main}", "{number = 2, name = a}", .mention),
        ] {
            let runs = [one, other].map { message in script { $0.add(.log, message: message) } }
            XCTAssertEqual(difference(runs[0], runs[1])?.reason, reason)
        }
        func post(_ count: Int, _ sender: UInt64, _ type: String) -> RecordedStory {
            script { $0.add(.post, post: 1, count: count, sender: .init(identifier: sender, type: type)) }
        }
        XCTAssertTrue(areSame(post(2, 1, "Window"), post(2, 2, "Window")))
        XCTAssertEqual(difference(post(2, 1, "Window"), post(3, 1, "Window"))?.reason, .count)
        XCTAssertEqual(difference(post(2, 1, "Window"), post(2, 1, "Panel"))?.reason, .sender)
        let targets = [Self.a, Self.b].map { target in
            script {
                $0.add(.post, post: 1)
                $0.add(.append, post: 1, observer: 1, target: target)
            }
        }
        XCTAssertEqual(difference(targets[0], targets[1])?.reason, .target)
        let reasons = [DeliveryRecord.Reason.notStarted, nil].map { reason in
            script { $0.add(.targetGone, post: 1, reason: reason) }
        }
        XCTAssertEqual(difference(reasons[0], reasons[1])?.reason, .details)
    }

    func testTheExplanationTellsRecordsApartThatReadTheSame() {
        func register(_ target: ThreadIdentity?, _ type: String? = nil) -> RecordedStory {
            let sender = type.map { DeliveryRecord.Sender(identifier: 1, type: $0) }
            return script { $0.add(.register, observer: 2, target: target, sender: sender) }
        }
        let senders = difference(register(nil), register(nil, "Station"))
        XCTAssertEqual(
            [senders?.first.text, senders?.second.text],
            ["main register Done observer 2", "main register Done observer 2, from Station 0x1"])
        XCTAssertEqual(senders?.explanation, ["The types of the senders differ."])
        XCTAssertEqual(
            difference(register(Self.main), register(nil))?.explanation,
            ["The observer of Done is for main in A, for the posting thread in B."])
        // Threads with one name are shown with their numbers.
        let workers = [2, 3].map { target in
            script { script in
                for number in 2...3 {
                    script.add(.log, on: RecordedStory.thread(number, "w"), message: "\(number)")
                }
                script.add(.register, observer: 1, target: RecordedStory.thread(target, "w"))
            }
        }
        XCTAssertEqual(
            difference(workers[0], workers[1])?.explanation,
            ["The targets differ.", "They are for w (thread 2) in A and w (thread 3) in B."])
        let orders = [[2, 1], [1, 2]].map { registered in
            script { script in
                for observer in registered { script.add(.register, observer: observer) }
                script.add(.append, post: 1, observer: 2)
            }
        }
        XCTAssertEqual(
            difference(orders[0], orders[1])?.explanation,
            ["The observers differ.", "observer 2 in A corresponds to observer 1 in B."])
    }

    func testRunsThatEndedInDifferentWaysAreDifferent() {
        func run(_ end: DeliveryRecord.Reason) -> RecordedStory { script { $0.add(.end, reason: end) } }
        XCTAssertTrue(areSame(run(.exit), run(.stopped)))
        XCTAssertEqual(difference(run(.exit), run(.signal(11)))?.reason, .end)
        XCTAssertEqual(difference(run(.signal(6)), run(.signal(11)))?.reason, .end)
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
                script.add(.count, observer: 1, counters: DeliveryCounters(delivered: delivers.count))
            }
        }
        let (one, other) = (
            run("1", delivers: [1, 2, 3, 4], last: "x"), run("2", delivers: [1, 4], last: "y")
        )
        // The blocks that the missing handlers would have performed are not reported, nor are the counters.
        let found = differences(one, other)
        XCTAssertEqual(found.map(\.first.line), [1, 13, 16, 30])
        XCTAssertEqual(found.map(\.reason), [.message, .post, .post, .message])
        XCTAssertEqual(differences(one, other) { $0.maximumDifferences = 2 }.map(\.first.line), [1, 13])
        let report = ComparisonReport(compare(one, other) { $0.maximumDifferences = 2 }, maximumDifferences: 2)
        let paragraphs = report.description.split(separator: "\n\n")
        XCTAssertEqual(paragraphs.count, 3)
        XCTAssertTrue(paragraphs[1].hasPrefix("Later differences, which may be consequences of the first:\n"))
        XCTAssertTrue(paragraphs[1].contains("\n  A:13  a "))
        XCTAssertTrue(report.description.hasSuffix("There may be more differences. See --differences."))
        XCTAssertTrue(try JSONText.of(report).contains(#"{"differences":[{"#))
    }

    func testAfterARecordThatOnlyOneRunHasTheRestIsCompared() {
        func run(_ messages: String...) -> RecordedStory {
            script { script in for message in messages { script.add(.log, message: message) } }
        }
        let one = run("a", "b", "c", "d", "e")
        XCTAssertEqual(differences(one, run("a", "x", "y", "b", "c", "d", "z")).map(\.second.line), [2, 7])
        XCTAssertEqual(differences(run("a", "x", "b"), run("a", "b")).map(\.first.line), [2])
        XCTAssertEqual(differences(one, run("a", "b", "x", "d", "e")).map(\.first.line), [3])
    }

    func testIgnoredNotificationsAreNotComparedNorWhatTheirHandlersDo() {
        func run(_ ticks: Int) -> RecordedStory {
            script { script in
                for tick in 0..<ticks {
                    script.add(.post, "Tick", post: 10 + tick)
                    script.add(.append, "Tick", post: 10 + tick, observer: 2, target: Self.a)
                    script.add(.deliver, on: Self.a, "Tick", post: 10 + tick, observer: 2)
                    script.add(.log, on: Self.a, message: "tick \(tick)")
                    script.add(.return, on: Self.a, "Tick", post: 10 + tick, observer: 2)
                }
                script.deliver(1, to: [1], on: Self.a)
            }
        }
        XCTAssertFalse(areSame(run(2), run(3)))
        XCTAssertTrue(areSame(run(2), run(3)) { $0.ignored = ["Tick"] })
    }

    func testOnlyTheSelectedNotificationsOrThreadAreCompared() throws {
        func run(_ message: String, posts: Bool = true) -> Recording {
            let run = script { script in
                defer { script.end() }
                script.hand(1, to: [1], on: Self.a, "Tick")
                script.add(.deliver, on: Self.a, "Tick", post: 1, observer: 1)
                script.add(.log, on: Self.a, message: message)
                if posts {
                    script.add(.post, on: Self.a, post: 2, count: 1)
                    script.add(.append, on: Self.a, post: 2, observer: 2, target: Self.b)
                }
                script.add(.return, on: Self.a, "Tick", post: 1, observer: 1)
                if posts { script.handle(2, by: 2, on: Self.b) }
            }
            return run.recording("run")
        }
        func areSame(_ one: Recording, _ other: Recording, _ filter: RecordingFilter) throws -> Bool {
            var options = RunComparison.Options()
            try options.select(filter, of: one, other)
            guard case .same = RunComparison(one, other, options: options).outcome else { return false }
            return true
        }
        let (one, other, without) = (run("x"), run("y"), run("x", posts: false))
        XCTAssertFalse(try areSame(one, other, RecordingFilter()))
        // The handlers that post the selected notifications are not compared, but still tell them apart.
        for filter in [RecordingFilter(name: "Done"), RecordingFilter(name: "Tick"), RecordingFilter(thread: "b")] {
            XCTAssertTrue(try areSame(one, other, filter), "\(filter)")
        }
        XCTAssertFalse(try areSame(one, other, RecordingFilter(thread: "a")))
        XCTAssertFalse(try areSame(one, without, RecordingFilter(name: "Done")))
        XCTAssertTrue(try areSame(one, without, RecordingFilter(name: "Tick")))
        for wrong in [RecordingFilter(name: "Tock"), RecordingFilter(thread: "c")] {
            assertThrows(RecordingSelection.NothingSelected.self) { try areSame(one, other, wrong) }
        }
    }

    // MARK: Threads

    /// Threads without names that log a message each and then perform a block on another thread each.
    private func rings(_ next: [Int], order: [Int]) -> RecordedStory {
        script { script in
            for index in order { script.add(.log, on: RecordedStory.thread(index + 2), message: "hello") }
            for (post, index) in order.enumerated() {
                script.add(
                    .append, on: RecordedStory.thread(index + 2), nil, post: post + 1,
                    target: RecordedStory.thread(next[index] + 2))
            }
        }
    }

    func testThreadsWithoutNamesAreDistinguishedByTheThreadsTheyHandNotificationsTo() {
        let next = (0..<24).map { $0 ^ 1 }
        var generator = SeededGenerator(seed: 3)
        let outcome = compare(
            rings(next, order: Array(0..<24)), rings(next, order: (0..<24).shuffled(using: &generator)))
        guard case .same = outcome.outcome else {
            XCTFail("\(outcome)")
            return
        }
        XCTAssertEqual(outcome.threads, 24)
        // A ring of six threads and two rings of three, in which all threads look alike.
        let one = rings([1, 2, 3, 4, 5, 0], order: [0, 1, 2, 3, 4, 5])
        let two = rings([1, 2, 0, 4, 5, 3], order: [0, 1, 2, 3, 4, 5])
        guard case .undecided = compare(one, two).outcome else {
            XCTFail("decided")
            return
        }
        XCTAssertTrue(areSame(one, rings([1, 2, 3, 4, 5, 0], order: [3, 1, 5, 0, 2, 4])))
        XCTAssertTrue(areSame(two, rings([1, 2, 0, 4, 5, 3], order: [3, 1, 5, 0, 2, 4])))
    }

    func testRunsThatAreKnownToDifferAreNeverUndecided() {
        let runs = ["x", "y"].map { fifth in
            script { script in
                for n in 2..<9 { script.add(.log, on: RecordedStory.thread(n), message: n == 5 ? fifth : "x") }
            }
        }
        let outcome = compare(runs[0], runs[1]).outcome
        guard case .different(let differences) = outcome else {
            XCTFail("not different: \(outcome)")
            return
        }
        XCTAssertTrue([.message, .onlyInFirst].contains(differences[0].reason))
    }

    func testTheThreadsOfAProcessCorrespondToThreadsOfOneProcess() {
        func run(_ messages: [(Int32, String)]) -> RecordedStory {
            script { script in
                for (process, message) in messages {
                    script.process = ProcessIdentity(id: process, name: "p")
                    script.add(.log, message: message)
                    script.add(.log, on: Self.a, message: message)
                    script.end()
                }
            }
        }
        XCTAssertTrue(areSame(run([(7, "x"), (8, "y")]), run([(3, "y"), (4, "x")])))
        XCTAssertFalse(areSame(run([(7, "x"), (8, "y")]), run([(3, "x"), (3, "y")])))
    }

    func testAnEmptyRecordingEqualsOnlyAnEmptyOne() {
        let some = script { $0.add(.log, message: "x") }
        for isExact in [false, true] {
            XCTAssertTrue(areSame(RecordedStory(), RecordedStory()) { $0.isExact = isExact })
            XCTAssertFalse(areSame(some, RecordedStory()) { $0.isExact = isExact })
            XCTAssertFalse(areSame(RecordedStory(), some) { $0.isExact = isExact })
        }
    }
}
