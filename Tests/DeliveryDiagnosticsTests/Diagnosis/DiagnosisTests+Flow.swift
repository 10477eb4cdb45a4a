import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// Findings about order, depth and chains of posts.
extension DiagnosisTests {
    func testOnePostersNotificationsReachOneObserverInAnotherOrder() {
        func story(_ order: [Int], by thread: ThreadIdentity = Story.main) -> (inout Story) -> Void {
            { story in
                story.register(1)
                story.hand(1, to: [1])
                story.hand(2, to: [1], from: thread)
                for post in order { story.handle(post, by: 1) }
            }
        }
        expect(
            .overtaken, evidence: [2, 6, 8], says: ["once a later post was handled before an earlier one"],
            in: story([2, 1]), notIn: story([1, 2]))
        expect(.overtaken, evidence: [2, 6, 8], in: story([2, 1]), notIn: story([2, 1], by: Story.other))
    }

    func testADeliveryAheadOfOthersBecauseOfThePolicyIsANote() {
        func story(_ overtakes: Bool) -> (inout Story) -> Void {
            { story in
                story.register(1, on: Story.main)
                story.add(.post, post: 1, count: 1)
                story.add(.deliver, post: 1, observer: 1, target: Story.main, overtakes: overtakes)
                story.add(.return, post: 1, observer: 1)
            }
        }
        expect(.overtaken, .note, evidence: [1, 3], in: story(true), notIn: story(false))
    }

    func testAFloodIsReportedWithItsTimeDepthAndPosters() {
        func story(_ count: Int) -> (inout Story) -> Void {
            { story in
                story.register(1)
                for post in 1...count {
                    story.hand(post, to: [1], from: post % 4 == 0 ? Story.other : Story.main)
                }
                for post in 1...count { story.handle(post, by: 1) }
            }
        }
        expect(
            .flood, evidence: [3, 25],
            says: [
                "12 notifications were waiting for worker at the same time, 24 ms after the beginning",
                "depth over time: ·▁", "█", "(highest 12)", "1 of them: main posts Done at Demo/main.swift:1001",
            ], limits: DiagnosisLimits(depth: 11), in: story(12), notIn: story(11))
    }

    func testInTheDocumentsTechniqueACapturedNotificationWaitsForTheThreadThatHandlesIt() {
        func story(_ count: Int) -> (inout Story) -> Void {
            { story in
                story.add(.register)
                for post in 1...count {
                    story.add(.post, on: Story.worker, post: post)
                    story.add(.capture, on: Story.worker, post: post)
                }
                for post in 1...count { story.add(.deliver, post: post) }
            }
        }
        expect(
            .flood, evidence: [3, 9], says: ["4 notifications were waiting for main", "4 of them: worker posts Done"],
            limits: DiagnosisLimits(depth: 3), in: story(4), notIn: story(3))
    }

    /// An observer that posts the next notification in its handler, repeatedly, directly or through another observer.
    private func chain(_ length: Int, isGoing: Bool, throughAnother: Bool = false) -> (inout Story) -> Void {
        { story in
            story.register(1, "Ping")
            if throughAnother { story.register(2, "Pong", on: Story.other) }
            var (observer, name, thread) = (1, "Ping", Story.worker)
            story.hand(1, to: [1], on: thread, name)
            for post in 1...length {
                story.add(.deliver, on: thread, name, post: post, observer: observer, target: thread)
                let next = throughAnother && observer == 1 ? (2, "Pong", Story.other) : (1, "Ping", Story.worker)
                if post < length || isGoing {
                    story.hand(post + 1, to: [next.0], on: next.2, from: thread, next.1)
                }
                story.add(.return, on: thread, name, post: post, observer: observer)
                (observer, name, thread) = next
            }
        }
    }

    func testOvertakingByANestedPostIsDescribedAsSuch() {
        func story(_ isNested: Bool) -> (inout Story) -> Void {
            { story in
                for observer in 1...2 { story.register(observer, on: Story.main) }
                story.add(.post, post: 1, at: 9, count: 2)
                story.add(.deliver, post: 1, observer: 1, target: Story.main)
                if isNested {
                    story.add(.post, post: 2, at: 10, count: 1)
                    story.handle(2, by: 2, on: Story.main)
                }
                story.add(.return, post: 1, observer: 1)
                story.handle(1, by: 2, on: Story.main)
            }
        }
        expect(
            .overtaken, evidence: [3, 6, 9], says: ["an earlier one, although a handler of the earlier one posted it."],
            in: story(true), notIn: story(false))
    }

    func testAHandlerThatEndsTheProgramIsNotStuckUnlessTheProgramEndsByASignal() {
        func recording(_ reason: Recording.Reason) -> Recording {
            var story = Story()
            story.register(1, on: Story.main)
            for post in 1...20 {
                story.add(.post, post: post, count: 1)
                story.add(.deliver, post: post, observer: 1, target: Story.main)
            }
            story.end(reason)
            return Recording(story.records)
        }
        XCTAssertEqual(Diagnosis(recording(.exit)).findings.map(\.kind), [])
        XCTAssertEqual(Diagnosis(recording(.signal(11))).findings.map(\.kind), [.selfPosting, .endedInHandler])
    }

    func testAHandlerThatPostsToItselfWithoutEndIsAProblemAndVeryOftenIsANote() {
        expect(
            .selfPosting, evidence: [1, 37, 40],
            says: ["observer 1 of Ping causes its own next call, 10 times in a row, and still does when"],
            in: chain(10, isGoing: true), notIn: chain(10, isGoing: false))
        expect(
            .selfPosting, .note, evidence: [1, 397, 400], says: ["100 times in a row."],
            limits: DiagnosisLimits(chain: 99), in: chain(100, isGoing: false), notIn: chain(99, isGoing: false))
    }

    func testTwoObserversThatPostToEachOtherWithoutEndAreAProblem() {
        let findings = Diagnosis(Story.complete(chain(60, isGoing: true, throughAnother: true))).findings
        XCTAssertEqual(findings.map(\.kind), [.selfPosting])
        XCTAssertEqual(
            findings.first?.problem.contains(
                "observer 1 of Ping causes its own next call through observer 2 of Pong, 30 times"), true)
    }

    func testAChainThroughTwoObserversIsReportedOnceEvenIfBothHaveALongChain() {
        let findings = Diagnosis(Story.complete(chain(250, isGoing: false, throughAnother: true))).findings
        XCTAssertEqual(findings.map(\.kind), [.selfPosting])
    }

    func testAHandlerThatEnqueuesToItselfIsFoundThroughAPostingQueueAndAFoundationCenter() {
        let recording = Story.complete { story in
            story.register(1, on: Story.main)
            story.add(.enqueue, post: 1, target: Story.main, at: 3)
            for step in 0..<12 {
                // A notification is enqueued, posted on the queue's thread, and captured with a number of its own.
                let (queued, captured) = (step * 2 + 1, step * 2 + 2)
                story.add(.post, post: queued)
                story.add(.capture, post: captured, count: 1, relatedPost: queued)
                story.add(.deliver, post: captured, observer: 1, target: Story.main)
                story.add(.enqueue, post: queued + 2, target: Story.main, at: 3)
                story.add(.return, post: captured, observer: 1)
            }
            story.add(.post, post: 25)
            story.add(.capture, post: 26, count: 1, relatedPost: 25)
            story.add(.append, post: 26, observer: 1, target: Story.main)
        }
        let findings = Diagnosis(recording).findings
        XCTAssertEqual(findings.map(\.kind), [.selfPosting])
        XCTAssertEqual(findings.first?.problem.contains("12 times in a row, and still does when"), true)
    }
}
