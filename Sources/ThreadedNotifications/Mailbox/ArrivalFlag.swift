internal import CLinux
internal import Synchronization

/// Tells a mailbox's thread, without the lock, whether entries are pending, and where the thread that appended them
/// ran.
struct ArrivalFlag: ~Copyable {
    private let flag = Atomic<Bool>(false)
    private let processor = Atomic<Int32>(0)
    private let recordsProcessor: Bool

    /// - Parameter isWatched: whether the mailbox's thread watches the flag before it sleeps.
    init(isWatched: Bool) {
        recordsProcessor = isWatched
    }

    var isSet: Bool { flag.load(ordering: .relaxed) }

    /// The processor on which `set` was called last.
    var lastProcessor: Int32 { processor.load(ordering: .relaxed) }

    /// An entry is pending. Called with the mailbox's lock held.
    @inline(__always)
    func set() {
        flag.store(true, ordering: .relaxed)
        if recordsProcessor { processor.store(sched_getcpu(), ordering: .relaxed) }
    }

    /// Called with the mailbox's lock held.
    @inline(__always)
    func set(to hasEntries: Bool) {
        flag.store(hasEntries, ordering: .relaxed)
    }
}
