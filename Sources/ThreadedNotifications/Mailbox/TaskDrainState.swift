/// Whether a task drains a mailbox: a pure value.
///
///     idle ──signal: start a task──► draining ──signal──► signalled
///      ▲                               │  ▲                   │
///      └────────── finish: end ────────┘  └─ finish: continue ┘
struct TaskDrainState {
    private enum Phase {
        case idle
        case draining
        /// Entries were appended since the task last took all.
        case signalled
    }

    private var phase = Phase.idle
    /// The task that drains, as `TaskMailbox.currentTask`.
    private(set) var task: Int?
    /// True while the task calls the handler.
    var isCalling = false

    /// An entry was appended to the empty mailbox.
    /// - Returns: whether a task must be started.
    mutating func signal() -> Bool {
        defer { phase = phase == .idle ? .draining : .signalled }
        return phase == .idle
    }

    mutating func begin(_ task: Int?) {
        self.task = task
    }

    /// The task has delivered everything that it took.
    /// - Returns: whether it must take again; otherwise it ends.
    mutating func finish() -> Bool {
        guard phase != .signalled else {
            phase = .draining
            return true
        }
        (phase, task) = (.idle, nil)
        return false
    }
}
