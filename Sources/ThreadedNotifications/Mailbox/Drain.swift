/// Empties a thread's mailbox, on the thread: takes what waits, and delivers it in order.
///
/// A handler may run the run loop, which drains again: the nested drain goes on with the same cursors and entries.
/// Threads: the target thread. Nothing here retains its context, because a handler may end the thread.
enum Drain {
    /// The run loop calls it after a signal: delivers what waits now, as far as the budget allows. Later entries are
    /// left to the next drain, after the run loop's other work.
    static func run(_ context: ThreadContext) {
        let isOver = { context.mustEndRun?() == true }
        let goesOn = !context.taken.isEmpty
        var slice = take(context)
        var isDone = deliver(&slice, context, until: isOver)
        // What an outer drain had taken came first.
        if isDone, goesOn {
            _ = take(context)
            isDone = deliver(&slice, context, until: isOver)
        }
        if !isDone { context.signalIfWorkIsLeft() }
    }

    /// Delivers in order, whatever the budget, until something is true, or until nothing waits.
    static func run(_ context: ThreadContext, until isOver: () -> Bool) {
        context.checkDepth("a waiting delivery")
        var slice = DrainSlice.unbounded
        repeat {
            _ = take(context)
            _ = deliver(&slice, context, until: isOver)
        } while !isOver() && context.somethingWaits
        context.signalIfWorkIsLeft()
    }

    /// Takes everything that is pending, if all that was taken before is delivered.
    /// - Returns: the thread's budget.
    private static func take(_ context: ThreadContext) -> DrainSlice {
        context.handlersUnderWay.retainObservers()
        let state = context.mailbox.state
        state.lock()
        let delivered = context.taken.isEmpty ? state.valueWhileLocked.pending.refill(&context.taken) : []
        let toRelease = state.valueWhileLocked.takeAllToRelease()
        let budget = state.valueWhileLocked.drainBudget
        state.unlock()
        // Releasing them calls foreign code.
        withExtendedLifetime((delivered, toRelease)) {}
        var slice = DrainSlice(budget)
        if context.drainDeadline != 0 {
            // Not less than a millisecond, because a handler may run the run loop for long.
            let now = SystemThread.monotonicNanoseconds
            slice.limit(to: max(context.drainDeadline, now + 1_000_000) - now)
        }
        return slice
    }

    /// - Returns: false if something is left, because the budget is spent or `isOver` is true.
    private static func deliver(
        _ slice: inout DrainSlice, _ context: ThreadContext, until isOver: () -> Bool
    ) -> Bool {
        guard !context.taken.isEmpty || !context.cursors.isEmpty else { return true }
        DeliveryEvent.trace(.drain)
        context.drainDepth += 1
        defer {
            context.drainDepth -= 1
            context.handlersUnderWay.retainObservers()
            withExtendedLifetime(context.taken.takeOwners()) {}
        }
        var index = 0
        while index < context.cursors.count {
            while context.cursors[index].holdsOrder {
                guard !isOver(), slice.allowsAnother(at: SystemThread.monotonicNanoseconds) else { return false }
                _ = context.callNext(of: index)
            }
            index += 1
        }
        // What is settled without a call does not count.
        var isAllowed = false
        while !context.taken.isEmpty {
            guard !isOver(), isAllowed || slice.allowsAnother(at: SystemThread.monotonicNanoseconds),
                let delivery = context.taken.takeFirst()
            else { return false }
            isAllowed = !perform(delivery, context)
        }
        return true
    }

    /// - Returns: false if the delivery was settled without a call.
    private static func perform(_ delivery: Delivery, _ context: ThreadContext) -> Bool {
        if let isCalled = delivery.withObserver({ $0.callEnqueued(delivery, context) }) { return isCalled }
        switch delivery.content {
        case .block(let block): context.perform(block, post: delivery.post, wait: nil)
        case .performed(let block): return block.perform()
        case .job(let job, let thread): ActorJobs.run(job, of: thread, context)
        case .mark(let mark):
            mark()
            return false
        case .payload, .ticket, .nothing: return false
        }
        return true
    }
}

/// The jobs of the actors on one thread. A job that becomes ready while another one runs, because that runs the run
/// loop or waits, is run after it: an actor's jobs do not interleave.
struct ActorJobs {
    private var isRunning = false
    private var postponed: [(job: UnownedJob, thread: RunLoopThread)] = []

    /// Runs code that is isolated to an actor of the calling thread, then the jobs that were postponed meanwhile.
    static func run(_ body: () -> Void, _ context: ThreadContext) {
        guard !context.jobs.isRunning else { return body() }
        context.jobs.isRunning = true
        body()
        while !context.jobs.postponed.isEmpty {
            let next = context.jobs.postponed.removeFirst()
            next.thread.runJob(next.job)
        }
        context.jobs.isRunning = false
    }

    /// Runs a job, or postpones it if one runs.
    static func run(_ job: UnownedJob, of thread: RunLoopThread, _ context: ThreadContext) {
        if context.jobs.isRunning {
            context.jobs.postponed.append((job, thread))
        } else {
            run({ thread.runJob(job) }, context)
        }
    }

    mutating func takePostponed() -> [(job: UnownedJob, thread: RunLoopThread)] {
        defer { postponed = [] }
        return postponed
    }
}
