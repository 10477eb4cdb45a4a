import Testing

@testable import DistributedNotifications
@testable import NotificationServer

/// The table of suspension behaviors, cell by cell. Before each post, post 1 of the same name is held for registration
/// 9, which holds, and post 2 for the registration in question, if it keeps any.
@Suite("SuspensionBuffer, the table")
struct SuspensionTableTests {
    private typealias Delivery = SuspensionOutcome.Delivery

    /// The frames for the client after the post, and after it resumes.
    private struct Cell {
        var atOnce: [Delivery]
        var atResumption: [Delivery]
    }

    private static func cell(_ behavior: SuspensionBehavior, isSuspended: Bool, immediately: Bool = false) -> Cell {
        var buffer = SuspensionBuffer<TestPost>(entryLimit: 10, byteLimit: 1 << 20, overflow: .discardOldest)
        let holding = MatchingObserver(registration: 9, behavior: .hold)
        let observers = [MatchingObserver(registration: 1, behavior: behavior)]
        _ = buffer.setSuspended(isSuspended)
        let earlier = [(1, [holding])] + (behavior == .coalesce || behavior == .hold ? [(2, observers)] : [])
        for (number, observers) in earlier where isSuspended {
            _ = buffer.decide(
                TestPost(number: number, key: "A"), observers: observers, immediately: false, spareBytes: 1 << 20)
        }
        let arrival = buffer.decide(
            TestPost(number: 3, key: "A"), observers: observers, immediately: immediately, spareBytes: 1 << 20)
        let atOnce = SuspensionOutcome(arrival, of: 3)
        // Suspended as before, whatever was delivered.
        #expect(buffer.isSuspended == isSuspended)
        let atResumption = SuspensionOutcome(buffer.setSuspended(false))
        #expect(atOnce.gap == nil && atResumption.gap == nil)
        return Cell(atOnce: atOnce.deliveries, atResumption: atResumption.deliveries)
    }

    private static let first = Delivery(post: 1, registrations: [9])
    private static let second = Delivery(post: 2, registrations: [1])
    private static let third = Delivery(post: 3, registrations: [1])

    // MARK: Running

    @Test("running: each is delivered at once", arguments: SuspensionBehavior.allCases, [false, true])
    func running(behavior: SuspensionBehavior, immediately: Bool) {
        let cell = Self.cell(behavior, isSuspended: false, immediately: immediately)
        #expect(cell.atOnce == [Self.third])
        #expect(cell.atResumption == [])
    }

    // MARK: Suspended, a normal post

    @Test("suspended, drop: a normal post is discarded, and what is held stays")
    func suspendedDrop() {
        let cell = Self.cell(.drop, isSuspended: true)
        #expect(cell.atOnce == [])
        #expect(cell.atResumption == [Self.first])
    }

    @Test("suspended, coalesce: a normal post takes the place of the one before, and only of this registration's")
    func suspendedCoalesce() {
        let cell = Self.cell(.coalesce, isSuspended: true)
        #expect(cell.atOnce == [])
        #expect(cell.atResumption == [Self.first, Self.third])
    }

    @Test("suspended, hold: a normal post is added to what is held")
    func suspendedHold() {
        let cell = Self.cell(.hold, isSuspended: true)
        #expect(cell.atOnce == [])
        #expect(cell.atResumption == [Self.first, Self.second, Self.third])
    }

    @Test("suspended, deliverImmediately: what is held for the whole client is delivered, then the post")
    func suspendedDeliverImmediately() {
        let cell = Self.cell(.deliverImmediately, isSuspended: true)
        #expect(cell.atOnce == [Self.first, Self.third])
        #expect(cell.atResumption == [])
    }

    // MARK: Suspended, a post with deliverImmediately

    @Test("suspended, drop, an immediate post: what is held for the whole client is delivered, then the post")
    func immediateDrop() {
        let cell = Self.cell(.drop, isSuspended: true, immediately: true)
        #expect(cell.atOnce == [Self.first, Self.third])
        #expect(cell.atResumption == [])
    }

    @Test("suspended, coalesce, an immediate post: what is held is delivered, the similar one too, then the post")
    func immediateCoalesce() {
        let cell = Self.cell(.coalesce, isSuspended: true, immediately: true)
        #expect(cell.atOnce == [Self.first, Self.second, Self.third])
        #expect(cell.atResumption == [])
    }

    @Test("suspended, hold, an immediate post: what is held is delivered, then the post")
    func immediateHold() {
        let cell = Self.cell(.hold, isSuspended: true, immediately: true)
        #expect(cell.atOnce == [Self.first, Self.second, Self.third])
        #expect(cell.atResumption == [])
    }

    @Test("suspended, deliverImmediately, an immediate post: what is held is delivered, then the post")
    func immediateDeliverImmediately() {
        let cell = Self.cell(.deliverImmediately, isSuspended: true, immediately: true)
        #expect(cell.atOnce == [Self.first, Self.third])
        #expect(cell.atResumption == [])
    }
}
