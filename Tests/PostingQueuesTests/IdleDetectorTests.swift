import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

final class IdleDetectorTests: XCTestCase {
    private enum Event: CaseIterable {
        case reset, beginPass, willWait, probeDidWake
    }

    /// The answer to an event.
    private enum Answer: Equatable {
        case none
        case anotherPass, arm
        case idle, notIdle
    }

    /// A detector with the events that it was told and its answers.
    private struct Told {
        var detector = IdleDetector()
        var events: [Event] = []
        var answers: [Answer] = []

        mutating func tell(_ event: Event) {
            events.append(event)
            switch event {
            case .reset:
                detector.reset()
                answers.append(.none)
            case .beginPass:
                detector.beginPass()
                answers.append(.none)
            case .willWait:
                answers.append(detector.runLoopWillWait() == .armProbe ? .arm : .anotherPass)
            case .probeDidWake:
                answers.append(detector.probeDidWake() ? .idle : .notIdle)
            }
        }

        func told(_ event: Event) -> Told {
            var told = self
            told.tell(event)
            return told
        }
    }

    /// Calls `check` with every sequence of at most `length` events.
    private func everySequence(upTo length: Int, from told: Told = Told(), check: (Told) -> String?) -> Bool {
        if let what = check(told) {
            let steps = zip(told.events, told.answers).map { "\($0): \($1)" }
            XCTFail("\(what), after \(steps.joined(separator: ", "))")
            return false
        }
        guard told.events.count < length else { return true }
        return Event.allCases.allSatisfy { everySequence(upTo: length, from: told.told($0), check: check) }
    }

    func testARunLoopIsIdleIfTheProbeWakesItWithNoEventBetweenArmingAndWaking() {
        let isSo = everySequence(upTo: 8) { told in
            guard told.events.last == .probeDidWake else { return nil }
            let isDirectlyAfter = told.answers.dropLast().last == .arm
            if (told.answers.last == .idle) == isDirectlyAfter { return nil }
            return isDirectlyAfter
                ? "the loop is idle, and this is not reported" : "idle is reported although an event came between"
        }
        XCTAssertTrue(isSo)
    }

    func testTheProbeIsArmedIfTheLoopAnnouncesToWaitTwiceWithOnePassAndNoOtherEventInBetween() {
        let isSo = everySequence(upTo: 8) { told in
            guard told.events.last == .willWait else { return nil }
            // The first of the two announcements was answered by another pass.
            let isConfirmed =
                Array(told.events.suffix(3)) == [.willWait, .beginPass, .willWait]
                && told.answers[told.answers.count - 3] == .anotherPass
            if (told.answers.last == .arm) == isConfirmed { return nil }
            return isConfirmed ? "it makes one pass too many" : "the probe is armed too early"
        }
        XCTAssertTrue(isSo)
    }

    func testAfterAnyEventsAQuietLoopIsFoundIdleAfterAtMostThreeAnnouncements() {
        let isSo = everySequence(upTo: 6) { told in
            var told = told
            var announcements = 0
            repeat {
                told.tell(.beginPass)
                told.tell(.willWait)
                announcements += 1
                if announcements > 3 { return "it makes more passes without end" }
            } while told.answers.last != .arm
            told.tell(.probeDidWake)
            return told.answers.last == .idle ? nil : "the probe woke a quiet loop, and idle is not reported"
        }
        XCTAssertTrue(isSo)
    }

    func testItStartsOverAfterIdleAndAfterAReset() {
        let isSo = everySequence(upTo: 6) { told in
            guard told.events.isEmpty || [.probeDidWake, .reset].contains(told.events.last) else { return nil }
            let passed = told.told(.beginPass).told(.willWait)
            return told.told(.willWait).answers.last == .anotherPass && passed.answers.last == .anotherPass
                ? nil : "earlier events have an effect"
        }
        XCTAssertTrue(isSo)
    }
}
