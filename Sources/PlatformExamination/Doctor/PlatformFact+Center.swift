internal import Foundation
internal import Scenarios
internal import ThreadedNotifications

/// F1 to F4: notification centers.
extension PlatformFact {
    static let center: [PlatformFact] = [
        PlatformFact(
            number: "F1", area: "NotificationCenter", expected: "observers are called in the order registered",
            questions: [
                TrialQuestion(
                    "observers-in-order", "20 observers of one name are called in the order registered",
                    expected: TrialExpectation(events: ["in the order registered"]), inBoth: callsInOrder)
            ]),
        PlatformFact(
            number: "F2", area: "NotificationCenter", expected: "removing a token twice is harmless",
            questions: [
                TrialQuestion(
                    "removing-twice", "a token removed twice removes no other observer",
                    expected: TrialExpectation(events: ["the other observer is called"]), inBoth: removesTwice)
            ]),
        PlatformFact(
            number: "F3", area: "NotificationCenter", expected: "a removed observer is not called",
            questions: [
                TrialQuestion(
                    "removed-during-a-post", "of two observers that remove each other, one is called",
                    expected: TrialExpectation(events: ["1 is called"]), inBoth: removesDuringPost),
                TrialQuestion(
                    "removed-by-another-thread", "no handler begins after its removal returned on another thread",
                    expected: TrialExpectation(events: ["none begins"]), inBoth: removesOnAnotherThread),
            ]),
        PlatformFact(
            number: "F4", area: "NotificationCenter", expected: "observers are matched by sender",
            questions: [
                TrialQuestion(
                    "equal-senders", "an observer of a sender that is a value is called for an equal one",
                    sentence: ofSender,
                    expected: TrialExpectation(events: ["called for an equal String", "called for an equal Int"]),
                    inBoth: matchesValues),
                TrialQuestion(
                    "freed-senders", "an observer of a sender that was freed is called for no other",
                    sentence: ofSender,
                    expected: TrialExpectation(events: ["called for none"]), inBoth: matchesFreed),
            ]),
    ]

    private static let ofSender =
        "If you specify only an object, the observer will receive all notifications containing that object."

    private static func callsInOrder(_ center: any CenterUnderTest, _ notes: TrialNotes) {
        let called = Locked<[Int]>([])
        let observers = (1...20).map { number in
            center.addObserver { called.withLock { $0.append(number) } }
        }
        center.post()
        let order = called.withLock { $0 }
        let detail = order.prefix(5).map(String.init).joined(separator: " ") + " …"
        notes.note(order == Array(1...20) ? "in the order registered" : "in another order", detail: detail)
        for observer in observers { observer.remove() }
    }

    private static func removesTwice(_ center: any CenterUnderTest, _ notes: TrialNotes) {
        let isCalled = Locked(false)
        let first = center.addObserver {}
        first.remove()
        let other = center.addObserver { isCalled.withLock { $0 = true } }
        first.remove()
        center.post()
        notes.note(isCalled.withLock { $0 } ? "the other observer is called" : "the other observer is removed")
        other.remove()
    }

    private static func removesDuringPost(_ center: any CenterUnderTest, _ notes: TrialNotes) {
        let observers = Locked<[any RemovableObserver]>([])
        let called = Locked(0)
        for other in [1, 0] {
            let observer = center.addObserver {
                called.withLock { $0 += 1 }
                observers.withLock { $0[other] }.remove()
            }
            observers.withLock { $0.append(observer) }
        }
        center.post()
        let count = called.withLock { $0 }
        notes.note(count == 1 ? "1 is called" : "\(count) are called")
        for observer in observers.withLock({ $0 }) { observer.remove() }
    }

    /// The first handler that is called blocks the posting thread until the main thread has removed the other
    /// observers.
    @MainActor
    private static func removesOnAnotherThread(_ center: any CenterUnderTest, _ notes: TrialNotes) throws {
        let count = 20
        let (first, late) = (Locked<Int?>(nil), Locked(0))
        let (isHeld, isRemoved, hasPosted) = (Gate("a handler"), Gate("the removal"), Gate("the poster"))
        let observers = (0..<count).map { number in
            center.addObserver {
                let isFirst = first.withLock { first in
                    if first == nil { first = number }
                    return first == number
                }
                guard isFirst else { return late.withLock { $0 += 1 } }
                isHeld.open()
                try? isRemoved.wait(timeout: TrialTimeouts.ours)
            }
        }
        Thread.detachNewThread {
            center.post()
            hasPosted.open()
        }
        try isHeld.wait(timeout: TrialTimeouts.ours)
        let held = first.withLock { $0 }
        for (number, observer) in observers.enumerated() where number != held { observer.remove() }
        isRemoved.open()
        try hasPosted.wait(timeout: TrialTimeouts.ours)
        let begun = late.withLock { $0 }
        notes.note(begun == 0 ? "none begins" : "handlers begin", detail: "\(begun) of \(count - 1)")
    }

    private static func matchesValues(_ center: any CenterUnderTest, _ notes: TrialNotes) {
        let values: [(String, observed: Any, posted: Any)] = [
            ("String", ["the", "sender"].joined(separator: " "), ["the", "sender"].joined(separator: " ")),
            ("Int", 1_000_000, 1_000_000),
        ]
        for (type, observed, posted) in values {
            let isCalled = Locked(false)
            let observer = center.addObserver(object: observed) { isCalled.withLock { $0 = true } }
            center.post(object: posted)
            notes.note("\(isCalled.withLock { $0 } ? "called" : "not called") for an equal \(type)")
            observer.remove()
        }
    }

    /// Posts the senders one after the other, so that the allocator may place a sender where an earlier one was freed.
    private static func matchesFreed(_ center: any CenterUnderTest, _ notes: TrialNotes) {
        let (count, called) = (100, Locked(0))
        let observer = center.addObserver(object: Sender()) { called.withLock { $0 += 1 } }
        for _ in 0..<count { center.post(object: Sender()) }
        let matched = called.withLock { $0 }
        notes.note(matched == 0 ? "called for none" : "called for others", detail: "\(matched) of \(count)")
        observer.remove()
    }
}

private final class Sender {}

extension TrialQuestion {
    /// A question about centers that is put to both sides in the same way.
    fileprivate init(
        _ name: String, _ claim: String, sentence: String? = nil, expected: TrialExpectation,
        inBoth body: @escaping @MainActor @Sendable (any CenterUnderTest, TrialNotes) throws -> Void
    ) {
        self.init(
            name, claim, sentence: sentence, expected: expected, foundation: { try body(FoundationCenter(), $0) },
            ours: .body { try body(OurCenter(), $0) })
    }
}
