internal import ThreadedNotifications

/// The other main loops that run on a thread, each in a handler of the one before. A thread that ends in them ends
/// their descriptors.
///
/// Threads: the thread itself.
final class OtherLoops: ThreadService {
    // Safety: `begin`, `endLast` and `threadEnds` are called on the thread only.
    private nonisolated(unsafe) var descriptors: [RunLoopDescriptor] = []

    init(of thread: ServedThread) {}

    let hasWork = false

    func drainEnded() {}

    func begin(_ descriptor: RunLoopDescriptor) {
        descriptors.append(descriptor)
    }

    func endLast() {
        descriptors.popLast()?.end()
    }

    func threadEnds(_ reason: DeliveryEvent.Reason?) -> Int {
        while !descriptors.isEmpty { endLast() }
        return 0
    }
}
