import DeliveryRecording
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// Tests each kind of finding with a recording that has it, and a second one that differs just enough not to have it.
///
/// Recordings are written as `RecordedStory.init(_:)` describes. Each ends with the exit of its process.
final class DiagnosisTests: XCTestCase {
    func recording(_ script: String, ends: String = "end - !exit") -> Recording {
        RecordedStory("\(script); \(ends)").recording
    }

    func findings(
        _ script: String, ends: String = "end - !exit", limits: DiagnosisLimits = DiagnosisLimits()
    ) -> [Finding] {
        Diagnosis(recording(script, ends: ends), limits: limits).findings
    }

    /// For example `note fork 3`: the severity, the kind, and the lines of the evidence.
    func title(_ finding: Finding) -> String {
        ([finding.severity.rawValue, finding.kind.name] + finding.evidence.map { "\($0 + 1)" }).joined(separator: " ")
    }

    func titles(_ findings: [Finding]) -> [String] { findings.map { "\($0.severity) \($0.kind)" } }

    /// Everything that a finding says.
    func text(_ finding: Finding?) -> String {
        finding.map { ([$0.problem] + $0.details + [$0.remedy]).joined(separator: "\n") } ?? ""
    }

    func assertSays(_ finding: Finding?, _ words: String..., line: UInt = #line) {
        for word in words { XCTAssertTrue(text(finding).contains(word), "\(text(finding)): \(word)", line: line) }
    }

    /// Expects one finding, and others or none in the second recording.
    func expect(
        _ expected: String, says words: String..., in broken: String, notIn twin: String, leaving rest: [String] = [],
        limits: DiagnosisLimits = DiagnosisLimits(), line: UInt = #line
    ) {
        let findings = findings(broken, limits: limits)
        XCTAssertEqual(findings.map(title), [expected], "\(findings.map(\.problem))", line: line)
        for word in words { XCTAssertTrue(text(findings.first).contains(word), text(findings.first), line: line) }
        let others = self.findings(twin, limits: limits)
        XCTAssertEqual(titles(others), rest, "\(others.map(\.problem))", line: line)
    }

    // MARK: Observers

    func testAnObserverRemovedBeforeAPostWithoutObservers() {
        let posts = "1-3: worker post #* @7 n0"
        let twin = "add o1; add o2; remove o1 n0; give #1 o2"
        expect(
            "problem removedBeforePost 1 2 3",
            says: "because its token was released. Then, 1 ms later, Done was posted 3 times without", "keep the token",
            in: "add o1; remove o1 n0 !released; \(posts)", notIn: twin)
        expect(
            "problem removedBeforePost 1 4 6", says: "and 1 notification for it cancelled",
            in: "add o1; hand #9 o1; remove o1 n0 !released; cancel #9 o1; \(posts)", notIn: twin)
        // The program may have removed these on purpose.
        for removal in ["remove o1 n0", "remove o1 n0 !cancelled", "remove o1 n0 !released +1s"] {
            expect("note removedBeforePost 1 2 3", in: "add o1; \(removal); \(posts)", notIn: twin)
        }
        expect("note removedBeforePost 1 6 7", in: "add o1; give #9 o1; remove o1 n0 !released; \(posts)", notIn: twin)
        XCTAssertFalse(text(findings("add o1; remove o1 n0 !cancelled; \(posts)").first).contains("keep the token"))
    }

    func testADeliveryAfterRemovalExceptForHandlersThatWereRunning() {
        func story(_ running: String, on thread: String = "worker") -> String {
            """
            add o1 >\(thread); 1-2: other hand #* o1 >\(thread)
            remove o1 \(running); \(thread) handle #1 o1; cancel #2 o1
            """
        }
        expect(
            "problem deliveredAfterRemoval 1 6 7", says: "received 1 notification after it was removed",
            in: story("n0"), notIn: story("n1"))
        // The removing thread cannot have been running a handler that begins later.
        expect("problem deliveredAfterRemoval 1 6 7", in: story("n1", on: "main"), notIn: story(""))
    }

    func testObserversThatAreNeverRemovedHaveTheRemedyOfAWeakReference() {
        assertSays(findings("1-2: add o* @7; give #1 o1,2").first, "[weak self]")
    }

    func testNothingDeliveredBecauseTheTransformReturnedNil() {
        let skipped = "add o1; 1-2: post #* n1 & skip #* o1"
        expect(
            "problem neverDelivered 1 3", says: "its transform returned nil for all 3 notifications",
            in: "\(skipped); post #3 n1; skip #3 o1", notIn: "\(skipped); give #3 o1")
        // An observer that is removed during a post is skipped, too.
        XCTAssertEqual(titles(findings("add o1; post #1 n1; skip #1 o1; other remove o1 n0")), [])
    }

    func testNothingDeliveredBecauseEverythingIsPending() {
        expect(
            "problem neverDelivered 1 3", says: "1 notification for it is still waiting", "observer 1 of Done",
            "Make worker (thread 2) run its run loop", in: "add o1; hand #1 o1", notIn: "add o1; give #1 o1")
    }

    func testNothingDeliveredBecauseOfAnotherSenderOrAnotherCenter() {
        // A post without a count may have matched the observer.
        expect(
            "problem neverDelivered 1 2",
            says: "it observes only Window 0x10, but its name was posted once with another object, such as Panel 0x20",
            in: "add o1 /window; post #1 n0 /panel", notIn: "add o1; post #1 /panel")
        expect(
            "problem neverDelivered 1 2", says: "its name was posted once, but to another center",
            in: "add o1; post #1 n0 /panel", notIn: "post #1 n0; add o1 Another; remove o1 Another n0",
            leaving: ["note unmatchedName"])
        // Another observer asks for the posts of its own sender.
        let observers = "add o1 @7 /window; add o2 @7 /panel"
        expect(
            "problem neverDelivered 1 3", says: "with no object. The same is true of another one",
            in: "\(observers); post #1 n0", notIn: "\(observers); post #1 n1 /panel; worker handle #1 o2",
            leaving: ["problem unaccounted"])
        // A post during which the program ended may have matched it.
        XCTAssertEqual(titles(findings("1-2: add o* >main; post #1 n2; deliver #1 o1 >main")), [])
    }

    func testAPostDuringTheRegistrationOrRemovalOfAnObserverDoesNotCountAsMissed() {
        let removed = "log - 'to be removed'; other post #2 n0; remove o1 >worker n0"
        expect(
            "problem neverDelivered 2 5", says: "its name was posted once, but to another center",
            in: """
                other log - 'before'; add o1; log - 'added'; other log - 'goes on'
                other post #1 n0; \(removed)
                """, notIn: "other log - 'before'; add o1; other post #1 n0; log - 'added'; \(removed)")
    }

    /// With a pass over the posts for each observer, this would take minutes.
    func testThousandsOfPostsAndObserversOfOneNameAreOneFinding() {
        for sender in [nil, RecordedStory.window] {
            let recording = RecordedStory.complete { story in
                for number in 1...5000 {
                    story.add(.register, observer: number, target: RecordedStory.main, sender: sender)
                    story.add(.post, on: RecordedStory.worker, post: number, count: 0)
                }
            }
            let findings = Diagnosis(recording).findings
            XCTAssertEqual(findings.count { $0.kind == .neverDelivered }, 1)
        }
    }

    // MARK: Names

    func testAPostBeforeTheFirstObserverWasAdded() {
        func story(_ name: String, posts: String = "", observes: String = "") -> String {
            "1-2: post #* @9 n0 \(posts); add o1 \(name) \(observes); give #3 o1 \(name)"
        }
        expect(
            "problem unmatchedName 1 3", says: "Done was posted 2 times before it had an observer",
            in: story("Done"), notIn: story("Another"))
        expect(
            "problem unmatchedName 1 3", in: story("Done", posts: "/window", observes: "/window"),
            notIn: story("Done", posts: "/window", observes: "/panel"))
        // An observer of one sender missed only posts of that sender.
        func sent(_ sender: String) -> String {
            """
            post #1 n0; post #2 n0 /window; add o1 /\(sender)
            post #3 n1 /\(sender); append #3 o1 >worker; worker handle #3 o1
            """
        }
        expect(
            "problem unmatchedName 2 3", says: "Done was posted once before", in: sent("window"), notIn: sent("panel"))
        // In the document's technique too, and not after a removal.
        expect(
            "problem unmatchedName 1 2", in: "worker post #1; register",
            notIn: "add o1; give #1 o1; remove o1 n0; post #2 n0; add o2; give #3 o2")
    }

    func testANameThatWasNeverPostedIsAProblemIfAMisspeltOneWas() {
        func story(_ name: String) -> String { "add o1 WindowWillClose; post #1 @9 n0 \(name)" }
        expect(
            "problem unmatchedName 1 2",
            says: "WindowWillClose was never posted but is observed by observer 1. WindowWilClose was posted once",
            in: story("WindowWilClose"), notIn: story("WindowDidOpen"), leaving: ["note unmatchedName"])
        assertSays(findings(story("WindowDidOpen")).first, "posted without an observer: WindowDidOpen (once)")
        XCTAssertEqual(titles(findings(story("WindowDidOpen"), ends: "")), ["note incomplete"])
        assertSays(findings("add o1; remove o1 n0").first, "Keep the token")
        expect(
            "note unmatchedName 1 6", says: "PriceChangd was posted once and has no observer. PriceChanged has one.",
            in: "add o1 PriceChanged; give #1 o1 PriceChanged; post #2 PriceChangd n0",
            notIn: "add o1 PriceChanged; give #1 o1 PriceChanged; post #2 WindowClosed n0")
        // Another process enqueued the right one.
        var story = RecordedStory("enqueue #1 ItemSaved >main $asap; end - !exit")
        story.process = ProcessIdentity(id: 200, name: "other")
        story.register(1, "ItemSaved")
        story.add(.post, "ItemSeved", post: 1, count: 0)
        story.end()
        XCTAssertEqual(
            titles(Diagnosis(story.recording).findings), ["problem enqueuedNeverPosted", "problem unmatchedName"])
    }

    func testNamesThatDifferInAWholeWordAreDifferentNamesAndATypingErrorIsAProblem() {
        let different = [
            ("ApplicationWillFinishLaunching", "ApplicationDidFinishLaunching"), ("JobStart", "JobStop"),
            ("DeviceConnected", "DeviceDisconnected"), ("com.example.get-value", "com.example.set-value"),
            ("Went.Online", "Went.Offline"), ("WindowWillClose", "WindowClose"), ("Step1Done", "Step2Done"),
            ("VolumeMounted", "VolumeUnmounted"), ("WindowWillClose", "WindowWillClose2"),
        ]
        let misspelt = [
            ("WindowWillClose", "WindowWilClose"), ("JobArrived", "JobArrvied"), ("JobArrived", "jobArrived"),
            ("job.arrived", "JobArrived"), ("JobArrived", "jobs.JobArrived"), ("jobs.JobArrived", "JobArrived"),
            ("WindowWillClose", "WINDOWWILLCLOSE"),
        ]
        for (observed, posted) in different + misspelt {
            let finding = findings("add o1 \(observed); post #1 \(posted) n0").first
            let isMisspelt = misspelt.contains { $0 == (observed, posted) }
            XCTAssertEqual(finding?.severity, isMisspelt ? .problem : .note, posted)
            assertSays(finding, isMisspelt ? "\(posted) was posted once." : "posted without an observer: \(posted)")
        }
        // Another name that is observed and delivered may be used beside it.
        for (delivered, observed) in [("ItemAdded", "ItemsAdded"), ("UserLogin", "UserLogic"), ("Done", "jobs.Done")] {
            let findings = findings("add o9 \(observed); add o1 \(delivered); give #1 o1 \(delivered)")
            XCTAssertEqual(titles(findings), ["note unmatchedName"])
        }
    }

    /// Compared with the product of their lengths, these names would take minutes.
    func testManyLongNamesThatResembleNoneAreEachAFinding() {
        var generator = SeededGenerator(seed: 1)
        func name() -> String { String((0..<100).map { _ in "abcdefghijk".randomElement(using: &generator) ?? "a" }) }
        let recording = RecordedStory.complete { story in
            for observer in 1...100 { story.register(observer, name()) }
            for post in 1...200 { story.add(.post, name(), post: post, count: 0) }
        }
        XCTAssertEqual(Diagnosis(recording).findings.map(\.kind), Array(repeating: .unmatchedName, count: 100))
    }

    // MARK: The report

    func testTheReportCountsTheFindingsAndTheNextCommandShowsTheFirst() {
        let diagnosis = Diagnosis(
            recording(
                """
                refuseWait -; add o1; hand #1 o1; drop #1 o1; post #2 Other n0
                3-4: append - #* >worker; worker deliver - #3; worker return - #3; cancel - #4
                """))
        XCTAssertEqual(
            diagnosis.totals,
            "1 problem, 1 note; 2 posted (1 without an observer), 1 matched, 1 dropped; "
                + "2 blocks, 1 performed, 1 cancelled; all accounted for")
        XCTAssertEqual(diagnosis.firstSelection, [])
        XCTAssertEqual(Diagnosis(recording("add o1")).firstSelection, ["--name", "Done"])
    }

    func testAcceptedFindingsAreLeftOutByKindOrByKindAndNameAndCounted() throws {
        let recording = recording("1-2: add o* * & hand #* o* * & drop #* o* *; fork -")
        for (text, kinds) in [
            ("", [Finding.Kind.dropped, .dropped, .fork]), ("# fork\n\n dropped 2 # known\n", [.dropped, .fork]),
            ("dropped\r\nfork", []), ("dropped 3\nfork\t", [.dropped, .dropped]),
        ] {
            let diagnosis = Diagnosis(recording, accepted: try AcceptedFindings(text: text, source: "accepted"))
            XCTAssertEqual(diagnosis.findings.map(\.kind), kinds)
            XCTAssertEqual(diagnosis.acceptedCount, 3 - kinds.count)
        }
        // A kind of an earlier version accepts what it accepted then.
        let slow = self.recording("add o1 >main; post #1 n1; main handle #1 o1 20ms")
        for (text, unused) in [("mainHeldUp", []), ("fork\nstalled Done", ["accepted:1: fork"])] {
            let diagnosis = Diagnosis(slow, accepted: try AcceptedFindings(text: text, source: "accepted"))
            XCTAssertEqual(diagnosis.findings, [])
            XCTAssertEqual(diagnosis.unusedAccepted, unused)
        }
        XCTAssertThrowsError(try AcceptedFindings(text: "fork\ndroped", source: "accepted")) { error in
            XCTAssertTrue(
                "\(error)".hasPrefix("accepted:2: \"droped\" is not a kind of finding. Did you mean dropped?"))
        }
        assertThrows(LogError.self) { try AcceptedFindings(path: "/nonexistent") }
    }

    func testTheMostSevereFindingIsFirstAndWithinAKindTheMostFrequent() {
        let drops = (1...3).map { observer in
            "\(observer * 10)-\(observer * 11 - 1): hand #* o\(observer) \(observer) & drop #* o\(observer) \(observer)"
        }
        let findings = findings("1-3: add o* *; \(drops.joined(separator: ";")); 1-5: fork -; refuseWait -")
        XCTAssertEqual(findings.map(\.kind), [.refusedWait, .dropped, .dropped, .dropped, .fork])
        XCTAssertEqual(findings.map(\.weight), [1, 3, 2, 1, 5])
    }
}
