internal import Foundation

/// The default queues of a thread, one for each center.
extension ThreadPostings {
    /// The default queue for a center, made if there is none yet. Its counts last as long as the center, also if nobody holds the
    /// queue in between.
    /// - Parameter make: a queue that counts in this ledger.
    func defaultQueue(
        for center: some PostingCenter, make: (PostingLedger) -> PostingQueue
    ) -> PostingQueue {
        let id = ObjectIdentifier(center)
        let known = state.withLock { $0.defaultQueues[id] }
        // To look at a weak reference may be to let go of its object, so it is done without the lock. It is this thread's, so
        // nobody else makes one.
        let isSameCenter = known?.center.object === center
        if isSameCenter, let queue = known?.queue.object as? PostingQueue { return queue }
        let ledger = isSameCenter ? known?.ledger ?? PostingLedger() : PostingLedger()
        let queue = make(ledger)
        let record = DefaultQueue(center: WeakObject(center), ledger: ledger, queue: WeakObject(queue))
        let gone = known == nil ? centersGone() : []
        let replaced = state.withLock { state in
            if !state.isFinished { state.defaultQueues[id] = record }
            return gone.map { state.defaultQueues.removeValue(forKey: $0) }
        }
        withExtendedLifetime(replaced) {}
        return queue
    }

    /// Centers that came and went; looked for whenever there are twice as many as were left the last time.
    private func centersGone() -> [ObjectIdentifier] {
        let (queues, limit) = state.withLock { ($0.defaultQueues, $0.defaultQueuesLimit) }
        guard queues.count >= limit else { return [] }
        let gone = queues.filter { $0.value.center.object == nil }.map(\.key)
        state.withLock { $0.defaultQueuesLimit = max(16, (queues.count - gone.count) * 2) }
        return gone
    }
}
