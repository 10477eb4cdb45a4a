internal import Foundation
internal import Synchronization

/// A post to observers of the posting thread: those that are called before `post` returns, in the order in which they
/// were added.
///
/// `post` calls them one after the other. A drain in the run loop of a handler goes on where `post` is, so that nothing
/// of the thread overtakes the post.
struct Cursor {
    /// Those for which the post was enqueued are passed over.
    private let observers: [Observer]
    private let payload: Payload
    /// The prepared payloads, by the observers' indices; empty if all get the same payload.
    private let values: [Payload?]
    let post: UInt64
    /// True if the post was enqueued for the ordered observers.
    private let orderedWait: Bool
    /// True if something waited when it was posted.
    private let overtakes: Bool
    private var next = 0
    /// The number of observers left that keep their thread's order. The others may be overtaken.
    private var orderedLeft: Int
    /// The outcomes so far.
    fileprivate(set) var delivered = 0
    fileprivate(set) var cancelled = 0

    init(
        _ payload: Payload, post: UInt64, to observers: [Observer], _ values: [Payload?], orderedWait: Bool,
        orderedCalls: Int, overtakes: Bool
    ) {
        (self.observers, self.payload, self.values, self.post) = (observers, payload, values, post)
        (self.orderedWait, orderedLeft, self.overtakes) = (orderedWait, orderedCalls, overtakes)
    }

    var holdsOrder: Bool { orderedLeft > 0 }
    var isUnfinished: Bool { next < observers.count }

    /// Takes the next observer to call, and its payload. The cursor retains both: a handler may end the thread, and
    /// then no frame releases anything.
    @inline(__always)
    mutating func takeNext(
        _ context: ThreadContext
    ) -> (observer: Unmanaged<Observer>, payload: Unmanaged<Payload>, overtakes: Bool)? {
        while next < observers.count {
            let observer = Unmanaged.passUnretained(observers[next])
            let (policy, prepares, isBound) = observer._withUnsafeGuaranteedRef {
                ($0.policy(in: context), $0.prepares, $0.mailbox != nil)
            }
            let value =
                prepares && !values.isEmpty
                ? values[next].map { Unmanaged.passUnretained($0) } : .passUnretained(payload)
            next += 1
            guard let value, policy == .atOnce || policy == .ordered && !orderedWait else { continue }
            if policy == .ordered { orderedLeft -= 1 }
            return (observer, value, overtakes && policy == .atOnce && isBound)
        }
        return nil
    }
}

extension ThreadContext {
    /// Delivers a post of this thread: enqueues it for observers of other threads and for those of this one that have
    /// to wait, then calls the others.
    func deliver(
        _ payload: consuming Payload, _ post: borrowing Post, to observers: consuming [Observer]
    ) -> DeliveryCounters {
        // By the observers' indices; empty if all get the payload. Made before any observer has its place: what a
        // transform posts comes before.
        var values: [Payload?] = []
        if observers.contains(where: \.prepares), let posted = payload as? PostedNotification {
            values = observers.map { $0.prepares ? $0.prepare(posted, post, self) : nil }
        }
        // The payload as it may outlive the post; nil before it is enqueued.
        var kept: Payload?
        var counters = DeliveryCounters.none
        var (calls, orderedCalls, hasLater) = (0, 0, false)
        let overtakes = post.number != 0 && somethingWaits
        // Asked before this post enqueues anything here.
        var orderedWait: Bool?
        for index in observers.indices {
            // Not retained: the thread that calls the observer reads the same memory.
            let observer = Unmanaged.passUnretained(observers[index])
            let (policy, prepares) = observer._withUnsafeGuaranteedRef { ($0.policy(in: self), $0.prepares) }
            if policy == .ordered, orderedWait == nil { orderedWait = mustWait }
            if prepares, !values.isEmpty, values[index] == nil { continue }
            switch policy {
            case .atOnce: calls += 1
            case .ordered where orderedWait != true:
                post.wait?.resolve(observers[index].id, .waiting)
                (calls, orderedCalls) = (calls + 1, orderedCalls + 1)
            case .later: hasLater = true
            case nil, .ordered:
                let outcome = observer._withUnsafeGuaranteedRef {
                    enqueue(payload, &kept, &values, at: index, for: $0, post, post.wait)
                }
                if outcome == .waiting { counters.waiting += 1 } else { counters.count(outcome) }
            }
        }
        // This thread waits for the deliveries that precede the posts of its handlers.
        let mark = post.wait != nil && orderedWait == true ? DrainMark(mailbox) : nil
        if hasLater {
            for index in observers.indices where observers[index].policy(in: self) == .later {
                counters.count(enqueue(payload, &kept, &values, at: index, for: observers[index], post, nil))
            }
        }
        if calls > 0 {
            checkDepth(payload.name.rawValue)
            cursors.append(
                Cursor(
                    payload, post: post.number, to: observers, values, orderedWait: orderedWait ?? false,
                    orderedCalls: orderedCalls, overtakes: overtakes))
            let index = cursors.count - 1
            while cursors[index].isUnfinished { callNext(of: index) }
            counters.delivered += cursors[index].delivered
            counters.cancelled += cursors[index].cancelled
            cursors.removeLast()
        }
        mark?.drain(self)
        return counters
    }

    /// Enqueues what an observer gets. The posting thread keeps no reference to a prepared payload.
    @inline(__always)
    private func enqueue(
        _ payload: Payload, _ kept: inout Payload?, _ values: inout [Payload?], at index: Int, for observer: Observer,
        _ post: borrowing Post, _ wait: DeliveryWait?
    ) -> DeliveryOutcome? {
        let getsPayload = values.isEmpty || !observer.prepares
        if getsPayload, kept == nil { kept = payload.kept(of: post) }
        guard let value = getsPayload ? kept : values[index].take() else { return nil }
        return observer.enqueue(Delivery(.payload(value), for: observer, post: post.number, wait: wait), of: payload)
    }

    /// Calls the next observer of a cursor.
    func callNext(of index: Int) {
        guard let (observer, payload, overtakes) = cursors[index].takeNext(self) else { return }
        let post = cursors[index].post
        let isCalled = observer._withUnsafeGuaranteedRef { observer in
            payload._withUnsafeGuaranteedRef { observer.callAtOnce($0, post: post, self, overtakes: overtakes) }
        }
        if isCalled { cursors[index].delivered += 1 } else { cursors[index].cancelled += 1 }
    }

    /// True if an ordered delivery that is made now would overtake another one.
    var somethingWaits: Bool {
        taken.hasDeliveries || mailbox.hasDeliveries.load(ordering: .acquiring) || cursors.contains(where: \.holdsOrder)
    }

    /// True if an ordered delivery must not be made now: it would overtake another one, the stack would overflow, or
    /// the thread has ended.
    var mustWait: Bool { !mayNest || hasEnded || somethingWaits }

    /// True if another handler may begin at once. Otherwise its delivery waits, before the stack overflows.
    var mayNest: Bool { depth < 100 }

    private var depth: Int { cursors.count + drainDepth + otherDepth }

    func checkDepth(_ description: @autoclosure () -> String) {
        precondition(
            depth < 250,
            """
            ThreadedNotifications: \(description()) is posted by its own handler, 250 deep, and the stack would \
            overflow. Observe on a thread (on: .current) with the default options and post without waiting: then it waits.
            """)
    }

    /// Calls handlers in the middle of other work.
    func nest(_ description: @autoclosure () -> String, _ body: () -> Void) {
        checkDepth(description())
        otherDepth += 1
        body()
        otherDepth -= 1
    }
}

/// A place in the order of the calling thread, which waits for the deliveries before it.
private struct DrainMark {
    private let isReached = Locked(false)
    private let isEnqueued: Bool

    init(_ mailbox: Mailbox) {
        isEnqueued = mailbox.enqueue(Delivery(.mark { [isReached] in isReached.withLock { $0 = true } })) == nil
    }

    func drain(_ context: ThreadContext) {
        if isEnqueued {
            Drain.run(context, until: { isReached.withLock { $0 } })
        } else {
            // A thread that was told to stop accepts no mark.
            Drain.run(context, ignoresBudget: true)
        }
    }
}
