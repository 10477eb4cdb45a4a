internal import Foundation

/// A post to observers of the posting thread: those that are called before `post` returns, in the order in which they
/// were added.
///
/// `post` calls them one after the other. A drain in the run loop of a handler goes on where `post` is, so that nothing
/// of the thread overtakes the post.
struct Cursor {
    /// Those for which the post was enqueued are passed over.
    private let observers: [Observer?]
    private let payload: Payload
    /// What the handlers prepared, by the observers' indices; empty if none prepares.
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
    private(set) var counters = DeliveryCounters()

    init(
        _ payload: Payload, post: UInt64, to observers: [Observer?], _ values: [Payload?], orderedWait: Bool,
        orderedCalls: Int, overtakes: Bool
    ) {
        (self.observers, self.payload, self.values, self.post) = (observers, payload, values, post)
        (self.orderedWait, orderedLeft, self.overtakes) = (orderedWait, orderedCalls, overtakes)
    }

    var holdsOrder: Bool { orderedLeft > 0 }

    /// Takes the next observer to call, which the cursor retains, and what it gets.
    mutating func takeNext(
        _ context: ThreadContext
    ) -> (observer: Unmanaged<Observer>, payload: Payload, overtakes: Bool)? {
        while next < observers.count {
            let index = next
            next += 1
            guard let observer = observers[index], observer.isCalledAtOnce(in: context, orderedWait: orderedWait),
                let payload = payload.prepared(for: observer, values, index)
            else { continue }
            if observer.keepsOrder { orderedLeft -= 1 }
            return (
                .passUnretained(observer), payload, overtakes && !observer.keepsOrder && observer.mailbox != nil
            )
        }
        return nil
    }

    mutating func count(_ outcome: DeliveryOutcome?) { counters.count(outcome) }
}

extension Payload {
    /// What an observer gets.
    /// - Returns: nil if its handler prepared nothing.
    fileprivate func prepared(for observer: Observer, _ values: [Payload?], _ index: Int) -> Payload? {
        observer.prepares ? values[index] : self
    }
}

extension ThreadContext {
    /// Delivers a post of this thread: enqueues it for observers of other threads and for those of this one that have to
    /// wait, then calls the others.
    /// - Parameter values: what the handlers prepared, by the observers' indices; empty if none prepares.
    func deliver(
        _ payload: Payload, _ post: Post, to observers: [Observer?], _ values: [Payload?] = []
    ) -> DeliveryCounters {
        let overtakes = post.number != 0 && somethingWaits
        var counters = DeliveryCounters()
        var (calls, orderedCalls) = (0, 0)
        // Asked before this post enqueues anything here.
        var orderedWait: Bool?
        var kept: Payload?
        func enqueue(_ observer: Observer, _ index: Int) {
            let waiting = kept ?? payload.kept(at: post.location)
            kept = waiting
            guard let prepared = waiting.prepared(for: observer, values, index) else { return }
            let wait = observer.options.sameThread == .later && observer.isHere(self) ? nil : post.wait
            let delivery = Delivery(.payload(prepared), for: observer, post: post.number, wait: wait)
            counters.count(observer.enqueue(delivery, of: payload))
        }
        var hasLater = false
        for index in observers.indices {
            guard let observer = observers[index] else { continue }
            if observer.options.sameThread == .later, observer.isHere(self) {
                hasLater = true
                continue
            }
            if orderedWait == nil, observer.keepsOrder, observer.isHere(self) {
                orderedWait = mustWait
            }
            if observer.isCalledAtOnce(in: self, orderedWait: orderedWait ?? false) {
                guard payload.prepared(for: observer, values, index) != nil else { continue }
                calls += 1
                post.wait?.isCalledAtOnce(observer.id)
                if observer.keepsOrder { orderedCalls += 1 }
            } else {
                enqueue(observer, index)
            }
        }
        // A thread that waits for itself drains, through this post.
        var drainThroughHere: (() -> Void)?
        if post.wait != nil, orderedWait == true { drainThroughHere = markHere() }
        defer { drainThroughHere?() }
        if hasLater {
            for index in observers.indices {
                guard let observer = observers[index], observer.options.sameThread == .later else { continue }
                if observer.isHere(self) { enqueue(observer, index) }
            }
        }
        guard calls > 0 else { return counters }
        checkDepth(payload.name.rawValue)
        cursors.append(
            Cursor(
                payload, post: post.number, to: observers, values, orderedWait: orderedWait ?? false,
                orderedCalls: orderedCalls, overtakes: overtakes))
        let index = cursors.count - 1
        while callNext(of: index) {}
        counters.add(cursors.removeLast().counters)
        return counters
    }

    /// Marks this place in the thread's order.
    /// - Returns: delivers what waits before it.
    private func markHere() -> () -> Void {
        var isReached = false
        // A thread that was told to stop accepts no mark.
        let isEnqueued = mailbox.enqueue(Delivery(.mark { isReached = true }))
        return { Drain.run(self, until: { isEnqueued && isReached }) }
    }

    /// Calls the next observer of a cursor.
    /// - Returns: false if there is none.
    func callNext(of index: Int) -> Bool {
        guard let (observer, payload, overtakes) = cursors[index].takeNext(self) else { return false }
        let post = cursors[index].post
        let outcome = observer._withUnsafeGuaranteedRef {
            $0.callAtOnce(payload, post: post, self, overtakes: overtakes)
        }
        cursors[index].count(outcome)
        return true
    }

    /// True if an ordered delivery that is made now would overtake another one.
    var somethingWaits: Bool {
        taken.hasDeliveries || cursors.contains(where: \.holdsOrder)
            || mailbox.state.withLock { $0.pending.hasDeliveries }
    }

    /// True if an ordered delivery must not be made now: it would overtake another one, the stack would overflow, or the
    /// thread has ended.
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
