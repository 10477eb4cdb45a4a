import DeliveryRecording
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

extension RunComparison {
    var isSame: Bool { outcome == .same }
}

final class RunComparisonTests: XCTestCase {
    /// Compares two stories, A and B, that end with an exit unless they say how they end.
    private func compare(
        _ first: String, _ second: String, ignored: Set<String> = [], maximum: Int = 5
    ) -> RunComparison {
        let recordings = [("A", first), ("B", second)].map { name, story in
            RecordedStory(story.hasPrefix("end - ") ? story : story + "; end - !exit").recording(name)
        }
        return RunComparison(recordings[0], recordings[1], ignored: ignored, maximum: maximum)
    }

    // MARK: First differences

    private static let handed = "1-3: hand #* o1"
    private static let busy = """
        wait; hand #4 o9 >worker; signal >worker; worker drain; worker drain; handle #4 o9; waitEnd
        log 'made 0x7f00aa5400c0 of 0x10 by {number = 2, name = worker}'; remove o9 n1; worker threadEnd
        """
    private static let fourHanded = "t2 hand #1 o1; t2 hand #2 o1; t3 hand #3 o1; t3 hand #4 o1; "

    private static func posted(by thread: String) -> String {
        "register o1; 1-2: \(thread) post #* n1 & \(thread) deliver #* o1 & \(thread) post #9* Next n0 & \(thread) return #* o1"
    }

    /// Another thread removes observer 2 before a post that calls its observers, or after it. Which they are is not
    /// said.
    private static func removed(early: Bool, _ sender: String = "/window") -> String {
        let post = "post #1 n1 \(sender); deliver #1 o1; return #1 o1; postEnd #1 n1"
        return "register o1; register o2; " + (early ? "worker remove o2; \(post)" : "\(post); worker remove o2")
    }

    /// Two stories, and what is said first of them; nil if they are the same.
    private static let answers: [(String, String, String?)] = [
        // Deliveries of two threads may interleave, those of one may not change their order.
        (
            fourHanded + "handle #1 o1; handle #2 o1; handle #3 o1; handle #4 o1",
            fourHanded + "handle #3 o1; handle #1 o1; handle #4 o1; handle #2 o1", nil
        ),
        (
            handed + "; 1-3: handle #* o1", handed + "; handle #1 o1; handle #3 o1; handle #2 o1",
            "This happens in another order.\nHandlers are called in another order."
        ),
        (
            handed + "; 1-3: handle #* o1", handed + "; handle #1 o1; handle #3 o1",
            "Only A has this record.\nA handler may be called in one run only.\n  A:9  worker deliver #2"
        ),
        (
            handed + "; handle #1 o1", handed + "; 1-2: handle #* o1",
            "Only B has this record.\nA handler may be called in one run only."
        ),
        (
            "hand #1 o1; worker deliver #1 o1", "hand #1 o1; worker cancel #1 o1",
            "The stages differ.\nA handler may be called in one run only."
        ),
        // Numbers of signals and drains, times and addresses are chance.
        (
            "hand #1 o1 >worker; handle #1 o1; log 'made 0x55d0c8a7f2b0 of 0x10 by {number = 2, name = worker}'; remove o1 n0",
            busy, nil
        ),
        ("log 'status 0x10'", "log 'status 0x11'", "The messages differ."),
        ("log '{number = 2, name = a}'", "log '{number = 2, name = c}'", "The messages differ."),
        ("log '{number = 1, name = main}'", "log '{number = 2, name = main}'", "The messages differ."),
        ("post #1 n2", "post #1 n3", "The counts differ.\nA handler may be called in one run only."),
        ("post #1 n2 /window", "post #1 n2 /panel", "The senders differ."),
        ("targetGone #1 !notStarted", "targetGone #1", "The details differ."),
        ("remove o1", "remove o1 !alreadyRemoved", "The details differ."), ("remove o1", "remove o1 !released", nil),
        ("end - !exit", "end - !stopped", nil),
        ("end - !exit", "end - !signal11", "All else is the same, but the runs ended in different ways."),
        ("end - !signal6", "end - !signal11", "All else is the same, but the runs ended in different ways."),
        ("log 'x'; log 'y'", "log 'x'", "Only A has this record.\n  A:2  main log \"y\"\n  B    (no counterpart)"),
        (
            "register o2; register o1; append #1 o2", "register o1; register o2; append #1 o2",
            "The observers differ.\n  A:3  main append #1 Done observer 2\n"
        ),
        // Work on another thread is said first.
        (
            "add o1; hand #1 o1; worker deliver #1 o1", "add o1; hand #1 o1; other deliver #1 o1",
            "Done is handled on worker in A, on other in B.\n"
                + "What the handler shares with other code may be used by two threads.\n"
                + "  A:4  worker deliver #1 Done observer 1; posted at Demo/main.swift:1001; observed at Demo/main.swift:1\n"
                + "  B:4  other deliver #1 Done observer 1; posted at Demo/main.swift:1001; observed at Demo/main.swift:1"
        ),
        ("append #1 o1 >worker", "append #1 o1 >other", "Done is handled on worker in A, on other in B."),
        ("add o2 >main", "add o2 %poster", "Done gets an observer for main in A, for the posting thread in B."),
        (posted(by: "main"), posted(by: "worker"), "Done is posted by main in A, by worker in B."),
        (
            "add o1 >main; 1-2: post #* n1 & deliver #* o1 & return #* o1", "add o1; 1-2: give #* o1",
            "Done gets an observer for main in A, for worker in B."
        ),
        (
            "register o1; 1-2: give #* o1", "register o1; 1-2: post #* n1 & deliver #* o1 & return #* o1",
            "Done is handled on worker in A, on main in B."
        ),
        (
            "log 'start'; worker log 'begin'; log 'saved'; log 'end'",
            "log 'start'; worker log 'begin'; worker log 'saved'; log 'end'",
            "\"saved\" is logged by main in A, by worker in B."
        ),
        // When another thread removes an observer is chance.
        (removed(early: true), removed(early: false), nil),
        (removed(early: true), removed(early: false, "/panel"), "the runs differ\nThe senders differ.\n"),
        (
            "register o1 ^; register o2 ^; fpost #1 o1,2; worker remove o2 ^",
            "register o1 ^; register o2 ^; worker remove o2 ^; fpost #1 o1",
            "Only A has this record."
        ),
    ]

    func testWhatIsSaidFirstOfTwoRunsIsRight() {
        for (one, other, answer) in Self.answers {
            let comparison = compare(one, other)
            XCTAssertEqual(comparison.isSame, answer == nil, "\(one) | \(other): \(comparison)")
            let first = comparison.description.components(separatedBy: "Later differences")[0]
            XCTAssertTrue(answer.map(first.contains) ?? true, "\(one) | \(other): \(comparison)")
        }
    }

    func testDifferencesAreFoundOneAfterTheOtherWithoutTheirConsequencesUpToANumber() throws {
        func log(_ messages: String) -> String { messages.map { "log '\($0)'" }.joined(separator: ";") }
        for (first, second, lines) in [
            ("abcde", "axybcdz", [2, 5]), ("axb", "ab", [2]), ("abcde", "abxde", [3]),
        ] {
            XCTAssertEqual(compare(log(first), log(second)).differences.map(\.first.line), lines)
        }
        func run(_ says: String, delivers: [Int], last: String) -> String {
            let handlers = delivers.map {
                "worker deliver #\($0) o1; worker append - #\($0 + 10) >other; worker return #\($0) o1"
            }
            let blocks = delivers.map { "other deliver - #\($0 + 10); other return - #\($0 + 10)" }
            return (["log '\(says)'", "1-4: hand #* o1"] + handlers + blocks + ["other log '\(last)'"])
                .joined(separator: ";")
        }
        let (one, other) = (run("1", delivers: [1, 2, 3, 4], last: "x"), run("2", delivers: [1, 4], last: "y"))
        // The blocks that the missing handlers would have performed are not reported.
        let found = compare(one, other).differences
        XCTAssertEqual(found.map(\.first.line), [1, 13, 30])
        XCTAssertEqual(found.map(\.reason), [.message, .onlyInFirst, .message])
        let report = compare(one, other, maximum: 2)
        let paragraphs = report.description.split(separator: "\n\n")
        XCTAssertEqual(paragraphs.count, 4)
        XCTAssertEqual(paragraphs[1], "Later differences, which may be consequences of the first:")
        XCTAssertTrue(paragraphs[2].contains("\n  A:13  worker "))
        XCTAssertEqual(paragraphs[3], "There may be more differences. See --differences.")
        XCTAssertTrue(try JSONText.of(report).contains(#""differences":[{"#))
    }

    // MARK: Chance

    func testADifferenceOfARunInWhichAPolicyDroppedSomethingDecidesOnlyIfItIsOneOfThreads() {
        let outcomes = ["handle #1 o1", "coalesce #1 o1", "drop #1 o1"].map { "hand #1 o1; \($0)" }
        for other in outcomes.dropFirst() {
            for comparison in [compare(outcomes[0], other), compare(other, outcomes[0])] {
                XCTAssertEqual(comparison.outcome, .undecided)
                XCTAssertTrue(comparison.description.contains("To leave them out: --ignore Done"), "\(comparison)")
            }
            XCTAssertTrue(compare(other, other).isSame)
            XCTAssertEqual(
                compare(other + "; main log 'x'", other + "; worker log 'x'").differences.first?.reason, .thread)
        }
    }

    func testACopyWithOtherNumbersAndInterleavingIsTheSameAndOneChangedLineIsFound() {
        var generator = SeededGenerator(seed: 7)
        for round in 0..<TestRounds.rounds(20, stress: 500) {
            // What each of four threads without names does: it logs, or performs a block on another one, which logs.
            let programs = (0..<4).map { thread in
                (0..<Int.random(in: 1...5, using: &generator)).map { step -> (target: Int, text: String) in
                    (Int.random(in: 0..<4, using: &generator), "\(thread) does \(step)")
                }
            }
            func run(changed: String? = nil) -> Recording {
                RecordedStory.complete { story in
                    let threads = (2...5).shuffled(using: &generator).map { RecordedStory.thread($0) }
                    var (rest, mailboxes) = (programs.map { $0[...] }, Array(repeating: [(Int, String)](), count: 4))
                    var post = Int.random(in: 0...9, using: &generator)
                    while let thread = (0..<4).filter({ !rest[$0].isEmpty || !mailboxes[$0].isEmpty })
                        .randomElement(using: &generator)
                    {
                        let isHandling = rest[thread].isEmpty || Bool.random(using: &generator)
                        if isHandling, !mailboxes[thread].isEmpty {
                            let (post, text) = mailboxes[thread].removeFirst()
                            story.add(.deliver, on: threads[thread], nil, post: post)
                            story.add(.log, on: threads[thread], message: text)
                            story.add(.return, on: threads[thread], nil, post: post)
                        } else if let (target, step) = rest[thread].popFirst() {
                            let text = step == changed ? "changed" : step
                            post += 1
                            if target == thread {
                                story.add(.log, on: threads[thread], message: text)
                            } else {
                                story.add(.append, on: threads[thread], nil, post: post, target: threads[target])
                                mailboxes[target].append((post, text))
                            }
                        }
                    }
                }
            }
            let one = run()
            let (copy, changed) = (RunComparison(one, run()), RunComparison(one, run(changed: "2 does 0")))
            XCTAssertTrue(copy.isSame, "round \(round): \(copy)")
            let line = changed.differences.first?.first.text ?? ""
            XCTAssertTrue(line.contains("2 does 0"), "round \(round): \(changed)")
        }
    }

    func testAnIncompleteRecordingDecidesNothing() {
        let runs = ["log 'x'; log 'y'; end - !exit", "log 'x'"].map { RecordedStory($0).recording }
        for comparison in [RunComparison(runs[0], runs[1]), RunComparison(runs[1], runs[1])] {
            XCTAssertEqual(comparison.outcome, .undecided)
            XCTAssertTrue(
                comparison.description.contains(" is incomplete: there is no end record"), "\(comparison)")
        }
    }

    func testIgnoredNotificationsAreNotComparedNorWhatTheirHandlersDo() {
        func run(_ message: String) -> String {
            "hand #1 o1 Tick; worker deliver #1 o1 Tick; worker log '\(message)'; worker return #1 o1 Tick; give #3 o1"
        }
        XCTAssertFalse(compare(run("x"), run("y")).isSame)
        XCTAssertTrue(compare(run("x"), run("y"), ignored: ["Tick"]).isSame)
    }

    // MARK: Threads

    func testThreadsWithoutNamesAreDistinguishedByTheThreadsTheyHandNotificationsTo() {
        /// Threads without names that log a message each and then perform a block on another thread each.
        func rings(_ next: [Int], order: [Int]) -> Recording {
            RecordedStory.complete { script in
                for index in order { script.add(.log, on: RecordedStory.thread(index + 2), message: "hello") }
                for (post, index) in order.enumerated() {
                    script.add(
                        .append, on: RecordedStory.thread(index + 2), nil, post: post + 1,
                        target: RecordedStory.thread(next[index] + 2))
                }
            }
        }
        let (ring, two, pairs) = ([1, 2, 3, 4, 5, 0], [1, 2, 0, 4, 5, 3], (0..<24).map { $0 ^ 1 })
        for (next, order) in [
            (pairs, Array((0..<24).reversed())), (ring, [3, 1, 5, 0, 2, 4]), (two, [3, 1, 5, 0, 2, 4]),
        ] {
            let found = RunComparison(rings(next, order: Array(next.indices)), rings(next, order: order))
            XCTAssertTrue(found.isSame, "\(found)")
            XCTAssertEqual(found.threadCount, next.count)
        }
        // A ring of six threads and two rings of three, in which all threads look alike.
        let undecided = RunComparison(rings(ring, order: Array(0..<6)), rings(two, order: Array(0..<6)))
        XCTAssertEqual(undecided.outcome, .undecided)
        XCTAssertTrue(undecided.description.contains("Give the threads names to avoid this"), "\(undecided)")
        XCTAssertTrue(undecided.description.contains("The first difference found, which may be none:"), "\(undecided)")
    }

    func testTheThreadsOfAProcessCorrespondToThreadsOfOneProcess() {
        func run(_ messages: [(Int32, String)]) -> Recording {
            var script = RecordedStory()
            for (process, message) in messages {
                script.process = ProcessIdentity(id: process, name: "p")
                script.add(.log, message: message)
                script.add(.log, on: RecordedStory.worker, message: message)
                script.end()
            }
            return script.recording
        }
        XCTAssertTrue(RunComparison(run([(7, "x"), (8, "y")]), run([(3, "y"), (4, "x")])).isSame)
        XCTAssertFalse(RunComparison(run([(7, "x"), (8, "y")]), run([(3, "x"), (3, "y")])).isSame)
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
