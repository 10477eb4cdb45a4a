internal import CLinux
internal import Glibc
internal import ThreadedNotifications

/// A child process: it exchanges lines with this process, is waited for, and is killed when this value is released
/// before the process has ended.
///
/// Threads: every method may be called on any thread. Methods that wait block the calling thread.
package final class ChildProcess: Sendable {
    /// How a process ended.
    package enum End: Sendable, Hashable, CustomStringConvertible {
        case exit(Int32)
        case signal(Int32)
        /// It was killed, because it did not end within the timeout.
        case timedOut

        package var description: String {
            switch self {
            case .exit(let status): "exit \(status)"
            case .signal(let signal): "signal \(signal)"
            case .timedOut: "timed out"
            }
        }
    }

    package let id: Int32
    /// A process file descriptor. While it exists, the id is not reused, so that signals cannot reach another process.
    private let process: Int32
    /// The other end of the streams that are piped, or negative.
    private let socket: Int32
    private let end = Locked<End?>(nil)

    init(_ id: pid_t, socket: Int32) throws(ChildProcessError) {
        (self.id, self.socket, process) = (id, socket, CLinuxOpenProcess(id))
        if process < 0 {
            let error = errno
            Glibc.kill(id, SIGKILL)
            throw .cannotRun("process \(id)", error)
        }
    }

    deinit {
        if end.withLock({ $0 == nil }) { wait(timeout: .zero) }
        for descriptor in [process, socket] where descriptor >= 0 { close(descriptor) }
    }

    /// Sends a signal, by default `SIGKILL`. Has no effect if the process has ended.
    package func kill(_ signal: Int32 = SIGKILL) { _ = CLinuxSignalProcess(process, signal) }

    package var hasEnded: Bool { Self.isReady(process, POLLIN, until: .now) }

    /// A timeout for a process that may run as long as it does.
    package static let unlimited = Duration.seconds(1_000_000_000)

    /// Waits until the process has ended, and kills it after `timeout`.
    @discardableResult
    package func wait(timeout: Duration = unlimited) -> End {
        let hasEnded = Self.isReady(process, POLLIN, until: .after(timeout))
        if !hasEnded { kill() }
        return end.withLock { known in
            if let known { return known }
            var status: Int32 = 0
            while waitpid(id, &status, 0) < 0, errno == EINTR {}
            // WIFSIGNALED, WTERMSIG and WEXITSTATUS are macros that Swift does not import.
            let signal = status & 0x7F
            let end: End = !hasEnded ? .timedOut : signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal)
            known = end
            return end
        }
    }

    /// Writes a line to the process's input.
    ///
    /// - Parameter line: without its newline. A line of more than some 100 KiB may block.
    package func write(line: String, timeout: Duration) throws(ChildProcessError) {
        let bytes = Array("\(line)\n".utf8)
        guard Self.isReady(socket, POLLOUT, until: .after(timeout)) else { throw .timedOut(after: timeout) }
        guard send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { throw .hasEnded }
    }

    /// Ends the process's input.
    package func closeInput() { shutdown(socket, Int32(SHUT_WR)) }

    /// Returns the next line of the process's output without its newline, or nil at the end of the output.
    package func readLine(timeout: Duration) throws(ChildProcessError) -> String? {
        let deadline = SuspendingClock.Instant.after(timeout)
        var (line, byte) = ([UInt8](), UInt8(0))
        while true {
            guard Self.isReady(socket, POLLIN, until: deadline) else { throw .timedOut(after: timeout) }
            // One at a time, so that nothing of the next line has to be kept.
            if read(socket, &byte, 1) != 1 { return nil }
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
    }

    /// Blocks the calling thread until a descriptor is ready or the deadline has passed.
    private static func isReady(_ descriptor: Int32, _ events: Int32, until deadline: SuspendingClock.Instant) -> Bool {
        var polled = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        while true {
            let left = max(.zero, SuspendingClock.now.duration(to: deadline)) / .milliseconds(1)
            if poll(&polled, 1, Int32(min(left, 1e9).rounded(.up))) > 0 { return true }
            if SuspendingClock.now >= deadline { return false }
        }
    }
}

/// The reason why a child process could not be used.
package struct ChildProcessError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// The child does not read its input any more.
    package static let hasEnded = Self("the child process ended before it had read its input")

    static func cannotRun(_ program: String, _ error: Int32) -> Self {
        Self("cannot run \(program): \(String(cString: strerror(error)))")
    }

    static func timedOut(after timeout: Duration) -> Self {
        Self("the child process wrote no line within \(timeout)")
    }
}
