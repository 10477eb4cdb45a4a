extension DeliveryTarget {
    /// True from the call of `stop()` on, and after the thread has ended for any other reason.
    ///
    /// A handler that takes long asks for it, and returns early. It is false before the thread is started, and always
    /// for `.postingThread`.
    /// Threads: any.
    /// Cost: a lock, as of a post to the thread. A loop of very short steps asks once in many steps.
    public var isStopping: Bool { targetThread.mailbox?.isStopping ?? false }

    /// Adds an observer of the end of this thread.
    ///
    /// The handler is called once, after the thread has settled what waited for it and released its handlers. It is
    /// called for a thread that `stop()`, `Thread.exit()` or its own function ended, for one that was stopped or
    /// deallocated before it was started, and for a main thread that ends before the program. It is called at once if
    /// the thread has ended before. The end of the process is not the end of its threads.
    ///
    /// Threads: the handler is called on `thread`, as for a notification that the ending thread posts. On
    /// `.postingThread` it is the last code of this package on the ending thread; if that was never started, or has
    /// ended before, the handler is called on the thread that stops it, releases it or adds the observer. An
    /// observer on the ending thread itself has the outcome `targetGone`, because nothing is delivered there any more;
    /// with `SameThreadPolicy.atOnce` it is called as on `.postingThread`.
    /// Order: when `waitUntilFinished` returns, the handler was called or waits for its thread. Observers of one end
    /// are told in the order in which they were added.
    /// Removal: by token (guarantee 6). Keep the token: releasing it removes the observer, and
    /// `_ = thread.addEndObserver(…)` removes it at once.
    /// - Parameters:
    ///   - thread: the thread on which the handler is called.
    ///   - options: the observer's options.
    ///   - file: the caller's file, for events.
    ///   - line: the caller's line, for events.
    ///   - handler: gets the thread's identity, and counts what was lost.
    /// - Precondition: the receiver is not `.postingThread`, which is no thread of its own.
    @_disfavoredOverload
    public func addEndObserver(
        on thread: some DeliveryTarget, options: ObserverOptions = ObserverOptions(), file: String = #fileID,
        line: Int = #line, using handler: @escaping @Sendable (ThreadEnd) -> Void
    ) -> ObserverToken {
        addEndObserver(options, SourceLocation(file, line), .on(thread, handler))
    }

    /// Adds an observer of the end of this thread on the main thread. The handler is isolated to the main actor.
    public func addEndObserver(
        on thread: MainThread, options: ObserverOptions = ObserverOptions(), file: String = #fileID,
        line: Int = #line, using handler: @escaping @MainActor (ThreadEnd) -> Void
    ) -> ObserverToken {
        addEndObserver(options, SourceLocation(file, line), .onMain(handler))
    }

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
