import Testing

@testable import ThreadedNotifications

@Suite("IdleWatch")
struct IdleWatchTests {
    private enum Event: CaseIterable {
        case isDisturbed, passBegins, wouldWait, probeReturned
    }

    /// What an event was answered.
    private enum Answer: Equatable {
        case none
        case goRound, arm
        case idle, notIdle
    }

    /// What a watch was told, and what it answered each time.
    private struct Told {
        var watch = IdleWatch()
        var events: [Event] = []
        var answers: [Answer] = []

        mutating func tell(_ event: Event) {
            events.append(event)
            switch event {
            case .isDisturbed:
                watch.isDisturbed()
                answers.append(.none)
            case .passBegins:
                watch.passBegins()
                answers.append(.none)
            case .wouldWait:
                answers.append(watch.wouldWait() == .arm ? .arm : .goRound)
            case .probeReturned:
                answers.append(watch.probeReturned() ? .idle : .notIdle)
            }
        }

        func told(_ event: Event) -> Told {
            var told = self
            told.tell(event)
            return told
        }
    }

    /// Calls `check` with every sequence of so many events at most.
    private func everySequence(upTo length: Int, from told: Told = Told(), check: (Told) -> String?) -> Bool {
        if let what = check(told) {
            let steps = zip(told.events, told.answers).map { "\($0): \($1)" }
            Issue.record("\(what), after \(steps.joined(separator: ", "))")
            return false
        }
        guard told.events.count < length else { return true }
        return Event.allCases.allSatisfy { everySequence(upTo: length, from: told.told($0), check: check) }
    }

    @Test("a loop waits if the probe is what wakes it, with nothing between the arming and that")
    func idle() {
        let isSo = everySequence(upTo: 8) { told in
            guard told.events.last == .probeReturned else { return nil }
            let isDirectlyAfter = told.answers.dropLast().last == .arm
            if (told.answers.last == .idle) == isDirectlyAfter { return nil }
            return isDirectlyAfter ? "it is idle, and was not told" : "it is told idle, and something came between"
        }
        #expect(isSo)
    }

    @Test("the probe is armed if the loop would wait again after exactly one pass, in which nothing else was told")
    func arm() {
        let isSo = everySequence(upTo: 8) { told in
            guard told.events.last == .wouldWait else { return nil }
            // The first announcement of the two sent the loop round, and did not arm.
            let isSettled =
                Array(told.events.suffix(3)) == [.wouldWait, .passBegins, .wouldWait]
                && told.answers[told.answers.count - 3] == .goRound
            if (told.answers.last == .arm) == isSettled { return nil }
            return isSettled ? "it is sent round once too often" : "the probe is armed too early"
        }
        #expect(isSo)
    }

    @Test("whatever it was told before, a quiet loop is found idle after three announcements at most")
    func progress() {
        let isSo = everySequence(upTo: 6) { told in
            var told = told
            var announcements = 0
            repeat {
                told.tell(.passBegins)
                told.tell(.wouldWait)
                announcements += 1
                if announcements > 3 { return "it is sent round for ever" }
            } while told.answers.last != .arm
            told.tell(.probeReturned)
            return told.answers.last == .idle ? nil : "the probe woke a quiet loop, and it is not idle"
        }
        #expect(isSo)
    }

    @Test("after idle, as at first, it starts over")
    func startsOver() {
        let isSo = everySequence(upTo: 6) { told in
            guard told.events.isEmpty || [.probeReturned, .isDisturbed].contains(told.events.last) else { return nil }
            let passed = told.told(.passBegins).told(.wouldWait)
            return told.told(.wouldWait).answers.last == .goRound && passed.answers.last == .goRound
                ? nil : "it remembers what was before"
        }
        #expect(isSo)
    }
}
