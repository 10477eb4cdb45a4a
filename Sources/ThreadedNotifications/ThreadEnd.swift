/// The end of a thread, with the numbers of lost notifications and blocks.
///
///     let token = worker.addEndObserver(on: .main) { end in print(end) }
public struct ThreadEnd: Sendable, Hashable {
    /// The name in records. It is that of a type of this module, so that a program does not use it.
    package static let notificationName = "ThreadedNotifications.ThreadEnd"

    /// The thread; nil if it was never started.
    public var thread: ThreadIdentity?
    /// The thread's name; nil if it has none.
    public var name: String?
    /// The number of notifications that waited for the thread, once for each observer. Their outcome is `targetGone`.
    public var lostNotifications: Int
    /// The number of blocks that waited for the thread, without delayed blocks that were not due.
    public var lostBlocks: Int
    /// The number of notifications that waited in the thread's posting queues.
    public var lostQueuedNotifications: Int

    public init(
        thread: ThreadIdentity?, name: String?, lostNotifications: Int = 0, lostBlocks: Int = 0,
        lostQueuedNotifications: Int = 0
    ) {
        self.thread = thread
        self.name = name
        self.lostNotifications = lostNotifications
        self.lostBlocks = lostBlocks
        self.lostQueuedNotifications = lostQueuedNotifications
    }
}

extension ThreadEnd: CustomStringConvertible {
    /// `worker ended: 2 notifications lost`; `worker ended`; `worker never started`.
    public var description: String {
        let lost = [
            (lostNotifications, "notification"), (lostBlocks, "block"),
            (lostQueuedNotifications, "queued notification"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s") lost" }
        let thread = name ?? thread.map(\.description) ?? "a thread"
        let summary = "\(thread) \(self.thread == nil ? "never started" : "ended")"
        return lost.isEmpty ? summary : "\(summary): " + lost.joined(separator: ", ")
    }
}
