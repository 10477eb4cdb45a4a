internal import CLinux
internal import Glibc

/// A process, whoever's child it is, held so that its number cannot be taken for another's.
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

    /// As `kill -9`.
    func kill() {
        _ = CLinuxSignalProcess(descriptor, SIGKILL)
    }

    /// Waits until it has ended: then all that it had open is closed. It blocks the calling thread.
    ///
    /// - Returns: false if that took longer than the limit.
    func waitUntilEnded(limit: Duration) -> Bool {
        let deadline = ContinuousClock.now + min(limit, .seconds(86400))
        while true {
            let left = max(.zero, ContinuousClock.now.duration(to: deadline))
            var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let count = poll(&watched, 1, Int32((left / .milliseconds(1)).rounded(.up)))
            if count > 0 { return true }
            if count == 0 || errno != EINTR { return false }
        }
    }
}
