@testable import DistributedNotifications
@testable import NotificationServer

/// A `SuspensionBuffer` and the naive model, which take the same steps.
struct ComparedSuspension {
    enum Step: Hashable, CaseIterable {
        case suspend, resume
        /// Matches both registrations, both, the first, the second.
        case postA, postB, postC, postD
        /// As A.
        case postImmediately
        case unregister1, unregister2
    }

    private var buffer: SuspensionBuffer<TestPost>
    private var model: NaiveSuspension
    private var registered: [MatchingObserver]
    private var posts = 0

    init(entryLimit: Int, byteLimit: Int = 1 << 20, overflow: ServerLimits.HeldOverflow, registered: [MatchingObserver])
    {
        buffer = SuspensionBuffer(entryLimit: entryLimit, byteLimit: byteLimit, overflow: overflow)
        model = NaiveSuspension(entryLimit: entryLimit, byteLimit: byteLimit, overflow: overflow)
        self.registered = registered
    }

    /// - Returns: how the two differ; nil: not.
    mutating func take(_ step: Step) -> String? {
        switch step {
        case .suspend: setSuspended(true)
        case .resume: setSuspended(false)
        case .postA: post("A", to: registered)
        case .postB: post("B", to: registered)
        case .postC: post("C", to: registered.filter { $0.registration == 1 })
        case .postD: post("D", to: registered.filter { $0.registration == 2 })
        case .postImmediately: post("A", to: registered, immediately: true)
        case .unregister1: unregister(1)
        case .unregister2: unregister(2)
        }
    }

    mutating func setSuspended(_ flag: Bool) -> String? {
        let flush = SuspensionOutcome(buffer.setSuspended(flag))
        let expected = model.setSuspended(flag)
        return difference(flush, expected)
    }

    mutating func post(
        _ key: Character, to observers: [MatchingObserver], immediately: Bool = false, byteCount: Int = 1,
        spareBytes: Int = 1 << 20
    ) -> String? {
        posts += 1
        let post = TestPost(number: posts, key: key, byteCount: byteCount)
        let arrival = buffer.decide(post, observers: observers, immediately: immediately, spareBytes: spareBytes)
        let expected = model.decide(post, observers: observers, immediately: immediately, spareBytes: spareBytes)
        return difference(SuspensionOutcome(arrival, of: posts), expected)
    }

    mutating func unregister(_ registration: UInt32) -> String? {
        registered.removeAll { $0.registration == registration }
        buffer.unregister(registration)
        model.unregister(registration)
        return difference(SuspensionOutcome(), SuspensionOutcome())
    }

    private func difference(_ outcome: SuspensionOutcome, _ expected: SuspensionOutcome) -> String? {
        if outcome != expected { return "answered \(outcome), not \(expected)" }
        guard buffer.isSuspended == model.isSuspended else { return "suspended: \(buffer.isSuspended)" }
        guard buffer.entryCount == model.entryCount else {
            return "holds \(buffer.entryCount) entries, not \(model.entryCount)"
        }
        guard buffer.byteCount == model.byteCount else {
            return "holds \(buffer.byteCount) bytes, not \(model.byteCount)"
        }
        guard buffer.counts.discarded == model.discarded else {
            return "discarded \(buffer.counts.discarded), not \(model.discarded)"
        }
        return nil
    }
}
