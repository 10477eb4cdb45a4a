import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// Findings about order, depth, queues and chains of posts.
extension DiagnosisTests {
    func testOnePostersNotificationsReachOneObserverInAnotherOrder() {
        func story(_ order: [Int], by thread: String = "main") -> String {
            "add o1; hand #1 o1; \(thread) hand #2 o1; worker handle #\(order[0]) o1; worker handle #\(order[1]) o1"
        }
        expect(
            "problem overtaken 2 6 8", says: "once a later post was handled before an earlier one",
            in: story([2, 1]), notIn: story([1, 2]))
        expect("problem overtaken 2 6 8", in: story([2, 1]), notIn: story([2, 1], by: "other"))
        func nested(_ post: String) -> String {
            """
            1-2: add o* >main; post #1 n2; deliver #1 o1 >main
            \(post); return #1 o1; main handle #1 o2
            """
        }
        expect(
            "problem overtaken 3 6 9", says: "an earlier one, although a handler of the earlier one posted it.",
            in: nested("post #2 n1; main handle #2 o2"), notIn: nested(""))
        func policy(_ flag: String) -> String { "add o1 >main; post #1 n1; deliver #1 o1 >main \(flag); return #1 o1" }
        expect("note overtaken 1 3", in: policy("%overtakes"), notIn: policy(""))
    }

    func testAFloodIsReportedWithItsTimeDepthAndPosters() {
        func story(_ count: Int) -> String { "add o1; 1-\(count): hand #* o1; 1-\(count): worker handle #* o1" }
        expect(
            "problem flood 3 25",
            says: "12 notifications were waiting for worker at the same time, 24 ms after the beginning",
            "depth over time: ·▁", "█", "(highest 12)", "1 of them: main posts Done at Demo/main.swift:1001",
            in: story(12), notIn: story(11), limits: DiagnosisLimits(depth: 11))
    }

    func testDropsByAnOverflowPolicyAreANoteWithThePolicy() {
        func story(_ outcome: String) -> String {
            "add o1; give #1 o1; hand #2 o1; \(outcome) #2 o1 n2 %dropNewest"
        }
        expect(
            "note dropped 1 8", says: "policy (dropNewest(2)) of observer 1 of Done dropped 1 of 2",
            in: story("drop"), notIn: story("cancel"))
    }

    func testWhatAPostingQueueNeverPostedIsAProblemWithTheReason() {
        let story = "add o1 >main; worker enqueue #1 >worker $asap"
        for (rest, reason) in [
            ("", "the thread recorded nothing after that"),
            ("; worker targetGone #1; worker threadEnd -", "the thread ended before that."),
        ] {
            let found = findings("\(story)\(rest); pass 1500ms")
            XCTAssertEqual(titles(found), ["problem enqueuedNeverPosted"])
            assertSays(found.first, "Done was enqueued once in a PostingQueue on worker", reason)
        }
        var pool = recording("\(story); pass 1500ms")
        for thread in pool.threads.indices { pool.threads[thread].isInPool = true }
        assertSays(Diagnosis(pool).findings.first, "belongs to a Dispatch pool, and runs no run loop")
    }

    func testEachKindOfFaultIsReportedWithItsCountAfterAHundredOfAnotherKind() {
        let findings = findings("add o1; 1-100: cancel #* o1; give #900 o1; cancel #900 o1")
        XCTAssertEqual(findings.map(\.kind), [.unaccounted, .unaccounted])
        assertSays(findings.first, "Not accounted for, 100 times: ")
        assertSays(findings.last, "has two outcomes")
    }

    // MARK: Chains

    /// An observer that posts the next notification in its handler, repeatedly, directly or through another observer.
    private func chain(_ length: Int, isGoing: Bool, throughAnother: Bool = false) -> String {
        let calls = (1...length).map { post in
            let isOther = throughAnother && post.isMultiple(of: 2)
            let (this, next) =
                isOther || !throughAnother
                ? (isOther ? "other" : "worker", "o1 Ping >worker") : ("worker", "o2 Pong >other")
            let own = isOther ? "o2 Pong" : "o1 Ping"
            return "\(this) deliver #\(post) \(own) >\(this);"
                + (post < length || isGoing ? "\(this) hand #\(post + 1) \(next);" : "")
                + "\(this) return #\(post) \(own)"
        }
        return "add o1 Ping; \(throughAnother ? "add o2 Pong >other;" : "") hand #1 o1 Ping >worker;"
            + calls.joined(separator: ";")
    }

    func testAHandlerThatPostsToItselfWithoutEndIsAProblemAndVeryOftenIsANote() {
        expect(
            "problem selfPosting 1 37 40",
            says: "observer 1 of Ping causes its own next call, 10 times in a row, and still does when",
            in: chain(10, isGoing: true), notIn: chain(10, isGoing: false))
        expect(
            "note selfPosting 1 397 400", says: "100 times in a row.", in: chain(100, isGoing: false),
            notIn: chain(99, isGoing: false), limits: DiagnosisLimits(chain: 99))
        // Blocks that wait are found beside it.
        let blocks = findings("100-102: append - #* >other; \(chain(12, isGoing: true))")
        XCTAssertEqual(titles(blocks), ["problem selfPosting", "problem backlog"])
        assertSays(blocks.last, "3 of 3 blocks wait for other")
    }

    func testTwoObserversThatPostToEachOtherAreReportedOnce() {
        let endless = findings(chain(60, isGoing: true, throughAnother: true))
        XCTAssertEqual(titles(endless), ["problem selfPosting"])
        assertSays(endless.first, "observer 1 of Ping causes its own next call through observer 2 of Pong, 30 times")
        XCTAssertEqual(titles(findings(chain(250, isGoing: false, throughAnother: true))), ["note selfPosting"])
    }

    func testAHandlerThatEnqueuesToItselfIsFoundThroughAPostingQueueAndAFoundationCenter() {
        // A notification is enqueued, posted on the queue's thread, and captured with a number of its own.
        let steps = (0..<12).map { step in
            let (queued, captured) = (step * 2 + 1, step * 2 + 2)
            return """
                post #\(queued); capture #\(captured) n1 ~\(queued); deliver #\(captured) o1 >main
                enqueue #\(queued + 2) >main @3; return #\(captured) o1
                """
        }
        let findings = findings(
            "add o1 >main; enqueue #1 >main @3; \(steps.joined(separator: ";"));"
                + "post #25; capture #26 n1 ~25; append #26 o1 >main")
        XCTAssertEqual(titles(findings), ["problem selfPosting"])
        assertSays(findings.first, "12 times in a row, and still does when")
    }

    func testAHandlerThatEndsTheProgramIsNotStuckUnlessTheProgramEndsByASignal() {
        let nested = "add o1 >main; 1-20: post #* n1 & deliver #* o1 >main"
        XCTAssertEqual(titles(findings(nested)), [])
        XCTAssertEqual(
            findings(nested, ends: "end - !signal11").map(\.kind), [.selfPosting, .endedInHandler])
    }
}
