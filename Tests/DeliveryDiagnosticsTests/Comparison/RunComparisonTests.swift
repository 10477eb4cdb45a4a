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

final class RunComparisonTests: XCTestCase {
    /// Compares two stories, A and B, that end with an exit unless they say how they end.
    private func compare(_ first: String, _ second: String, _ options: RunComparison.Options = .init()) -> RunComparison
    {
        let recordings = [("A", first), ("B", second)].map { name, story in
            RecordedStory(story.contains("end - ") ? story : story + "; end - !exit").recording(name)
        }
        return RunComparison(recordings[0], recordings[1], options: options)
    }

    private func compare(_ first: RecordedStory, _ second: RecordedStory) -> RunComparison {
        RunComparison(first.recording("A"), second.recording("B"))
    }

    private func script(_ write: (inout RecordedStory) -> Void) -> RecordedStory {
        var script = RecordedStory()
        write(&script)
        script.end()
        return script
    }

    // MARK: First differences

    private static let handed = "1-3: hand #* o1"
    private static let busy = """
        wait; hand #4 o9 >worker; signal >worker; worker drain; worker drain; handle #4 o9; waitEnd
        log 'made 0x7f00aa5400c0 of 0x10 by {number = 2, name = worker}'; remove o9 n1; worker threadEnd
        """

    /// Two stories, and what is said first of them; nil if they are the same.
    private static let answers: [(String, String, String?)] = [
        // Deliveries of two threads may interleave, those of one may not change their order.
        (
            "t2 hand #1 o1; t2 hand #2 o1; t3 hand #3 o1; t3 hand #4 o1; handle #1 o1; handle #2 o1; handle #3 o1; handle #4 o1",
            "t2 hand #1 o1; t2 hand #2 o1; t3 hand #3 o1; t3 hand #4 o1; handle #3 o1; handle #1 o1; handle #4 o1; handle #2 o1",
            nil
        ),
        (
            handed + "; 1-3: handle #* o1", handed + "; handle #1 o1; handle #3 o1; handle #2 o1",
            "In A #2 for observer 1 comes before #3 for observer 1, in B #2 for observer 1 after #3 for observer 1."
        ),
        (
            handed + "; 1-3: handle #* o1", handed + "; handle #1 o1; handle #3 o1",
            "In B #2 for observer 1 was not delivered and has no other outcome."
        ),
        (
            handed + "; handle #1 o1", handed + "; 1-2: handle #* o1",
            "In A #2 for observer 1 was not delivered and has no other outcome."
        ),
        (
            "add o1; hand #1 o1; worker deliver #1 o1", "add o1; hand #1 o1; other deliver #1 o1",
            "Done is handled on worker in A, on other in B.\n"
                + "What the handler shares with other code may be used by two threads.\n"
                + "  A:4  worker deliver #1 Done observer 1; posted at Demo/main.swift:1001; observed at Demo/main.swift:1\n"
                + "  B:4  other deliver #1 Done observer 1; posted at Demo/main.swift:1001; observed at Demo/main.swift:1"
        ),
        (
            "hand #1 o1; worker deliver #1 o1", "hand #1 o1; worker cancel #1 o1",
            "In B #1 for observer 1 was cancelled on worker."
        ),
        (
            "hand #1 o1; worker deliver #1 o1", "hand #1 o1; worker targetGone #1 o1",
            "In B #1 for observer 1 lost its target thread on worker."
        ),
        (
            "hand #1 o1; worker deliver #1 o1", "hand #1 o1; worker drop #1 o1",
            "In B #1 for observer 1 was dropped on worker."
        ),
        // Numbers of signals and drains, times and addresses are chance.
        (
            "hand #1 o1 >worker; handle #1 o1; log 'made 0x55d0c8a7f2b0 of 0x10 by {number = 2, name = worker}'; remove o1 n0",
            busy, nil
        ),
        ("log 'status 0x10'", "log 'status 0x11'", "The messages differ."),
        ("log '{number = 2, name = a}'", "log '{number = 2, name = c}'", "The messages mention different threads."),
        ("log '{number = 1, name = main}'", "log '{number = 2, name = a}'", "The messages mention different threads."),
        ("post #1 n2", "post #1 n3", "The counts differ.\nA handler may be called in one run only."),
        ("post #1 n2 /window", "post #1 n2 /panel", "The types of the senders differ."),
        (
            "append #1 o1 >worker", "append #1 o1 >other",
            "They are for worker (thread 2) in A and other (thread 3) in B."
        ),
        ("targetGone #1 !notStarted", "targetGone #1", "The details differ."),
        ("end - !exit", "end - !stopped", nil),
        ("end - !exit", "end - !signal11", "All else is the same, but the runs ended in different ways."),
        ("end - !signal6", "end - !signal11", "All else is the same, but the runs ended in different ways."),
        ("log 'x'; log 'y'", "log 'x'", "In B main does nothing further on its own."),
        ("add o2 >main", "add o2 %poster", "The observer of Done is for main in A, for the posting thread in B."),
        (
            "register o2; register o1; append #1 o2", "register o1; register o2; append #1 o2",
            "observer 2 in A corresponds to observer 1 in B."
        ),
    ]

    // MARK: Threads and removals

    private static func posted(by thread: String) -> String {
        "register o1; 1-2: \(thread) post #* n1 & \(thread) deliver #* o1 & \(thread) post #9* Next n0 & \(thread) return #* o1"
    }

    /// Observer 2 of two is removed before the post, or after it.
    private static func removed(early: Bool, by thread: String) -> String {
        early
            ? "add o1; add o2; \(thread) remove o2; hand #1 o1; handle #1 o1"
            : "add o1; add o2; hand #1 o1,2; handle #1 o1; handle #1 o2; \(thread) remove o2"
    }

    /// The same with handlers on the posting thread, of a recording that does not say which observers a post has.
    private static func removedByAnother(early: Bool, _ sender: String = "/window") -> String {
        let post = "post #1 n1 \(sender); deliver #1 o1; return #1 o1; postEnd #1 n1"
        return "register o1; register o2; " + (early ? "worker remove o2; \(post)" : "\(post); worker remove o2")
    }

    private static func removedOfFoundation(early: Bool) -> String {
        "register o1 ^; register o2 ^; "
            + (early ? "worker remove o2 ^; fpost #1 o1" : "fpost #1 o1,2; worker remove o2 ^")
    }

    private static let otherThreads: [(String, String, String?)] = [
        (posted(by: "main"), posted(by: "worker"), "Done is posted by main in A, by worker in B."),
        (
            "add o1 >main; 1-2: post #* n1 & deliver #* o1 & return #* o1", "add o1; 1-2: give #* o1",
            "The observer of Done is for main in A, for worker in B."
        ),
        (
            "register o1; 1-2: give #* o1", "register o1; 1-2: post #* n1 & deliver #* o1 & return #* o1",
            "Done is handled on worker in A, on main in B."
        ),
        (
            "log 'start'; worker log 'begin'; log 'saved'; log 'end'",
            "log 'start'; worker log 'begin'; worker log 'saved'; log 'end'",
            "The message is logged on main in A, on worker in B."
        ),
        // On main, the post of the other run is where the removal is in this one.
        (
            removed(early: true, by: "main"), removed(early: false, by: "main"),
            "In A observer 2 of Done is removed before the post of #1 (line 3 of B), in B after that."
        ),
        (
            removed(early: false, by: "worker"), removed(early: true, by: "worker"),
            "In B observer 2 of Done is removed before the post of #1 (line 4 of B), in A after that."
        ),
        // When another thread removes an observer is chance, and explains only what follows from it.
        (removedByAnother(early: true), removedByAnother(early: false), nil),
        (
            removedByAnother(early: true), removedByAnother(early: false, "/panel"),
            "the runs differ\nThe types of the senders differ.\n"
        ),
        (
            removedOfFoundation(early: true), removedOfFoundation(early: false),
            "In A observer 2 of Done is removed before the post of #1 (line 4 of A), in B after that."
        ),
        (
            removedOfFoundation(early: false), removedOfFoundation(early: true),
            "In B observer 2 of Done is removed before the post of #1 (line 4 of B), in A after that."
        ),
    ]

    func testWhatIsSaidFirstOfTwoRunsIsRight() {
        for (one, other, answer) in Self.answers + Self.otherThreads {
            let comparison = compare(one, other)
            XCTAssertEqual(comparison.isSame, answer == nil, "\(one) | \(other): \(comparison.text)")
            let first = comparison.text.components(separatedBy: "Later differences")[0]
            XCTAssertTrue(answer.map(first.contains) ?? true, "\(one) | \(other): \(comparison.text)")
        }
    }

    func testAfterARecordThatOnlyOneRunHasTheRestIsCompared() {
        func log(_ messages: String) -> String { messages.map { "log '\($0)'" }.joined(separator: ";") }
        for (first, second, lines) in [
            ("abcde", "axybcdz", [2, 5]), ("axb", "ab", [2]), ("abcde", "abxde", [3]),
        ] {
            XCTAssertEqual(compare(log(first), log(second)).differences.map(\.first.line), lines)
        }
    }

    func testDifferencesAreFoundOneAfterTheOtherWithoutTheirConsequencesUpToANumber() throws {
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
        XCTAssertEqual(found.map(\.first.line), [1, 13, 16, 30])
        XCTAssertEqual(found.map(\.reason), [.message, .post, .post, .message])
        var options = RunComparison.Options()
        options.maximumDifferences = 2
        let report = ComparisonReport(compare(one, other, options), maximumDifferences: 2)
        let paragraphs = report.description.split(separator: "\n\n")
        XCTAssertEqual(paragraphs.count, 3)
        XCTAssertTrue(paragraphs[1].hasPrefix("Later differences, which may be consequences of the first:\n"))
        XCTAssertTrue(paragraphs[1].contains("\n  A:13  worker "))
        XCTAssertTrue(report.description.hasSuffix("There may be more differences. See --differences."))
        XCTAssertTrue(try JSONText.of(report).contains(#"{"differences":[{"#))
    }

    // MARK: Selection

    func testIgnoredNotificationsAreNotComparedNorWhatTheirHandlersDo() {
        func run(_ ticks: Int) -> String {
            "11-\(10 + ticks): hand #* o2 Tick & worker deliver #* o2 Tick & worker log '*' & worker return #* o2 Tick; "
                + "give #1 o1"
        }
        XCTAssertFalse(compare(run(2), run(3)).isSame)
        var options = RunComparison.Options()
        options.ignored = ["Tick"]
        XCTAssertTrue(compare(run(2), run(3), options).isSame)
    }

    func testOnlyTheSelectedNotificationsOrThreadAreCompared() throws {
        func run(_ message: String, posts: Bool = true) -> String {
            "hand #1 o1 Tick; worker deliver #1 o1 Tick; worker log '\(message)'; "
                + (posts
                    ? "worker hand #2 o2 >other; worker return #1 o1 Tick; other handle #2 o2"
                    : "worker return #1 o1 Tick")
        }
        let (x, y, without) = (run("x"), run("y"), run("x", posts: false))
        // The handlers that post the selected notifications are not compared, but still tell them apart.
        for (one, other, name, thread, isSame) in [
            (x, y, nil, nil, false), (x, y, "Done", nil, true), (x, y, "Tick", nil, true), (x, y, nil, "other", true),
            (x, y, nil, "worker", false), (x, without, "Done", nil, false), (x, without, "Tick", nil, true),
        ] as [(String, String, String?, String?, Bool)] {
            let found = compare(one, other, try selecting(RecordingFilter(name: name, thread: thread), one, other))
            XCTAssertEqual(found.isSame, isSame, "\(name ?? "") \(thread ?? ""): \(found.text)")
        }
        for filter in [RecordingFilter(name: "Tock"), RecordingFilter(thread: "c")] {
            XCTAssertThrowsError(try selecting(filter, x, y))
        }
    }

    private func selecting(_ filter: RecordingFilter, _ one: String, _ other: String) throws -> RunComparison.Options {
        var options = RunComparison.Options()
        try options.select(filter, of: RecordedStory(one).recording, RecordedStory(other).recording)
        return options
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
        let (ring, rings, pairs) = ([1, 2, 3, 4, 5, 0], [1, 2, 0, 4, 5, 3], (0..<24).map { $0 ^ 1 })
        for (next, order) in [
            (pairs, Array((0..<24).reversed())), (ring, [3, 1, 5, 0, 2, 4]), (rings, [3, 1, 5, 0, 2, 4]),
        ] {
            let found = compare(self.rings(next, order: Array(next.indices)), self.rings(next, order: order))
            XCTAssertTrue(found.isSame, found.text)
            XCTAssertEqual(found.threads, next.count)
        }
        // A ring of six threads and two rings of three, in which all threads look alike.
        let undecided = compare(self.rings(ring, order: Array(0..<6)), self.rings(rings, order: Array(0..<6)))
        XCTAssertTrue(undecided.isUndecided, undecided.text)
        XCTAssertTrue(undecided.text.contains("Give the threads names to avoid this"))
    }

    func testRunsThatAreKnownToDifferAreNeverUndecided() {
        let runs = ["x", "y"].map { fifth in
            script { script in
                for n in 2..<9 { script.add(.log, on: RecordedStory.thread(n), message: n == 5 ? fifth : "x") }
            }
        }
        let reason = compare(runs[0], runs[1]).differences.first?.reason
        XCTAssertTrue(reason == .message || reason == .onlyInFirst)
    }

    func testThreadsOfOneNameAreShownWithTheirNumbers() {
        func run(_ target: Int) -> RecordedStory {
            script { script in
                for number in 2...3 { script.add(.log, on: RecordedStory.thread(number, "w"), message: "\(number)") }
                script.add(.register, observer: 1, target: RecordedStory.thread(target, "w"))
            }
        }
        XCTAssertEqual(
            compare(run(2), run(3)).differences.first?.explanation,
            ["The targets differ.", "They are for w (thread 2) in A and w (thread 3) in B."])
    }

    func testTheThreadsOfAProcessCorrespondToThreadsOfOneProcess() {
        func run(_ messages: [(Int32, String)]) -> RecordedStory {
            var script = RecordedStory()
            for (process, message) in messages {
                script.process = ProcessIdentity(id: process, name: "p")
                script.add(.log, message: message)
                script.add(.log, on: RecordedStory.worker, message: message)
                script.end()
            }
            return script
        }
        XCTAssertTrue(compare(run([(7, "x"), (8, "y")]), run([(3, "y"), (4, "x")])).isSame)
        XCTAssertFalse(compare(run([(7, "x"), (8, "y")]), run([(3, "x"), (3, "y")])).isSame)
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
