import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// Findings about Foundation's own center and notification queue.
extension DiagnosisTests {
    // MARK: Threads

    func testAFoundationHandlerOnAnotherThreadThanMainWhichAddedTheObserver() {
        func story(_ thread: ThreadIdentity, queue: String? = nil) -> (inout Story) -> Void {
            { story in
                story.addFoundationObserver(1, queue: queue)
                for post in 1...2 { story.postToFoundation(post, to: [1], from: thread) }
                story.postToFoundation(3, to: [1])
            }
        }
        expect(
            .wrongThread, evidence: [1, 2, 3],
            says: ["observer 1 of Done was added on main, but its handler ran on other 2 times"],
            in: story(Story.other), notIn: story(Story.main))
        // A handler of an operation queue may run on any thread.
        expect(
            .wrongThread, evidence: [1, 2, 3], in: story(Story.other), notIn: story(Story.other, queue: "7f22"))
    }

    func testAFoundationHandlerOnSeveralThreadsIsAProblemIfMainIsOneOfThem() {
        func story(_ threads: ThreadIdentity...) -> (inout Story) -> Void {
            { story in
                story.addFoundationObserver(1, on: Story.worker)
                for (post, thread) in threads.enumerated() { story.postToFoundation(post + 1, to: [1], from: thread) }
            }
        }
        expect(
            .wrongThread, evidence: [1, 3, 7], says: ["ran on 2 threads (worker and main)"],
            in: story(Story.worker, Story.main), notIn: story(Story.worker, Story.worker))
        expect(
            .onPostingThread, .note, evidence: [1, 3], says: ["ran only on other, not on worker, which added it"],
            in: story(Story.other), notIn: story(Story.worker))
    }

    func testAnObserverThatFoundationItselfAddsMayBeCalledOnAnyThread() {
        func story(_ isCalledByFoundation: Bool) -> (inout Story) -> Void {
            { story in
                story.add(
                    .register, observer: 1, at: 1,
                    foundation: .init(center: Story.center, isCalledByFoundation: isCalledByFoundation))
                story.postToFoundation(1, to: [1], from: Story.worker)
            }
        }
        expect(
            .wrongThread, .note, evidence: [1, 2, 3], in: story(false), notIn: story(true), leaving: [.onPostingThread])
    }

    // MARK: Operation queues

    func testAPostThatWaitsLongForAHandlerOfAnOperationQueue() {
        func story(_ time: Duration, from poster: ThreadIdentity = Story.main) -> (inout Story) -> Void {
            { story in
                story.addFoundationObserver(1, on: Story.worker, queue: "7f22")
                story.beginFoundationPost(1, from: poster)
                story.pass(time)
                story.runFoundationHandler(1, by: 1, on: Story.other)
                story.endFoundationPost(1, count: 1, from: poster)
            }
        }
        expect(
            .queueBlocksPoster, evidence: [1, 2, 3],
            says: ["main posted Done and waited 1 s for the handler of observer 1 of Done on its operation queue."],
            in: story(.seconds(1)), notIn: story(.milliseconds(5)))
        expect(.queueBlocksPoster, .note, evidence: [1, 2, 3], in: story(.milliseconds(50)), notIn: story(.zero))
        expect(
            .queueBlocksPoster, .note, evidence: [1, 2, 3], in: story(.milliseconds(500), from: Story.worker),
            notIn: story(.zero, from: Story.worker))
    }

    func testEachHandlerOfAnOperationQueueIsMeasuredFromTheEndOfTheHandlerBefore() {
        func story(_ first: Duration, _ second: Duration) -> (inout Story) -> Void {
            { story in
                story.addFoundationObserver(1, on: Story.worker, queue: "7f22")
                story.addFoundationObserver(2, on: Story.worker, queue: "main")
                story.beginFoundationPost(1, from: Story.worker)
                story.runFoundationHandler(1, by: 1, on: Story.other, for: first)
                story.runFoundationHandler(1, by: 2, on: Story.main, for: second)
                story.endFoundationPost(1, count: 2, from: Story.worker)
            }
        }
        expect(
            .queueBlocksPoster, .note, evidence: [2, 3, 6], says: ["observer 2 of Done on the main queue"],
            in: story(.zero, .milliseconds(15)), notIn: story(.zero, .zero))
        expect(
            .queueBlocksPoster, .note, evidence: [1, 3, 4], in: story(.milliseconds(20), .zero),
            notIn: story(.zero, .zero))
    }

    func testAPostThatWaitsForEverForAHandlerOfTheMainQueue() {
        /// Main waits for the thread that posts.
        func story(_ rest: (inout Story) -> Void) -> Recording {
            Story.complete { story in
                story.addFoundationObserver(1, queue: "main")
                story.beginFoundationPost(1, from: Story.worker)
                rest(&story)
            }
        }
        expect(
            .queueBlocksPoster, evidence: [1, 2],
            says: ["worker posted Done and has waited since then", "which the main queue did not begin."],
            in: story { $0.pass(.seconds(5)) },
            notIn: story { story in
                story.runFoundationHandler(1, by: 1, on: Story.main)
                story.endFoundationPost(1, count: 1, from: Story.worker)
                story.pass(.seconds(5))
            })
        expect(
            .queueBlocksPoster, evidence: [1, 2, 3], says: ["which the main queue did not finish."],
            in: story { story in
                story.add(.deliver, on: Story.other, nil, post: 1, observer: 1, foundation: .init())
                for line in 0..<3 { story.add(.log, message: "\(line)", after: .milliseconds(400)) }
                story.add(.signal, on: Story.other)
            },
            // A program that ends while it posts does not wait.
            notIn: story { _ in })
    }

    // MARK: Removal

    func testATokenThatIsRemovedTwice() {
        func story(_ isAgain: Bool) -> (inout Story) -> Void {
            { story in
                story.addFoundationObserver(1)
                story.postToFoundation(1, to: [1])
                story.removeFoundationObserver(1)
                if isAgain { for _ in 1...2 { story.removeFoundationObserver(1, again: true) } }
            }
        }
        expect(
            .deliveredAfterRemoval, evidence: [1, 6, 7],
            says: ["observer 1 of Done was removed again 2 times after it had been removed"], in: story(true),
            notIn: story(false))
    }

    func testAnUnknownObserverThatIsRemovedTwice() {
        expect(
            .deliveredAfterRemoval, evidence: [1], says: ["An observer was removed again once"],
            in: { $0.removeFoundationObserver(nil, again: true) }, notIn: { _ in })
    }

    func testObserversThatAreAddedAtOneLocationAndNeverRemoved() {
        func story(_ count: Int, removed: Int? = nil, sender: Bool = false) -> (inout Story) -> Void {
            { story in
                for observer in 1...count {
                    story.addFoundationObserver(
                        observer, sender: sender ? .init(identifier: UInt64(observer), type: "Window") : nil, at: 7)
                }
                if let removed { story.removeFoundationObserver(removed) }
                story.postToFoundation(
                    1, to: Array(1...count).filter { $0 != removed && (!sender || $0 == 1) },
                    sender: sender ? .init(identifier: 1, type: "Window") : nil)
            }
        }
        expect(
            .neverRemoved, .note, evidence: [1, 3],
            says: ["3 observers of Done were added at one source location, and none was removed"], in: story(3),
            notIn: story(1))
        expect(.neverRemoved, .note, evidence: [1, 3], in: story(3), notIn: story(3, removed: 2))
        // Each of these observes an object of its own.
        expect(.neverRemoved, .note, evidence: [1, 3], in: story(3), notIn: story(3, sender: true))
    }

    func testAFoundationHandlerThatBeginsAfterTheRemoval() {
        func story(_ isLate: Bool) -> (inout Story) -> Void {
            { story in
                story.addFoundationObserver(1, on: Story.worker)
                story.beginFoundationPost(1, from: Story.worker)
                if isLate { story.removeFoundationObserver(1) }
                story.runFoundationHandler(1, by: 1, on: Story.worker)
                story.endFoundationPost(1, count: 1, from: Story.worker)
                if !isLate { story.removeFoundationObserver(1) }
            }
        }
        expect(
            .deliveredAfterRemoval, evidence: [1, 3, 4], says: ["received 1 notification after it was removed"],
            in: story(true), notIn: story(false))
        XCTAssertTrue(
            Diagnosis(Story.complete(story(true))).findings[0].remedy.contains("Let the handler check"))
    }

    // MARK: Observers of any name, and queues

    func testAnObserverOfAnyNameOfACenterWhosePostEndedTheProcess() {
        func story(center: String, signal: Bool = true, knowsThread: Bool = true) -> Recording {
            var story = Story()
            story.addFoundationObserver(1, nil, on: Story.worker, center: center)
            story.beginFoundationPost(1, from: Story.worker, "Demo.Saved", center: "7f0010")
            story.add(.end, on: knowsThread ? Story.worker : Story.main, nil, reason: signal ? .signal(4) : .exit)
            var recording = story.recording
            recording.entries[recording.entries.count - 1].isThreadKnown = knowsThread
            return recording
        }
        expect(
            .anyNameObserver, evidence: [1, 2, 3],
            says: ["ended by signal 4 while worker posted Demo.Saved to a center that has an observer of any name"],
            in: story(center: "7f0010"), notIn: story(center: "7f0020"))
        expect(
            .anyNameObserver, evidence: [1, 2, 3], in: story(center: "7f0010"),
            notIn: story(center: "7f0010", signal: false))
        // `record` adds an end without a thread.
        expect(
            .anyNameObserver, evidence: [1, 2, 3],
            says: ["ended by signal 4 while worker posted Demo.Saved to a center that has an observer of any name"],
            in: story(center: "7f0010", knowsThread: false), notIn: story(center: "7f0020", knowsThread: false))
    }

    func testAnEnqueuedNotificationThatIsNotPostedForASecond() {
        func story(
            _ style: Recording.Style, postedOn poster: ThreadIdentity? = nil, after time: Duration = .seconds(2)
        ) -> (inout Story) -> Void {
            { story in
                for line in 1...2 { story.add(.enqueue, on: Story.worker, at: line, style: style, foundation: .init()) }
                if let poster { story.postToFoundation(1, from: poster) }
                story.pass(time)
            }
        }
        expect(
            .enqueuedNeverPosted, evidence: [1, 2],
            says: ["Done was enqueued 2 times in a NotificationQueue on worker and not posted afterwards"],
            in: story(.asap), notIn: story(.whenIdle, postedOn: Story.worker))
        // The queue may be that of another thread.
        expect(
            .enqueuedNeverPosted, evidence: [1, 2], in: story(.whenIdle), notIn: story(.asap, postedOn: Story.main))
        // The program may have ended before the thread was idle.
        expect(.enqueuedNeverPosted, .note, evidence: [1, 2], in: story(.asap, after: .zero), notIn: story(.now))
    }

    func testAHandlerOfAnAsynchronousMessageMayRunOnAnyThreadAndReturnOnAnother() {
        let story = Story.complete { story in
            story.addFoundationObserver(1)
            for thread in [Story.worker, Story.other] {
                story.add(.deliver, on: thread, nil, observer: 1, foundation: .init())
                story.add(.return, on: Story.main, nil, observer: 1, foundation: .init())
            }
            story.add(.remove, nil, observer: 1, foundation: .init())
            story.pass(.seconds(10))
        }
        XCTAssertEqual(Diagnosis(story).findings.map(\.kind), [])
    }

    // MARK: Records that are missing

    func testWhatCouldNotBeRecordedIsANote() throws {
        let lines = """
            {"recording":2,"process":100,"name":"static","n":1,"t":1,"wall":1}
            {"unrecorded":"notification centers: this Foundation is unknown"}
            {"n":1,"t":2,"thread":1,"stage":"end","reason":"exit"}

            """
        let recording = try Recording(bytes: Array(lines.utf8), name: "run.jsonl")
        XCTAssertTrue(recording.problems.isEmpty)
        let findings = Diagnosis(recording).findings
        XCTAssertEqual(findings.map(\.kind), [.incomplete])
        XCTAssertEqual(findings[0].problem, "Not recorded: notification centers: this Foundation is unknown")
    }

    // MARK: Other findings

    func testANameThatOnlyFoundationObservesAndNeverPostsIsNoFinding() {
        func story(_ isCalledByFoundation: Bool) -> (inout Story) -> Void {
            { story in
                story.add(
                    .register, observer: 1, at: 1, foundation: .init(isCalledByFoundation: isCalledByFoundation))
            }
        }
        expect(.unmatchedName, .note, evidence: [1], in: story(false), notIn: story(true))
    }

    func testAFoundationObserverOfAnotherCenterThanThatOfThePosts() {
        func story(_ center: String) -> (inout Story) -> Void {
            { story in
                story.addFoundationObserver(1, center: center)
                story.add(.log, message: "added")
                story.postToFoundation(1, from: Story.main)
            }
        }
        expect(
            .neverDelivered, evidence: [1, 3], says: ["posted once, but to another center"], in: story("7f0020"),
            notIn: story(Story.center))
    }

    func testACaptureOfAFoundationPostIsAnObserverOfIt() {
        func story(_ isCaptured: Bool) -> Recording {
            Story.complete { story in
                story.beginFoundationPost(1)
                if isCaptured {
                    story.add(.capture, post: 2, count: 1, relatedPost: 1)
                    story.add(.append, post: 2, observer: 5, target: Story.worker)
                }
                story.endFoundationPost(1, count: 0)
                if isCaptured { story.handle(2, by: 5) }
            }
        }
        for (isCaptured, unobserved) in [(true, 0), (false, 1)] {
            let audit = Evidence(story(isCaptured))
            XCTAssertTrue(audit.addsUp)
            XCTAssertEqual(audit.postCount, 1)
            XCTAssertEqual(audit.accounts.sum(.unobserved)[.matched], unobserved)
            let index = RecordingIndex(story(isCaptured))
            XCTAssertEqual(index.pendingCount(ofPost: 0), 0)
        }
    }
}
