import DeliveryRecording
import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

final class DiagnosisTests: XCTestCase {
    private func recording(_ script: String) -> Recording {
        let waits = script.replacing("WORKER", with: "'\(RecordedStory.worker) to handle Done' >worker")
            .replacing("MAIN", with: "'\(RecordedStory.main) to perform a block' >main")
        return RecordedStory(waits.contains("end - !") ? waits : "\(waits); end - !exit").recording
    }

    private func findings(_ script: String, limits: DiagnosisLimits = DiagnosisLimits()) -> [Finding] {
        Diagnosis(recording(script), limits: limits).findings
    }

    /// For example `note fork 3`: the severity, the kind, and the lines of the evidence.
    private func title(_ finding: Finding) -> String {
        ([finding.severity.rawValue, finding.title] + finding.evidence.map { "\($0 + 1)" }).joined(separator: " ")
    }

    private func titles(_ findings: [Finding]) -> [String] { findings.map { "\($0.severity) \($0.title)" } }

    private func text(_ finding: Finding?) -> String { finding.map { "\($0.problem)\n\($0.remedy)" } ?? "" }

    private func assertSays(_ finding: Finding?, _ words: String, line: UInt = #line) {
        XCTAssertTrue(text(finding).contains(words), "\(text(finding)): \(words)", line: line)
    }

    private func check(_ stories: String) {
        var expected: [String] = []
        for line in stories.split(separator: "\n").map({ String($0) }) {
            let story = String(line.dropFirst(2))
            if line.hasPrefix("+ ") {
                let findings = findings(story)
                XCTAssertEqual(findings.map(title), [expected[0]], "\(story): \(findings.map(\.problem))")
                for words in expected.dropFirst() { assertSays(findings.first, words) }
            } else if let (_, others, story) = line.wholeMatch(of: /- \[(.*?)\] (.*)/)?.output {
                XCTAssertEqual(titles(findings(String(story))), [String(others)], String(story))
            } else if line.hasPrefix("- ") {
                XCTAssertEqual(titles(findings(story)), [], story)
            } else {
                expected = line.components(separatedBy: " | ")
            }
        }
    }

    func testFindingsAboutObservers() { check(FindingStories.observers) }
    func testFindingsAboutNamesAndQueues() { check(FindingStories.names) }
    func testFindingsAboutThreadsAndOrder() { check(FindingStories.threads) }
    func testFindingsAboutTimeAndWaits() { check(FindingStories.time) }
    func testFindingsAboutEnds() { check(FindingStories.ends) }

    // MARK: Limits

    func testLimitsDecide() {
        let flood = { (count: Int) in "add o1; 1-\(count): hand #* o1; 1-\(count): worker handle #* o1" }
        let slow = { (time: String) in "add o1 >main; other hand #1 o1 >main; main handle #1 o1 \(time)" }
        let stall = { (time: String) in "add o1; give #1 o1; hand #2 o1; pass \(time); log - 'main goes on'" }
        for (limits, above, below, expected) in [
            (DiagnosisLimits(depth: 11), flood(12), flood(11), "problem flood 1 25"),
            (DiagnosisLimits(mainBudget: .milliseconds(4)), slow("4ms"), slow("2ms"), "note stalled 1 4 5"),
            (
                DiagnosisLimits(chain: 99), chain(100, isGoing: false), chain(99, isGoing: false),
                "note selfPosting 1 397 400"
            ),
            (DiagnosisLimits(stall: .milliseconds(100)), stall("200ms"), stall("50ms"), "problem stalled 5 7"),
        ] {
            XCTAssertEqual(findings(above, limits: limits).map(title), [expected])
            XCTAssertFalse(findings(below, limits: limits).map(title).contains(expected))
        }
    }

    // MARK: Ends without a thread

    /// `record` adds such an end.
    private func endingWithoutThread(_ script: String) -> [Finding] {
        var recording = recording(script)
        recording.entries[recording.entries.count - 1].isThreadKnown = false
        return Diagnosis(recording).findings
    }

    func testWhoEndedTheProcessIsNotGuessed() {
        func handler(_ number: Int, _ thread: String) -> String {
            "\(thread) add o\(number) >\(thread); \(thread) post #\(number) n1; \(thread) deliver #\(number) o\(number)"
        }
        for (script, titles) in [
            ("log; \(handler(1, "worker")); end - !signal11", ["note endedInHandler"]),
            ("\(handler(1, "main")); end - !signal11", ["problem endedInHandler"]),
            (
                "\(handler(1, "worker")); \(handler(2, "other")); end - !signal11",
                ["note endedInHandler", "note endedInHandler"]
            ),
            ("worker add o1 - ^; worker fbegin #1; end - !signal4", ["problem anyNameObserver"]),
            ("\(handler(1, "worker")); pass 20s; other log 'tick'", ["problem handlerNeverReturned"]),
            // It may have ended the program after long work.
            ("\(handler(1, "worker")); pass 20s", ["note handlerNeverReturned"]),
        ] { XCTAssertEqual(self.titles(endingWithoutThread(script)), titles, script) }
        XCTAssertEqual(titles(findings("\(handler(1, "worker")); pass 20s; worker end - !exit")), [])
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

    func testAHandlerThatPostsToItselfWithoutEndIsAProblem() {
        let going = findings(chain(10, isGoing: true))
        XCTAssertEqual(going.map(title), ["problem selfPosting 1 37 40"])
        assertSays(going.first, "observer 1 of Ping causes its own next call, 10 times in a row, and still does when")
        XCTAssertEqual(titles(findings(chain(10, isGoing: false))), [])
        let two = findings(chain(60, isGoing: true, throughAnother: true))
        XCTAssertEqual(titles(two), ["problem selfPosting"])
        assertSays(two.first, "observer 1 of Ping causes its own next call, 30 times")
        // A handler that ends the program is not stuck, unless the program ends by a signal.
        let nested = "add o1 >main; 1-20: post #* n1 & deliver #* o1 >main"
        XCTAssertEqual(titles(findings(nested)), [])
        XCTAssertEqual(findings("\(nested); end - !signal11").map(\.title), ["selfPosting", "endedInHandler"])
    }

    // MARK: Names

    func testNamesThatDifferInAWholeWordAreDifferentNamesAndATypingErrorIsAProblem() {
        let different = [
            ("ApplicationWillFinishLaunching", "ApplicationDidFinishLaunching"), ("Step1Done", "Step2Done"),
            ("com.example.get-value", "com.example.set-value"), ("Went.Online", "Went.Offline"),
            ("VolumeMounted", "VolumeUnmounted"), ("WindowWillClose", "WindowWillClose2"),
        ]
        let misspelt = [
            ("WindowWillClose", "WindowWilClose"), ("JobArrived", "JobArrvied"), ("JobArrived", "jobArrived"),
            ("job.arrived", "JobArrived"), ("JobArrived", "jobs.JobArrived"), ("jobs.JobArrived", "JobArrived"),
        ]
        for (observed, posted) in different + misspelt {
            let finding = findings("add o1 \(observed); post #1 \(posted) n0").first
            let isMisspelt = misspelt.contains { $0 == (observed, posted) }
            XCTAssertEqual(finding?.severity, isMisspelt ? .problem : .note, posted)
        }
        // Another name that is observed and delivered may be used beside it.
        for (delivered, observed) in [("ItemAdded", "ItemsAdded"), ("UserLogin", "UserLogic"), ("Done", "jobs.Done")] {
            let findings = findings("add o9 \(observed); add o1 \(delivered); give #1 o1 \(delivered)")
            XCTAssertEqual(titles(findings), ["note unmatchedName"])
        }
    }

    /// With a pass over the posts for each observer, or over the letters of all pairs of names, this would take
    /// minutes.
    func testManyPostsObserversAndLongNamesAreDiagnosedInTime() {
        for sender in [nil, RecordedStory.window] {
            let recording = RecordedStory.complete { story in
                for number in 1...5000 {
                    story.add(.register, observer: number, target: RecordedStory.main, sender: sender)
                    story.add(.post, on: RecordedStory.worker, post: number, count: 0)
                }
            }
            XCTAssertEqual(Diagnosis(recording).findings.count { $0.kind == "neverDelivered" }, 1)
        }
        var generator = SeededGenerator(seed: 1)
        func name() -> String { String((0..<100).map { _ in "abcdefghijk".randomElement(using: &generator) ?? "a" }) }
        let recording = RecordedStory.complete { story in
            for observer in 1...100 { story.register(observer, name()) }
            for post in 1...200 { story.add(.post, name(), post: post, count: 0) }
        }
        XCTAssertEqual(Diagnosis(recording).findings.map(\.title), Array(repeating: "unmatchedName", count: 100))
    }

    // MARK: The report

    func testTheReportShowsTwentyFindingsAndCountsAll() {
        XCTAssertEqual(Diagnosis(Recording([])).totals, "1 note")
        XCTAssertEqual(Diagnosis(recording("log -")).totals, "no findings")
        let diagnosis = Diagnosis(recording("1-30: add o* * & hand #* o* * & drop #* o* *; refuseWait -"))
        XCTAssertEqual(diagnosis.text().count { $0.hasPrefix("note: ") }, 19)
        XCTAssertEqual(diagnosis.text().suffix(2), ["and 11 more", ""])
        XCTAssertEqual(diagnosis.totals, "1 problem, 30 notes")
        XCTAssertNil(diagnosis.firstName)
        XCTAssertEqual(Diagnosis(recording("add o1")).firstName, "Done")
        // The name that a finding accuses, also if the other one is recorded first.
        XCTAssertEqual(Diagnosis(recording("post #1 n0 ItemSeved; add o1 ItemSaved")).firstName, "ItemSaved")
    }

    func testAcceptedFindingsAreLeftOutByKindOrByKindAndNameAndCounted() throws {
        let recording = recording("1-2: add o* * & hand #* o* * & drop #* o* *; fork -")
        for (text, kinds, unused) in [
            ("", ["dropped", "dropped", "fork"], []), ("# fork\n\n dropped 2 # known\n", ["dropped", "fork"], []),
            ("dropped\r\nfork", [], []), ("dropped 3\nfork\t", ["dropped", "dropped"], ["a:1: dropped 3"]),
            // The names of earlier versions are understood.
            ("dropped\nfork\nmainHeldUp", [], ["a:3: mainHeldUp"]),
        ] as [(String, [String], [String])] {
            let diagnosis = Diagnosis(recording, accepted: try AcceptedFindings(text: text, source: "a"))
            XCTAssertEqual(diagnosis.findings.map(\.title), kinds)
            XCTAssertEqual(diagnosis.acceptedCount, 3 - kinds.count)
            XCTAssertEqual(diagnosis.unusedAccepted, unused)
        }
        XCTAssertThrowsError(try AcceptedFindings(text: "fork\ndroped", source: "accepted")) { error in
            XCTAssertTrue(
                "\(error)".hasPrefix("accepted:2: \"droped\" is not a kind of finding. Did you mean dropped?"))
        }
    }

    func testTheMostSevereFindingIsFirstAndWithinAKindTheMostFrequent() {
        let drops = (1...3).map { observer in
            "\(observer * 10)-\(observer * 11 - 1): hand #* o\(observer) \(observer) & drop #* o\(observer) \(observer)"
        }
        let findings = findings("1-3: add o* *; \(drops.joined(separator: ";")); 1-5: fork -; refuseWait -")
        XCTAssertEqual(findings.map(\.title), ["refusedWait", "dropped", "dropped", "dropped", "fork"])
        XCTAssertEqual(findings.map(\.weight), [1, 3, 2, 1, 5])
    }
}
