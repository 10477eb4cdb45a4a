/// The end of a thread, with the numbers of lost notifications and blocks.
///
///     let token = worker.addEndObserver(on: .main) { end in print(end) }
public struct ThreadEnd: Sendable, Hashable, CustomStringConvertible {
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
        (self.thread, self.name) = (thread, name)
        (self.lostNotifications, self.lostBlocks) = (lostNotifications, lostBlocks)
        self.lostQueuedNotifications = lostQueuedNotifications
    }

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

extension DeliveryTarget {
    /// True from the call of `stop()` on, and after the thread has ended for any other reason.
    ///
    /// A handler that takes long asks for it, and returns early. It is false before the thread is started, and always
    /// for `.postingThread`.
    /// Cost: a lock, as of a post to the thread. A loop of very short steps asks once in many steps.
    public var isStopping: Bool { targetThread.mailbox?.isStopping ?? false }

    /// Adds an observer of the end of this thread.
    ///
    /// The handler is called once, after the thread has settled what waited for it and released its handlers; at once
    /// if the thread has ended before. It is called for a thread that `stop()`, `Thread.exit()` or its own function
    /// ended, for one that was stopped or deallocated before it was started, and for a main thread that ends before the
    /// program. The end of the process is not the end of its threads.
    /// Threads: the handler is called on `thread`, as for a notification that the ending thread posts. On
    /// `.postingThread` it is the last code of this package on the ending thread; if that was never started, or has
    /// ended before, the handler is called on the thread that stops it, releases it or adds the observer. An
    /// observer on the ending thread itself has the outcome `targetGone`, because nothing is delivered there any more;
    /// with `SameThreadPolicy.atOnce` it is called as on `.postingThread`.
    /// Order: when `waitUntilFinished` returns, the handler was called or waits for its thread. Observers of one end
    /// are told in the order in which they were added.
    /// Removal: by token (guarantee 6), also by releasing it.
    /// - Parameter handler: gets the thread's identity, and counts what was lost.
    /// - Precondition: the receiver is not `.postingThread`, which is no thread of its own.
    @_disfavoredOverload
    public func addEndObserver(
        on thread: some DeliveryTarget, options: ObserverOptions = .init(), file: String = #fileID,
        line: Int = #line, using handler: @escaping @Sendable (ThreadEnd) -> Void
    ) -> ObserverToken { addEndObserver(options, SourceLocation(file, line), .on(thread, handler)) }

    /// Adds an observer of the end of this thread on the main thread.
    public func addEndObserver(
        on thread: MainThread, options: ObserverOptions = .init(), file: String = #fileID,
        line: Int = #line, using handler: @escaping @MainActor (ThreadEnd) -> Void
    ) -> ObserverToken { addEndObserver(options, SourceLocation(file, line), .onMain(handler)) }

    private func addEndObserver(
        _ options: ObserverOptions, _ location: SourceLocation, _ handler: ValueHandler<ThreadEnd>
    ) -> ObserverToken {
        guard let mailbox = targetThread.mailbox else {
            preconditionFailure(
                "DeliveryTarget: .postingThread is whichever thread posts, so it has no end. Observe the end of "
                    + ".current, .main or a RunLoopThread.")
        }
        return mailbox.endObservers.add(options: options, at: location, using: handler)
    }
}
