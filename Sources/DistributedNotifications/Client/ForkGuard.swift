internal import Glibc
internal import Synchronization

/// Whether this process is a copy, made by fork, of one that used a center. A copy has the descriptors, but not the threads, and
/// locks that nobody will unlock.
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
