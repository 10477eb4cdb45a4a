import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// Tests each kind of finding with a recording that has it, and a second one that differs just enough not to have it.
final class DiagnosisTests: XCTestCase {
    typealias Story = RecordedStory
    static let window = Recording.Sender(identifier: 0x10, type: "Window")
    static let panel = Recording.Sender(identifier: 0x20, type: "Panel")

    /// Expects one finding with its kind and evidence lines, and the rest in the second recording.
    func expect(
        _ kind: Finding.Kind, _ severity: Finding.Severity = .problem, evidence: [Int], says: [String] = [],
        limits: DiagnosisLimits = DiagnosisLimits(), in broken: (inout Story) -> Void,
        notIn twin: (inout Story) -> Void, leaving rest: [Finding.Kind] = [], file: StaticString = #filePath,
        line: UInt = #line
    ) {
        expect(
            kind, severity, evidence: evidence, says: says, limits: limits, in: Story.complete(broken),
            notIn: Story.complete(twin), leaving: rest, file: file, line: line)
    }

    func expect(
        _ kind: Finding.Kind, _ severity: Finding.Severity = .problem, evidence: [Int], says: [String] = [],
        limits: DiagnosisLimits = DiagnosisLimits(), in broken: Recording, notIn twin: Recording,
        leaving rest: [Finding.Kind] = [], file: StaticString = #filePath, line: UInt = #line
    ) {
        let diagnosis = Diagnosis(broken, limits: limits)
        let findings = diagnosis.findings
        XCTAssertEqual(findings.map(\.kind), [kind], "\(findings.map(\.problem))", file: file, line: line)
        XCTAssertEqual(diagnosis.hasProblem, (severity == .problem), file: file, line: line)
        if let finding = findings.first {
            let lines = finding.evidence.map { Int(broken.entries[Int($0)].line) }
            XCTAssertEqual(lines, evidence, file: file, line: line)
            for words in says {
                XCTAssertTrue(
                    ([finding.problem] + finding.details).contains { $0.contains(words) },
                    "\(finding.problem) \(finding.details) does not say: \(words)", file: file, line: line)
            }
        }
        let others = Diagnosis(twin, limits: limits).findings
        XCTAssertEqual(others.map(\.kind), rest, "\(others.map(\.problem))", file: file, line: line)
    }

    func testAnObserverRemovedBeforeAPostWithoutObservers() {
        /// - Parameter isHandled: whether a notification that was posted before the removal is handled; nil if none
        ///   was.
        func story(
            _ lifetime: Duration, isHandled: Bool? = nil, _ reason: Recording.Reason? = .released
        ) -> (inout Story) -> Void {
            { story in
                story.register(1)
                if isHandled != nil { story.hand(9, to: [1]) }
                if isHandled == true { story.handle(9, by: 1) }
                story.pass(lifetime)
                story.add(.remove, observer: 1, count: 0, reason: reason)
                if isHandled == false { story.add(.cancel, post: 9, observer: 1) }
                for post in 1...3 { story.add(.post, on: Story.worker, post: post, at: 7, count: 0) }
            }
        }
        func other(_ story: inout Story) {
            story.register(1)
            story.register(2)
            story.add(.remove, observer: 1, count: 0)
            story.deliver(1, to: [2])
        }
        expect(
            .removedBeforePost, evidence: [1, 2, 3],
            says: ["because its token was released. Then, 1 ms later, Done was posted 3 times without"],
            in: story(.zero), notIn: other)
        expect(
            .removedBeforePost, evidence: [1, 4, 6], says: ["and 1 notification for it cancelled"],
            in: story(.zero, isHandled: false), notIn: other)
        // The program may have removed these on purpose.
        expect(.removedBeforePost, .note, evidence: [1, 2, 3], in: story(.zero, nil), notIn: other)
        expect(.removedBeforePost, .note, evidence: [1, 2, 3], in: story(.zero, .cancelled), notIn: other)
        expect(.removedBeforePost, .note, evidence: [1, 2, 3], in: story(.seconds(1)), notIn: other)
        expect(.removedBeforePost, .note, evidence: [1, 6, 7], in: story(.zero, isHandled: true), notIn: other)
    }

    func testPendingNotificationsOfAThreadThatStillHandlesOthersAreABacklogNotAStall() {
        func story(_ isHandled: Bool) -> (inout Story) -> Void {
            { story in
                story.register(1)
                for post in 1...4 { story.hand(post, to: [1]) }
                for post in 1...3 { story.handle(post, by: 1, for: .milliseconds(600)) }
                if isHandled { story.handle(4, by: 1) }
            }
        }
        expect(
            .backlog, evidence: [1, 8, 9],
            says: ["1 of 4 notifications for observer 1 of Done waits for worker, the first since 1.8"],
            in: story(false), notIn: story(true))
    }

    func testANotificationHandledOnAnotherThreadThanDeclared() {
        func story(_ thread: ThreadIdentity) -> (inout Story) -> Void {
            { story in
                story.register(1)
                for post in 1...3 {
                    story.hand(post, to: [1])
                    story.add(.deliver, on: thread, post: post, observer: 1, target: Story.worker)
                    story.add(.return, on: thread, post: post, observer: 1)
                }
            }
        }
        expect(
            .wrongThread, evidence: [1, 2, 4],
            says: ["observer 1 of Done should be handled on worker but was handled on other 3 times"],
            in: story(Story.other), notIn: story(Story.worker))
    }

    func testABlockPerformedOnAnotherThreadThanDeclared() {
        func story(_ thread: ThreadIdentity) -> (inout Story) -> Void {
            { story in
                story.add(.append, nil, post: 1, target: Story.worker)
                story.add(.deliver, on: thread, nil, post: 1)
                story.add(.return, on: thread, nil, post: 1)
            }
        }
        expect(.wrongThread, evidence: [2], in: story(Story.main), notIn: story(Story.worker))
    }

    func testAHandlerOnMainOverItsBudgetIsANoteAndFarOverItAProblem() {
        func story(_ duration: Duration, on thread: ThreadIdentity = Story.main) -> (inout Story) -> Void {
            { story in
                story.register(1, on: thread)
                story.hand(1, to: [1], on: thread, from: Story.other)
                story.handle(1, by: 1, on: thread)
                story.hand(2, to: [1], on: thread, from: Story.other)
                story.handle(2, by: 1, on: thread, for: duration)
            }
        }
        let twin = story(.milliseconds(900), on: Story.worker)
        expect(
            .stalled, .note, evidence: [1, 8, 9],
            says: ["occupied the main thread for up to 31 ms, once for longer than 16 ms"],
            in: story(.milliseconds(30)), notIn: twin)
        expect(.stalled, evidence: [1, 8, 9], in: story(.milliseconds(300)), notIn: story(.milliseconds(14)))
        expect(
            .stalled, .note, evidence: [1, 8, 9], limits: DiagnosisLimits(mainBudget: .milliseconds(4)),
            in: story(.milliseconds(4)), notIn: story(.milliseconds(2)))
    }

    func testABlockThatOccupiesMainIsFoundWithTheLocationOfItsCall() {
        let recording = Story.complete { story in
            story.add(.append, on: Story.other, nil, post: 1, target: Story.main, at: 5)
            story.add(.deliver, nil, post: 1, target: Story.main)
            story.add(.return, nil, post: 1, after: .milliseconds(300))
        }
        let lines = DiagnosisReport(Diagnosis(recording)).text().map(\.text)
        XCTAssertTrue(lines[0].hasPrefix("problem: a performed block occupied the main thread for up to 300 ms"))
        XCTAssertTrue(lines[1].hasSuffix("main deliver #1; enqueued at Demo/main.swift:5"), lines[1])
    }

    func testNestedHandlersHaveBudgetsOfTheirOwn() {
        let recording = Story.complete { story in
            for observer in 1...2 { story.register(observer, "\(observer)", on: Story.main) }
            story.add(.post, "1", post: 1, count: 1)
            story.add(.deliver, "1", post: 1, observer: 1, target: Story.main)
            story.add(.post, "2", post: 2, count: 1)
            story.handle(2, by: 2, on: Story.main, "2", for: .milliseconds(20))
            story.add(.return, "1", post: 1, observer: 1)
        }
        XCTAssertEqual(Diagnosis(recording).findings.map { recording.entries[Int($0.evidence[0])].observer }, [1])
    }

    func testAPostBeforeTheFirstObserverWasAdded() {
        func story(_ name: String, sender: Recording.Sender? = nil) -> (inout Story) -> Void {
            { story in
                for post in 1...2 {
                    story.add(.post, "Done", post: post, at: 9, count: 0, sender: sender.map { _ in Self.window })
                }
                story.register(1, name, sender: sender)
                story.deliver(3, to: [1], name)
            }
        }
        expect(
            .unmatchedName, evidence: [1, 3], says: ["Done was posted 2 times before it had an observer"],
            in: story("Done"), notIn: story("Another"))
        expect(
            .unmatchedName, evidence: [1, 3], in: story("Done", sender: Self.window),
            notIn: story("Done", sender: Self.panel))
    }

    func testAnObserverOfOneSenderMissedOnlyPostsOfThatSender() {
        func story(_ sender: Recording.Sender) -> (inout Story) -> Void {
            { story in
                story.add(.post, post: 1, count: 0)
                story.add(.post, post: 2, count: 0, sender: Self.window)
                story.register(1, sender: sender)
                story.add(.post, post: 3, count: 1, sender: sender)
                story.add(.append, post: 3, observer: 1, target: Story.worker)
                story.handle(3, by: 1)
            }
        }
        expect(
            .unmatchedName, evidence: [2, 3], says: ["Done was posted once before"], in: story(Self.window),
            notIn: story(Self.panel))
    }

    func testInTheDocumentsTechniquePostsBeforeTheFirstObserverCountPostsAfterARemovalDoNot() {
        expect(
            .unmatchedName, evidence: [1, 2],
            in: { story in
                story.add(.post, on: Story.worker, post: 1)
                story.add(.register)
            },
            notIn: { story in
                story.register(1)
                story.deliver(1, to: [1])
                story.add(.remove, observer: 1, count: 0)
                story.add(.post, post: 2, count: 0)
                story.register(2)
                story.deliver(3, to: [2])
            })
    }

    func testADeliveryAfterRemovalExceptForHandlersThatWereRunning() {
        func story(_ running: Int?, on thread: ThreadIdentity = Story.worker) -> (inout Story) -> Void {
            { story in
                story.register(1, on: thread)
                story.hand(1, to: [1], on: thread, from: Story.other)
                story.hand(2, to: [1], on: thread, from: Story.other)
                story.add(.remove, observer: 1, count: running)
                story.handle(1, by: 1, on: thread)
                story.add(.cancel, post: 2, observer: 1)
            }
        }
        expect(
            .deliveredAfterRemoval, evidence: [1, 6, 7], says: ["received 1 notification after it was removed"],
            in: story(0), notIn: story(1))
        // The removing thread cannot have been running a handler that begins later.
        expect(
            .deliveredAfterRemoval, evidence: [1, 6, 7], in: story(1, on: Story.main), notIn: story(nil))
    }

    func testNothingDeliveredBecauseTheTransformReturnedNil() {
        func story(_ last: DeliveryStage) -> (inout Story) -> Void {
            { story in
                story.register(1)
                for post in 1...3 {
                    story.add(.post, post: post, count: 1)
                    if post < 3 || last == .skip { story.add(.skip, post: post, observer: 1) }
                }
                guard last == .deliver else { return }
                story.add(.append, post: 3, observer: 1, target: Story.worker)
                story.handle(3, by: 1)
            }
        }
        expect(
            .neverDelivered, evidence: [1, 3], says: ["its transform returned nil for all 3 notifications"],
            in: story(.skip), notIn: story(.deliver))
    }

    func testAnObserverThatIsRemovedDuringAPostIsNotBlamedOnItsTransform() {
        let recording = Story.complete { story in
            story.register(1)
            story.add(.post, post: 1, count: 1)
            story.add(.skip, post: 1, observer: 1)
            story.add(.remove, on: Story.other, observer: 1, count: 0)
        }
        XCTAssertTrue(Diagnosis(recording).findings.isEmpty)
    }

    func testNothingDeliveredBecauseEverythingIsPending() {
        func story(_ isHandled: Bool) -> (inout Story) -> Void {
            { story in
                story.register(1)
                story.hand(1, to: [1])
                if isHandled { story.handle(1, by: 1) }
            }
        }
        expect(
            .neverDelivered, evidence: [1, 3], says: ["1 notification for it is still waiting", "observer 1 of Done"],
            in: story(false), notIn: story(true))
    }

    func testNothingDeliveredBecauseOfAnotherSenderOrAnotherCenter() {
        func story(_ asks: Recording.Sender?, count: Int?) -> (inout Story) -> Void {
            { story in
                story.register(1, sender: asks)
                story.add(.post, post: 1, at: 9, count: count, sender: Self.panel)
            }
        }
        // A post without a count may have matched the observer.
        expect(
            .neverDelivered, evidence: [1, 2],
            says: [
                "it observes only Window 0x10, but its name was posted once with another object, such as Panel 0x20"
            ],
            in: story(Self.window, count: 0), notIn: story(nil, count: nil))
        expect(
            .neverDelivered, evidence: [1, 2],
            says: ["its name was posted once, but to another center"],
            in: story(nil, count: 0),
            notIn: { story in
                story.add(.post, post: 1, count: 0)
                story.register(1, "Another")
                story.add(.remove, "Another", observer: 1, count: 0)
            }, leaving: [.unmatchedName])
    }

    func testPostsThatOtherObserversAskForAreNotAMismatchAndObserversOfOneLocationAreReportedOnce() {
        func story(_ posted: Recording.Sender) -> (inout Story) -> Void {
            { story in
                for (observer, sender) in [Self.window, Self.panel].enumerated() {
                    story.add(.register, observer: observer + 1, target: Story.main, at: 7, sender: sender)
                }
                story.add(.post, post: 1, count: posted == Self.panel ? 1 : 0, sender: posted)
                if posted == Self.panel { story.handle(1, by: 2, on: Story.main) }
            }
        }
        expect(
            .neverDelivered, evidence: [1, 3],
            says: ["with another object, such as Door 0x30. The same is true of another one"],
            in: story(Recording.Sender(identifier: 0x30, type: "Door")), notIn: story(Self.panel))
    }

    func testAnObserverMatchedByAPostDuringWhichTheProgramEndedIsNotAtAnotherCenter() {
        let recording = Story.complete { story in
            for observer in 1...2 { story.register(observer, on: Story.main) }
            story.add(.post, post: 1, count: 2)
            story.add(.deliver, post: 1, observer: 1, target: Story.main)
        }
        XCTAssertEqual(Diagnosis(recording).findings.map(\.problem), [])
    }

    func testAPostDuringTheRegistrationOrRemovalOfAnObserverDoesNotCountAsMissed() {
        func story(_ isDuring: Bool) -> (inout Story) -> Void {
            { story in
                story.add(.log, on: Story.other, nil, message: "before")
                story.register(1)
                if !isDuring { story.add(.post, on: Story.other, post: 1, count: 0) }
                story.add(.log, nil, message: "added")
                if isDuring {
                    story.add(.log, on: Story.other, nil, message: "goes on")
                    story.add(.post, on: Story.other, post: 1, count: 0)
                }
                story.add(.log, nil, message: "to be removed")
                story.add(.post, on: Story.other, post: 2, count: 0)
                story.add(.remove, observer: 1, target: Story.worker, count: 0)
            }
        }
        expect(
            .neverDelivered, evidence: [2, 5],
            says: ["its name was posted once, but to another center"],
            in: story(true), notIn: story(false))
    }

    func testANameThatWasNeverPosted() {
        func story(_ name: String) -> (inout Story) -> Void {
            { story in
                story.register(1, "WindowWillClose")
                story.add(.post, name, post: 1, at: 9, count: 0)
            }
        }
        expect(
            .unmatchedName, evidence: [1, 2],
            says: ["WindowWillClose was never posted but is observed by observer 1. WindowWilClose was posted once"],
            in: story("WindowWilClose"), notIn: story("WindowDidOpen"), leaving: [.unmatchedName])
        expect(
            .unmatchedName, evidence: [1, 2], in: story("WINDOWWILLCLOSE"), notIn: story("WindowWillClose2"),
            leaving: [.unmatchedName])
        // Without a similar name it is a note, in a complete recording.
        expect(
            .unmatchedName, .note, evidence: [1],
            says: ["never posted but is observed by observer 1.", "posted without an observer: WindowDidOpen (once)"],
            in: Story.complete(story("WindowDidOpen")), notIn: Story.truncated(story("WindowDidOpen")),
            leaving: [.incomplete])
        let dropped = Story.complete { story in
            story.register(1)
            story.add(.remove, observer: 1, count: 0)
        }
        XCTAssertTrue(Diagnosis(dropped).findings[0].remedy.hasPrefix("Keep the token"))
    }

    func testANameThatDiffersByALetterFromAnObservedOneAndHasNoObserverIsANote() {
        func story(_ name: String) -> (inout Story) -> Void {
            { story in
                story.register(1, "PriceChanged")
                story.add(.post, "PriceChanged", post: 1, count: 1)
                story.add(.append, "PriceChanged", post: 1, observer: 1, target: Story.worker)
                story.add(.deliver, on: Story.worker, "PriceChanged", post: 1, observer: 1)
                story.add(.return, on: Story.worker, "PriceChanged", post: 1, observer: 1)
                story.add(.post, name, post: 2, count: 0)
            }
        }
        expect(
            .unmatchedName, .note, evidence: [1, 6],
            says: ["PriceChangd was posted once and has no observer. PriceChanged has one."],
            in: story("PriceChangd"), notIn: story("WindowClosed"))
    }
}
