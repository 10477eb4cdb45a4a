import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// Findings about Foundation's own center and notification queue.
extension DiagnosisTests {
    func testAFoundationHandlerOnAnotherThreadThanMainWhichAddedTheObserver() {
        func story(_ thread: String, queue: String = "^") -> String {
            "add o1 \(queue); 1-2: \(thread) fpost #* o1; fpost #3 o1"
        }
        expect(
            "problem wrongThread 1 2 3",
            says: "observer 1 of Done was added on main, but its handler ran on other 2 times", in: story("other"),
            notIn: story("main"))
        // A handler of an operation queue may run on any thread, and one that Foundation itself adds.
        expect(
            "problem wrongThread 1 2 3", in: story("other"), notIn: story("other", queue: "^queue=7f22"))
        expect(
            "note wrongThread 1 2 3", in: "add o1 ^; worker fpost #1 o1", notIn: "add o1 ^own; worker fpost #1 o1",
            leaving: ["note onPostingThread"])
        let many = findings("add o1 ^; 2-13: t* fpost #* o1; fpost #1 o1; fork -")
        XCTAssertEqual(titles(many), ["problem wrongThread", "note fork"])
        assertSays(many.first, "ran on t2, t3, t4 and 9 others 12 times, and on main too")
        assertSays(
            findings("add o1 - ^; 1-3: worker fpost #* o1 N*; fpost #4 o1 N4").first,
            "observer 1 of any name was added on main, but its handler ran on worker 3 times")
        let elsewhere = findings("add o1 ^; worker fpost #1 o1; other fpost #2 o1; fork -")
        XCTAssertEqual(titles(elsewhere), ["note wrongThread", "note fork"])
        assertSays(elsewhere.first, "'Done on main'")
    }

    func testAFoundationHandlerOnSeveralThreadsIsAProblemIfMainIsOneOfThem() {
        func story(_ one: String, _ other: String) -> String {
            "worker add o1 ^; \(one) fpost #1 o1; \(other) fpost #2 o1"
        }
        expect(
            "problem wrongThread 1 3 7", says: "ran on 2 threads (worker and main)", in: story("worker", "main"),
            notIn: story("worker", "worker"))
        expect(
            "note onPostingThread 1 3", says: "ran only on other, not on worker, which added it",
            in: story("other", "other"), notIn: story("worker", "worker"))
        // The handler of an asynchronous message may run on any thread, and return on another.
        let message = "deliver - o1 ^; main return - o1 ^"
        XCTAssertEqual(
            titles(findings("add o1 ^; worker \(message); other \(message); remove - o1 ^; pass 10s")), [])
    }

    // MARK: Operation queues

    func testAPostThatWaitsLongForAHandlerOfAnOperationQueue() {
        func story(_ time: String, from poster: String = "main") -> String {
            """
            worker add o1 ^queue=7f22; \(poster) fbegin #1; pass \(time)
            other frun #1 o1; \(poster) fend #1 n1
            """
        }
        expect(
            "problem queueBlocksPoster 1 2 3",
            says: "main posted Done and waited 1 s for the handler of observer 1 of Done on its operation queue.",
            in: story("1s"), notIn: story("5ms"))
        expect("note queueBlocksPoster 1 2 3", in: story("50ms"), notIn: story("0s"))
        expect(
            "note queueBlocksPoster 1 2 3", in: story("500ms", from: "worker"), notIn: story("0s", from: "worker"))
        // Each handler is measured from the end of the handler before.
        func two(_ first: String, _ second: String) -> String {
            """
            worker add o1 ^queue=7f22; worker add o2 ^queue=main; worker fbegin #1
            other frun #1 o1 \(first); main frun #1 o2 \(second); worker fend #1 n2
            """
        }
        expect(
            "note queueBlocksPoster 2 3 6", says: "observer 2 of Done on the main queue", in: two("0s", "15ms"),
            notIn: two("0s", "0s"))
        expect("note queueBlocksPoster 1 3 4", in: two("20ms", "0s"), notIn: two("0s", "0s"))
    }

    func testAPostThatWaitsForEverForAHandlerOfAnOperationQueue() {
        let begins = "add o1 ^queue=main; worker fbegin #1"
        expect(
            "problem queueBlocksPoster 1 2", says: "worker posted Done and has waited since then",
            "which the main queue did not begin.", in: "\(begins); pass 5s",
            notIn: "\(begins); main frun #1 o1; worker fend #1 n1; pass 5s")
        // A program that ends while it posts does not wait.
        expect(
            "problem queueBlocksPoster 1 2 3", says: "which the main queue did not finish.",
            in: "\(begins); other deliver - #1 o1 ^; 1-3: log '*' +400ms; other signal", notIn: begins)
        // The observer that was there is named, and of several all are candidates.
        func waiting(_ observers: String) -> Finding? {
            findings(
                """
                add o1 ^queue=main; fremove o1; \(observers): add o* ^queue=5
                worker fbegin #1; pass 9s
                """
            ).first
        }
        assertSays(waiting("2-2"), "the handler of observer 2 of Done, which its operation queue did not begin")
        assertSays(
            waiting("2-3"), "one of 2 candidates", "candidate: observer 2 of Done", "candidate: observer 3 of Done")
    }

    // MARK: Removal

    func testATokenThatIsRemovedTwice() {
        let removed = "add o1 ^; fpost #1 o1; fremove o1"
        expect(
            "problem deliveredAfterRemoval 1 6 7",
            says: "observer 1 of Done was removed again 2 times after it had been removed",
            in: "\(removed); 1-2: fremove o1 %again", notIn: removed)
        expect(
            "problem deliveredAfterRemoval 1", says: "An observer was removed again once", in: "fremove %again",
            notIn: "")
    }

    func testObserversThatAreAddedAtOneLocationAndNeverRemoved() {
        let three = "1-3: add o* @7 ^"
        // Each of these two observes an object of its own.
        for twin in [
            "add o1 @7 ^; fpost #1 o1", "\(three); fremove o2; fpost #1 o1,3",
            "add o1 @7 ^ /window; add o2 @7 ^ /panel; fpost #1 o1 /window; fpost #2 o2 /panel",
        ] {
            expect(
                "note neverRemoved 1 3",
                says: "3 observers of Done were added at one source location, and none was removed",
                in: "\(three); fpost #1 o1,2,3", notIn: twin)
        }
    }

    func testAFoundationHandlerThatBeginsAfterTheRemoval() {
        let begins = "worker add o1 ^; worker fbegin #1"
        let runs = "worker frun #1 o1; worker fend #1 n1"
        expect(
            "problem deliveredAfterRemoval 1 3 4", says: "received 1 notification after it was removed",
            "Let the handler check", in: "\(begins); fremove o1; \(runs)", notIn: "\(begins); \(runs); fremove o1")
    }

    // MARK: Observers of any name, and queues

    func testAnObserverOfAnyNameOfACenterWhosePostEndedTheProcess() {
        func findings(_ center: String = "^", ends reason: String = "signal4", knowsThread: Bool = true) -> [Finding] {
            var recording = recording(
                "worker add o1 - \(center); worker fbegin #1 Demo.Saved", ends: "worker end - !\(reason)")
            recording.entries[recording.entries.count - 1].isThreadKnown = knowsThread
            return Diagnosis(recording).findings
        }
        // `record` adds an end without a thread.
        for knowsThread in [true, false] {
            let found = findings(knowsThread: knowsThread)
            XCTAssertEqual(found.map(title), ["problem anyNameObserver 1 2 3"])
            assertSays(
                found.first,
                "ended by signal 4 while worker posted Demo.Saved to a center that has an observer of any name")
            XCTAssertEqual(titles(findings("^center=7f0020", knowsThread: knowsThread)), [])
        }
        XCTAssertEqual(titles(findings(ends: "exit")), [])
    }

    func testAnEnqueuedNotificationThatIsNotPostedForASecond() {
        func story(_ style: String, _ rest: String = "pass 2s") -> String {
            "1-2: worker enqueue @* $\(style) ^; \(rest)"
        }
        // The queue may be that of another thread.
        for poster in ["worker", "main"] {
            expect(
                "problem enqueuedNeverPosted 1 2",
                says: "Done was enqueued 2 times in a NotificationQueue on worker and not posted afterwards",
                in: story("asap"), notIn: story("whenIdle", "\(poster) fpost #1; pass 2s"))
        }
        // The program may have ended before the thread was idle.
        expect("note enqueuedNeverPosted 1 2", in: story("asap", ""), notIn: story("now"))
    }

    // MARK: Other findings

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

    func testObserversOfFoundationItselfNeedNoPostAndThoseOfAnotherCenterNeverReceiveIt() {
        expect("note unmatchedName 1", in: "add o1 ^", notIn: "add o1 ^own")
        expect(
            "problem neverDelivered 1 3", says: "posted once, but to another center",
            in: "add o1 ^center=7f0020; log 'added'; fpost #1", notIn: "add o1 ^; log 'added'; fpost #1")
    }

    func testACaptureOfAFoundationPostIsAnObserverOfIt() {
        for (script, unobserved) in [
            ("fbegin #1; capture #2 n1 ~1; append #2 o5 >worker; fend #1; worker handle #2 o5", 0),
            ("fbegin #1; fend #1", 1),
        ] {
            let audit = Evidence(recording(script))
            XCTAssertTrue(audit.addsUp)
            XCTAssertEqual(audit.postCount, 1)
            XCTAssertEqual(audit.accounts.sum(.unobserved)[.matched], unobserved)
            XCTAssertEqual(audit.index.pendingCount(ofPost: 0), 0)
        }
    }
}
