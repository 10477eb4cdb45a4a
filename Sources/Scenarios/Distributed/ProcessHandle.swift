internal import CLinux
internal import Glibc

/// A process file descriptor. While it exists, the process's id is not reused, so that signals cannot reach another
/// process. The process need not be a child.
final class ProcessHandle: Sendable {
    let id: Int32
    private let descriptor: Int32

    /// - Returns: nil if there is no such process, or the kernel is older than 5.3.
    init?(_ id: Int32) {
        let descriptor = CLinuxOpenProcess(id)
        guard descriptor >= 0 else { return nil }
        self.id = id
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Sends `SIGKILL`.
    func kill() {
        _ = CLinuxSignalProcess(descriptor, SIGKILL)
    }

    /// Blocks the calling thread until the process has ended and all its descriptors are closed.
    ///
    /// - Returns: false if `timeout` has passed first.
    func waitUntilEnded(timeout: Duration) -> Bool {
        let deadline = ContinuousClock.now + min(timeout, .seconds(86400))
        while true {
            let left = max(.zero, ContinuousClock.now.duration(to: deadline))
            var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let count = poll(&watched, 1, Int32((left / .milliseconds(1)).rounded(.up)))
            if count > 0 { return true }
            if count == 0 || errno != EINTR { return false }
        }
    }
}
