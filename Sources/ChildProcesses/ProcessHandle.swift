internal import CLinux
internal import Glibc
internal import ThreadedNotifications

/// A process file descriptor. While it exists, the process's id is not reused, so that signals cannot reach another
/// process. The process need not be a child.
package final class ProcessHandle: Sendable {
    package let id: Int32
    let descriptor: Int32

    /// - Returns: nil if there is no such process, or the kernel is older than 5.3.
    package init?(_ id: Int32) {
        let descriptor = CLinuxOpenProcess(id)
        guard descriptor >= 0 else { return nil }
        self.id = id
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Sends a signal, by default `SIGKILL`. Has no effect if the process has ended.
    package func kill(_ signal: Int32 = SIGKILL) { _ = CLinuxSignalProcess(descriptor, signal) }

    /// Blocks the calling thread until the process has ended and all its descriptors are closed.
    ///
    /// - Returns: false if `timeout` has passed first.
    package func waitUntilEnded(timeout: Duration) -> Bool {
        Self.wait(for: [(descriptor, POLLIN)], until: .after(timeout))[0]
    }

    /// Blocks the calling thread until a descriptor is ready or the deadline has passed.
    ///
    /// - Parameter descriptors: the descriptors with the events to wait for. Negative descriptors are ignored.
    /// - Returns: which of them are ready; none at the deadline.
    static func wait(for descriptors: [(Int32, Int32)], until deadline: SuspendingClock.Instant) -> [Bool] {
        var polled = descriptors.map { pollfd(fd: $0.0, events: Int16($0.1), revents: 0) }
        while true {
            let left = max(.zero, SuspendingClock.now.duration(to: deadline)) / .milliseconds(1)
            let count = poll(&polled, nfds_t(polled.count), Int32(min(left, 1e9).rounded(.up)))
            if count > 0 || SuspendingClock.now >= deadline { return polled.map { count > 0 && $0.revents != 0 } }
        }
    }
}
