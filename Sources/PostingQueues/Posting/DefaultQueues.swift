internal import Foundation
internal import ThreadedNotifications

/// The default posting queues of one thread, one for each center. It belongs to the thread; the type is not Sendable.
///
/// The counters of a default queue last as long as the center, also when the queue itself was released in between.
final class DefaultQueues {
    private struct DefaultQueue {
        var center: WeakReference<AnyObject>
        var queue: WeakReference<AnyObject>
        var counters: PostingCounters
    }

    private var queues: [ObjectIdentifier: DefaultQueue] = [:]
    /// The number of queues at which those of deallocated centers are removed.
    private var limit = 16

    var count: Int { queues.count }

    /// The default queue for a center.
    /// - Parameter make: makes a queue with these counters.
    func queue(for center: some PostingCenter, make: (PostingCounters) -> PostingQueue) -> PostingQueue {
        let id = ObjectIdentifier(center)
        let known = queues[id]
        let isSameCenter = known?.center.object === center
        if isSameCenter, let queue = known?.queue.object as? PostingQueue { return queue }
        if known == nil { removeDeallocated() }
        let counters = isSameCenter ? known?.counters ?? PostingCounters() : PostingCounters()
        let queue = make(counters)
        queues[id] = DefaultQueue(center: WeakReference(center), queue: WeakReference(queue), counters: counters)
        return queue
    }

    /// Removes the queues of deallocated centers, whenever the number of queues has doubled.
    private func removeDeallocated() {
        guard queues.count >= limit else { return }
        // Filters a copy, because reading a weak reference may release its object, which may call this method.
        let known = queues
        let deallocated = known.filter { $0.value.center.object == nil }.map(\.key)
        for id in deallocated { queues[id] = nil }
        limit = max(16, queues.count * 2)
    }
}
