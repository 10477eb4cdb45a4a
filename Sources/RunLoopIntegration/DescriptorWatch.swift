internal import CLinux
internal import Foundation
internal import Glibc
public import ThreadedNotifications

/// A file descriptor that a ``RunLoopThread`` watches.
///
/// Threads: any.
/// Removal: `cancel()`, or releasing the watch.
public final class DescriptorWatch: Sendable {
    /// What a descriptor is ready for.
    public struct Readiness: OptionSet, Sendable, Hashable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// Something can be read, or the other side has closed the descriptor.
        public static let read = Readiness(rawValue: EPOLLIN.rawValue)
        /// Something can be written, or the other side has closed the descriptor.
        public static let write = Readiness(rawValue: EPOLLOUT.rawValue)
    }

    private let source: RunLoopSource
    private let isCancelled: Locked<Bool>

    fileprivate init(
        _ watched: WatchedDescriptor, by runLoop: RunLoopReference, _ handler: @escaping @Sendable () -> Void
    ) {
        let isCancelled = Locked(false)
        self.isCancelled = isCancelled
        source = RunLoopSource(watched.set) {
            guard watched.takeEvent(), !isCancelled.withLock({ $0 }) else { return }
            handler()
            watched.rearm()
        }
        source.add(to: runLoop, mode: .common)
        runLoop.wakeUp()
    }

    deinit {
        cancel()
    }

    /// Ends the watch. Later calls have no effect.
    ///
    /// On the watching thread, the handler is not called again. On another thread, a call of the handler that has begun
    /// may continue after this returns, so close the descriptor on the watching thread.
    public func cancel() {
        isCancelled.withLock { $0 = true }
        source.invalidate()
    }
}

extension RunLoopThread {
    /// Calls a handler on this thread whenever a descriptor is ready, which Foundation does not offer on Linux.
    ///
    ///     let watch = try thread.watch(socket, for: .read) { receive(from: socket) }
    ///
    /// The handler is called again while the descriptor stays ready, so it need not read everything at once.
    ///
    /// Threads: may be called on any thread, once the thread has started. The handler runs on this thread, in the
    /// common modes of its run loop.
    /// Order: in no fixed order with notifications and blocks.
    /// Removal: cancel or release the watch on this thread before you close the descriptor. The end of the thread ends
    /// the watch.
    /// Cost: one more descriptor. Two system calls for each call of the handler, besides those of the run loop.
    /// - Throws: `DeliveryError` with the code `threadNotStarted`, `threadStopped`, or `descriptorFailed`: the
    ///   descriptor is a regular file or is not open, or the system has no descriptor left.
    public func watch(
        _ descriptor: CInt, for readiness: DescriptorWatch.Readiness, using handler: @escaping @Sendable () -> Void
    ) throws(DeliveryError) -> DescriptorWatch {
        let thread = ServedThread(of: self)
        guard let runLoop = thread.runLoop else { throw .threadNotStarted(thread: name) }
        guard thread.isOpen else { throw .threadStopped(thread: name) }
        let watched: WatchedDescriptor
        do {
            watched = try WatchedDescriptor(descriptor, readiness.rawValue)
        } catch {
            throw .descriptorFailed(thread: name, problem: String(cString: strerror(error.code)))
        }
        return DescriptorWatch(watched, by: runLoop, handler)
    }
}

/// A set that has only the watched descriptor. A run loop reads from the descriptors of its sources, which has no
/// effect on a set.
private final class WatchedDescriptor: Sendable {
    struct Failure: Error {
        let code: CInt
    }

    let set: CInt
    private let descriptor: CInt
    private let events: UInt32

    init(_ descriptor: CInt, _ events: UInt32) throws(Failure) {
        self.descriptor = descriptor
        self.events = events | EPOLLONESHOT.rawValue
        set = epoll_create1(Int32(EPOLL_CLOEXEC))
        if set < 0 { throw Failure(code: errno) }
        let error = CLinuxWatch(set, EPOLL_CTL_ADD, descriptor, self.events, 0)
        if error != 0 { throw Failure(code: error) }
    }

    deinit {
        if set >= 0 { close(set) }
    }

    /// Takes the event that made the set ready. Without that, `rearm` would not make it ready again.
    /// - Returns: false if there was none.
    func takeEvent() -> Bool {
        var (events, data): (UInt32, UInt64) = (0, 0)
        return CLinuxWaitForEvents(set, &events, &data, 1, 0) > 0
    }

    /// Makes the set ready again if the descriptor is.
    func rearm() {
        _ = CLinuxWatch(set, EPOLL_CTL_MOD, descriptor, events, 0)
    }
}
