/// The jobs of the actors on one thread. A job that becomes ready while another one runs, because that runs the run
/// loop or waits, is run after it: an actor's jobs do not interleave.
struct ActorJobs {
    private var isRunning = false
    private var postponed: [(job: UnownedJob, thread: RunLoopThread)] = []

    /// Runs code that is isolated to an actor of the calling thread, then the jobs that were postponed meanwhile.
    static func run(_ body: () -> Void, _ context: ThreadContext) {
        guard !context.drainState.jobs.isRunning else { return body() }
        context.drainState.jobs.isRunning = true
        body()
        while let next = context.drainState.jobs.takePostponed() { next.thread.runJob(next.job) }
        context.drainState.jobs.isRunning = false
    }

    /// Runs a job, or postpones it if one runs.
    static func run(_ job: UnownedJob, of thread: RunLoopThread, _ context: ThreadContext) {
        if context.drainState.jobs.isRunning {
            context.drainState.jobs.postponed.append((job, thread))
        } else {
            run({ thread.runJob(job) }, context)
        }
    }

    mutating func takeAllPostponed() -> [(job: UnownedJob, thread: RunLoopThread)] {
        defer { postponed = [] }
        return postponed
    }

    private mutating func takePostponed() -> (job: UnownedJob, thread: RunLoopThread)? {
        postponed.isEmpty ? nil : postponed.removeFirst()
    }
}
