internal import Glibc
internal import Synchronization

/// Detects that this process is a copy, made by `fork`, of one that used a center. The copy has the descriptors but not
/// the threads, and a lock that was held is never unlocked in it.
enum ForkGuard {
    private static let forked = Atomic(false)
    private static let isInstalled: Void = {
        pthread_atfork(nil, nil) { forked.store(true, ordering: .relaxed) }
    }()

    static func install() {
        _ = isInstalled
    }

    static var isCopy: Bool { forked.load(ordering: .relaxed) }
}
