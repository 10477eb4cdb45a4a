internal import Synchronization

/// Runs the main thread's run loop until something ends it.
///
///     var served = 0
///     let serving = center.addObserver(forName: .dishReady, on: .current) { _ in served += 1 }
///     MainRunLoop.run { served == 6 }
///
/// It replaces `while !isOver, RunLoop.main.run(mode: .default, before: .distantFuture) {}`, which does not return when
/// a timer or a block changed `isOver`.
public enum MainRunLoop {
    /// Why a run ended.
    public enum End: Sendable, Hashable {
        case conditionHeld
        /// `stop()` was called.
        case stopped
        /// The process got this signal.
        case signal(CInt)
    }

    /// Runs the main run loop in the default mode until the condition holds, `stop()` is called, or a signal arrives.
    ///
    /// Timers, sources, blocks, notifications for `.main`, the main queue and the main actor are served. The condition
    /// is evaluated before the run loop runs, at the beginning of each pass, before each delivery, and before the run
    /// loop waits. So it is noticed if anything that the run loop called has changed it, and nothing that waits is
    /// delivered after the handler that made it true; CoreFoundation may finish its pass. Another thread that changes
    /// it also performs a block on `.main`, because nothing else wakes the run loop. The condition must not run the run
    /// loop.
    ///
    /// A signal of `signals` ends the run instead of having its effect. The effect is restored when the call returns.
    /// A signal that the process ignores stays ignored, and one that arrives while the run ends for another reason has
    /// its restored effect. If several reasons are noticed together, a signal comes first, then `stop()`.
    /// Threads: the main thread. A handler may call it: a nested run has its own condition, and those of the outer
    /// runs are evaluated again after it. A nested run of other code ends by itself. In a block of the main queue or a
    /// task of the main actor, the main queue and the main actor are not served.
    /// Cost: an evaluation of the condition for each delivery, and two in a pass that waits. A descriptor for the
    /// process if there are signals.
    /// - Parameter signals: such as `SIGINT` and `SIGTERM`.
    /// - Precondition: the calling thread is the main thread. In a program with an `async` main function the main actor
    ///   is there only if the program links `AsyncMain`, which runs the run loop itself. The system lets a process
    ///   handle the signals.
    @MainActor @discardableResult
    @available(*, noasync, message: "it blocks the main thread; call it in a synchronous main function")
    public static func run(until condition: @MainActor () -> Bool = { false }, stoppingOn signals: [CInt] = []) -> End {
        precondition(
            SystemThread.currentIsMain,
            "MainRunLoop: run was called on \(ThreadIdentity.current), which is not the main thread. The main function "
                + "is async, or this is a test of Swift Testing. Link the library AsyncMain, or write a synchronous main "
                + "function that starts a Task and calls it.")
        return withoutActuallyEscaping(condition) { condition in MainRun(until: condition, stoppingOn: signals).run() }
    }

    /// Ends the innermost run under way. If none is under way, the next run returns at once. Several calls before a run
    /// notices them count as one.
    ///
    /// On the main thread, nothing more of this package is delivered after the handler that calls it. On another thread
    /// the stop takes its place in the main thread's order: what was enqueued before is delivered, and nothing after
    /// it. CoreFoundation may finish its pass in both cases. The rest waits for the next run.
    /// Threads: any, but not in a signal handler.
    public static func stop() {
        let noticed = noticedStops.load(ordering: .sequentiallyConsistent)
        if !SystemThread.currentIsMain {
            // A stop that a run notices before this one has its place counts for both.
            let place = Delivery(
                .mark { if noticedStops.load(ordering: .sequentiallyConsistent) == noticed { makeStopDue() } })
            if Mailbox.main.enqueue(place) == nil { return }
        }
        makeStopDue()
        RunLoopReference.main.wakeUp()
    }

    private static func makeStopDue() { isStopDue.store(true, ordering: .sequentiallyConsistent) }

    /// - Returns: whether a stop became due since the last call of this function.
    static func takeStop() -> Bool {
        guard isStopDue.load(ordering: .relaxed) else { return false }
        noticedStops.add(1, ordering: .sequentiallyConsistent)
        return isStopDue.exchange(false, ordering: .sequentiallyConsistent)
    }
}

/// The number of stops that a run has noticed.
private let noticedStops = Atomic<UInt64>(0)
/// True when everything that was enqueued before a stop was delivered.
private let isStopDue = Atomic(false)
