import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

final class RuleCheckTests: XCTestCase {
    /// The result and the findings of a rule, without the records of the evidence, which `RuleReportsTests` has.
    private func text(
        _ rule: String, of recording: Recording, limits: DiagnosisLimits = DiagnosisLimits(),
        accepted: AcceptedFindings = AcceptedFindings()
    ) throws -> String {
        let rules = try Rule.rules(rule, source: "")
        let check = RuleCheck(rules, RecordingIndex(recording), limits: limits, accepted: accepted)
        // Before it, the report says what the recording lacks.
        let lines = check.text().drop { !$0.dropFirst(8).hasPrefix("\(rule):") }
        return lines.filter { !$0.hasPrefix("    run.jsonl:") }.joined(separator: "\n")
    }

    private func recording(_ script: String, ends: String = "end - !exit") -> Recording {
        RecordedStory("\(script); \(ends)").recording
    }

    /// For each form of rules, stories that satisfy it and that break it: lines that begin with `+`, as
    /// `RecordedStory.init(_:)` describes, and the reports of rules about the story.
    private static let stories = """
        + add o1 Saved; 1-2: give #* o1 Saved
        ok      Saved on thread worker: 2 handlers
        ok      Saved on thread 2: 2 handlers
        ok      Saved not on main: 2 handlers
        FAILED  Saved on main: 2 of 2 handlers ran on another thread
          observer 1 of Saved ran on worker 2 times
        ok      Saved observed: 2 posts
        ok      every post observed: 2 posts
        ok      Saved delivered: 2 delivered
        ok      everything delivered: 2 delivered
        + add o1 Saved; give #1 o1 Saved; give #2 o1 Saved >other
        FAILED  Saved not on thread worker: 1 of 2 handlers ran on that thread
          observer 1 of Saved ran on worker once
        + add o1 ^; main fpost #1 o1
        ok      Done on main: 1 handler
        + add o1 Saved; 1-2: give #* o1 Saved; add o9
        FAILED  Savd on main: the recording does not have the notification Savd; did you mean Saved?
        FAILED  Saved before Savd: the recording does not have the notification Savd; did you mean Saved?
        FAILED  Other not on main: the recording does not have the notification Other
        FAILED  Saved on thread wrker: the recording does not have the thread wrker; did you mean worker?
        FAILED  Done before Saved on thread x: the recording does not have the thread x
        ok      no handler on thread x longer than 5 ms: the recording does not have the thread x
        ok      no handler on main longer than 5 ms: 0 handlers
        FAILED  Done before Saved on main: no handler of Saved ran there; it was posted 2 times
        + add o1 Saved
        FAILED  Saved not on main: no handler of Saved ran; it was never posted
        FAILED  Saved observed: Saved was never posted
        FAILED  every post observed: nothing was posted
        FAILED  everything delivered: nothing was posted
        + log -
        ok      no observer left at exit: 0 observers
        ok      no finding: no findings

        + add o1 Saved; 1-2: give #* o1 Saved; hand #3 o1 Saved; pass 60ms; worker handle #3 o1 Saved
        ok      Saved within 100 ms: 3 deliveries, the longest 62 ms
        FAILED  Saved within 50 ms: 1 of 3 deliveries took longer, up to 62 ms
          observer 1 of Saved received #3 62 ms after it was posted
        + add o1 Saved; hand #1 o1 Saved
        FAILED  Saved within 10 s: 1 of 1 delivery took longer, up to 2 ms
          observer 1 of Saved had not received #1 2 ms after it was posted
        + 1-2: add o* Saved; 1-3: hand #* o1,2 Saved; 1-3: worker handle #* o1 Saved; hand #4 o1,2 Saved
        ok      Saved at most 4 waiting: at most 4 waiting
        FAILED  Saved at most 3 waiting: up to 4 waiting
          4 waited for observer 2 of Saved at the same time
        + add o1 A; add o2 B; 1-2: give #* o1 A; 3-4: give #* o2 B; give #5 o2 B >other; give #6 o1 A >other; give #7 o2 B >main
        ok      A before B on thread worker: 2 handlers of B
        ok      each A before B on thread worker: 2 handlers of B
        FAILED  A before B: 2 of 4 handlers of B ran before A
          other handled B once before its first A
          main handled B once and never A
        + add o1 A; add o2 B; give #1 o1 A; give #2 o2 B; give #3 o2 B; give #4 o1 A
        ok      A before B: 2 handlers of B
        FAILED  each A before B: 1 of 2 handlers of B ran before A
          worker handled B once before its own A

        + 1-2: post #* Saved @7 n0; add o1 Saved; give #3 o1 Saved; worker post #4 Other n0
        FAILED  Saved observed: 2 of 3 posts had no observer
          Saved was posted by main 2 times without an observer
        FAILED  every post observed: 3 of 4 posts had no observer
          Saved was posted by main 2 times without an observer
          Other was posted by worker once without an observer
        + add o1 ^queue=main; worker fbegin #1
        ok      every post observed: 1 post
        + 1-2: post #* Saved @7 n0; pass 10s; add o1 Saved >main; capture #3 Saved n1 ~2; main handle #3 o1 Saved
        FAILED  Saved observed: 1 of 2 posts had no observer
          Saved was posted by main once without an observer
        + add o1 Saved; 1-2: give #* o1 Saved; post #3 Other n0; hand #4 o1 Saved; drop #4 o1 Saved n1; enqueue #5 Idle $asap
        FAILED  Saved delivered: 2 delivered, 1 dropped
          observer 1 of Saved: 1 dropped
        FAILED  Other delivered: no handler was due for 1 post
        FAILED  Idle delivered: 1 pending
          a posting queue of Idle: 1 pending
        + add o1 Saved; remove o1 n0
        ok      no observer left at exit: 1 observer
        + add o1 Saved; remove o1 n0; 2-3: add o* Saved @9; add o4 @9
        FAILED  no observer left at exit: 3 of 4 observers were not removed
          observer 2 of Saved was not removed, and 1 more that were added there
          observer 4 of Done was not removed
        + post #9 n1; register o1 Own ^own; post #1 ^own; fend #1 n0; add o2 ^; fpost #2 o2; fremove o2
        ok      every post observed: 2 posts
        ok      no observer left at exit: 1 observer

        + add o1 >main; 1-2: worker hand #* o1 >main; main handle #1 o1 1ms; main handle #2 o1 30ms
        ok      no handler on main longer than 31 ms: 2 handlers, the longest 31 ms
        FAILED  no handler on main longer than 16 ms: 1 of 2 handlers took longer, up to 31 ms
          observer 1 of Done took 31 ms on main
        ok      no handler on thread worker longer than 16 ms: 0 handlers
        + append - #1 >worker; worker deliver - #1; pass 20ms
        FAILED  no handler longer than 16 ms: 1 of 1 handler took longer, up to 21 ms
          a performed block took 21 ms on worker and did not return
        + add o1 %poster; post #1 @7 n1; append #1 o1; worker deliver #1 o1; worker return #1 o1
        ok      no handler longer than 16 ms: 0 handlers
        """

    func testEachFormOfRulesHoldsOrFails() throws {
        for story in ("\n" + Self.stories).components(separatedBy: "\n+ ").dropFirst() {
            let lines = story.split(separator: "\n").map(String.init)
            let recording = recording(lines[0])
            let rules = lines.dropFirst().filter { !$0.hasPrefix(" ") }.compactMap {
                $0.dropFirst(8).components(separatedBy: ": ").first
            }
            XCTAssertEqual(try rules.map { try text($0, of: recording) }, Self.reports(lines.dropFirst()), lines[0])
        }
    }

    /// The lines of each rule.
    private static func reports(_ lines: ArraySlice<String>) -> [String] {
        lines.reduce(into: []) { reports, line in
            if line.hasPrefix(" ") { reports[reports.count - 1] += "\n\(line)" } else { reports.append(line) }
        }
    }

    func testFindingsOfAKindProblemsOrAnyFindingBreakARuleUnlessTheyAreAccepted() throws {
        let wrong = recording("add o1 Saved; hand #1 o1 Saved; other handle #1 o1 Saved 20ms")
        for rule in ["no finding: 1 finding", "no problem: 1 problem", "no wrongThread: 1 finding"] {
            let text = try text(rule.components(separatedBy: ":")[0], of: wrong)
            XCTAssertTrue(text.hasPrefix("FAILED  \(rule)\n  problem: observer 1 of Saved should be handled"), text)
        }
        XCTAssertEqual(try text("no flood", of: wrong), "ok      no flood: no findings")
        XCTAssertEqual(
            try text("no finding", of: wrong, accepted: AcceptedFindings(text: "wrongThread", source: "")),
            "ok      no finding: no findings, and 1 accepted")
        let late = recording("add o1 >main; worker hand #1 o1 >main; main handle #1 o1 20ms")
        XCTAssertEqual(try text("no problem", of: late), "ok      no problem: no problems")
        XCTAssertTrue(try text("no finding", of: late).hasPrefix("FAILED  no finding: 1 finding\n  note: observer 1"))
        XCTAssertEqual(
            try text("no finding", of: late, limits: DiagnosisLimits(mainBudget: .milliseconds(1000))),
            "ok      no finding: no findings")
    }

    func testAnIncompleteRecordingIsAFailureAndTheObserversAtItsEndAreUnknown() throws {
        let incomplete = recording("add o1 Saved; remove o1 n0", ends: "")
        XCTAssertEqual(
            RuleCheck([], RecordingIndex(incomplete)).text(),
            ["FAILED  the recording is complete: there is no end record, so the last records may be missing"])
        let (rule, unknown) = ("no observer left at exit", "a process was killed or the recording is truncated, so")
        XCTAssertTrue(try text(rule, of: incomplete).hasPrefix("FAILED  \(rule): \(unknown)"))
    }
}
