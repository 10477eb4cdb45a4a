internal import CLinux
internal import Synchronization

/// The part of this package that handles `fork`.
///
/// The copy has only the thread that forked; every other thread has ended there (guarantee 10):
/// - Their mailboxes accept nothing more. The deliveries there stay the parent's: they are not settled, and not
///   released.
/// - No other thread may hold one of this package's long-lived locks at the fork, because in the copy nobody would
///   release it. So the thread that forks takes them first. They are not taken one inside the other.
/// - The run loop of the thread gets descriptors of its own, because the copy shares those of the parent.
///
/// The locks of the Swift runtime cannot be taken. If another thread uses a generic type for the first time at the
/// fork, the copy may wait for ever when it does so too. So a process forks before it starts threads, or after they
/// have posted.
///
/// Threads: the handlers are called on the thread that forks, which holds no lock of this package.
package enum ForkedCopy {
    private struct State {
        var locks: Set<UnsafeMutablePointer<pthread_mutex_t>> = []
        var mailboxes: [ObjectIdentifier: Unmanaged<Mailbox>] = [:]
        /// True if the main thread forks.
        var isForkedByMain = false
        /// A descriptor in which the run loop of the thread that forks waits, and no other.
        var member: Int32?
    }

    private static let state: Locked<State> = {
        let result = CLinuxAtFork({ ForkedCopy.prepare() }, { ForkedCopy.end() }, { ForkedCopy.begin() })
        precondition(result == 0, "ForkedCopy: the system has no memory for handlers of fork (error \(result))")
        return Locked(State())
    }()

    /// Held by many threads while they wake run loops, because CoreFoundation locks a run loop meanwhile.
    //
    // Safety: the system's lock allows concurrent calls, and its address does not change.
    private nonisolated(unsafe) static let wakeLock: UnsafeMutablePointer<pthread_rwlock_t> = {
        let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
        pthread_rwlock_init(lock, nil)
        return lock
    }()

    /// True in a process that was copied from a parent that used this package.
    package static var isCopy: Bool { isProcessCopy.load(ordering: .relaxed) }

    /// True in a copy of which the main thread has ended.
    static var hasMainEnded: Bool { mainHasEnded.load(ordering: .relaxed) }

    // MARK: Long-lived locks and mailboxes

    static func add(_ lock: UnsafeMutablePointer<pthread_mutex_t>) {
        state.lock()
        state.valueWhileLocked.locks.insert(lock)
        state.unlock()
    }

    static func remove(_ lock: UnsafeMutablePointer<pthread_mutex_t>) {
        state.lock()
        state.valueWhileLocked.locks.remove(lock)
        state.unlock()
    }

    static func add(_ mailbox: Mailbox) {
        state.withLock { $0.mailboxes[ObjectIdentifier(mailbox)] = .passUnretained(mailbox) }
    }

    static func remove(_ mailbox: Mailbox) { state.withLock { $0.mailboxes[ObjectIdentifier(mailbox)] = nil } }

    private static func hasMailbox(where matches: (Mailbox) -> Bool) -> Bool {
        state.lock()
        defer { state.unlock() }
        return state.valueWhileLocked.mailboxes.values.contains { $0._withUnsafeGuaranteedRef(matches) }
    }

    /// True if a run loop is that of a thread of the parent, which is not in this copy.
    static func isOfParent(_ runLoop: RunLoopReference) -> Bool {
        hasMailbox { $0.state.withLock { $0.isOfParent && $0.runLoop?.isSame(as: runLoop) == true } }
    }

    /// Wakes a run loop, or signals a source of one.
    static func wake(_ body: () -> Void) {
        pthread_rwlock_rdlock(wakeLock)
        body()
        pthread_rwlock_unlock(wakeLock)
    }

    // MARK: The handlers

    private static func prepare() {
        // Made now: a thread that made one of them during the fork would leave it half made in the copy.
        _ = (Waits.state, MessageName.known, TypeNames.names, ThreadedNotificationCenter.known, DeliveryEvent.tracer)
        let isMain = SystemThread.currentIsMain
        // The mailbox of the main thread is not made for this.
        let context = isMain && hasMailbox(where: \.isMain) ? ThreadContext.current : ThreadContext.existing
        let member = context?.runLoopMember()
        state.lock()
        (state.valueWhileLocked.member, state.valueWhileLocked.isForkedByMain) = (member, isMain)
        for lock in state.valueWhileLocked.locks { pthread_mutex_lock(lock) }
        // Last, because a thread that holds another lock may wake a run loop.
        pthread_rwlock_wrlock(wakeLock)
    }

    /// The fork is over, or has failed.
    private static func end() {
        pthread_rwlock_unlock(wakeLock)
        unlock()
    }

    private static func unlock() {
        for lock in state.valueWhileLocked.locks { pthread_mutex_unlock(lock) }
        state.unlock()
    }

    /// The copy begins.
    private static func begin() {
        let (member, isMain) = (state.valueWhileLocked.member, state.valueWhileLocked.isForkedByMain)
        let context = ThreadContext.existing
        context?.threadWasCopied()
        for mailbox in state.valueWhileLocked.mailboxes.values.map({ $0.takeUnretainedValue() }) {
            let isOwn = mailbox.isMain ? isMain : mailbox === context?.mailbox
            mailbox.processWasCopied(newIdentity: isOwn ? context?.identity : nil, hasEnded: !isOwn)
        }
        isProcessCopy.store(true, ordering: .relaxed)
        if !isMain {
            mainHasEnded.store(true, ordering: .relaxed)
            MainThreadEnd.disableWarning()
        }
        pthread_rwlock_init(wakeLock, nil)
        unlock()
        if let member { CLinuxSeparateSets(member) }
        Waits.otherThreadsHaveEnded()
    }
}

private let isProcessCopy = Atomic(false)
private let mainHasEnded = Atomic(false)
