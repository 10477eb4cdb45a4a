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
            guard let observer = observers[index], let payload = observer.prepares ? values[index] : payload else {
                continue
            }
            let turn = observer.turn(in: context)
            guard turn == .atOnce || turn == .ordered && !orderedWait else { continue }
            if turn == .ordered { orderedLeft -= 1 }
            return (.passUnretained(observer), payload, overtakes && turn == .atOnce && observer.mailbox != nil)
        }
        return nil
    }

    mutating func count(_ outcome: DeliveryOutcome?) { counters.count(outcome) }
}

extension ThreadContext {
    /// Delivers a post of this thread: enqueues it for observers of other threads and for those of this one that have
    /// to wait, then calls the others.
    /// - Parameter values: what the handlers prepared, by the observers' indices; empty if none prepares.
    func deliver(
        _ payload: Payload, _ post: Post, to observers: [Observer?], _ values: consuming [Payload?] = []
    ) -> DeliveryCounters {
        // What is enqueued is given away: the posting thread keeps no reference.
        var values = values
        let overtakes = post.number != 0 && somethingWaits
        var counters = DeliveryCounters.none
        var (calls, orderedCalls, hasLater) = (0, 0, false)
        // Asked before this post enqueues anything here.
        var orderedWait: Bool?
        var kept: Payload?
        let enqueue = { (observer: Observer, prepared: Payload?, wait: DeliveryWait?) in
            if kept == nil { kept = payload.kept(of: post) }
            guard let waiting = prepared ?? kept else { return }
            let delivery = Delivery(.payload(waiting), for: observer, post: post.number, wait: wait)
            let outcome = observer.enqueue(delivery, of: payload)
            if outcome == .waiting { counters.waiting += 1 } else { counters.count(outcome) }
        }
        for index in observers.indices {
            guard let observer = observers[index] else { continue }
            let turn = observer.turn(in: self)
            if turn == .ordered, orderedWait == nil { orderedWait = mustWait }
            if observer.prepares, values[index] == nil { continue }
            switch turn {
            case .elsewhere: enqueue(observer, observer.prepares ? values[index].take() : nil, post.wait)
            case .atOnce: calls += 1
            case .later: hasLater = true
            case .ordered:
                if orderedWait == true {
                    enqueue(observer, observer.prepares ? values[index].take() : nil, post.wait)
                } else {
                    post.wait?.isCalledAtOnce(observer.id)
                    (calls, orderedCalls) = (calls + 1, orderedCalls + 1)
                }
            }
        }
        // A thread that waits for itself drains, through this post. One that was told to stop accepts no mark.
        let isReached = post.wait != nil && orderedWait == true ? Locked(false) : nil
        let hasMark = isReached.map { flag in mailbox.enqueue(Delivery(.mark { flag.withLock { $0 = true } })) } == true
        defer {
            if let isReached {
                if hasMark {
                    Drain.run(self, until: { isReached.withLock { $0 } })
                } else {
                    Drain.run(self, ignoresBudget: true)
                }
            }
        }
        if hasLater {
            for index in observers.indices {
                guard let observer = observers[index], observer.turn(in: self) == .later else { continue }
                if !observer.prepares || values[index] != nil {
                    enqueue(observer, observer.prepares ? values[index].take() : nil, nil)
                }
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
