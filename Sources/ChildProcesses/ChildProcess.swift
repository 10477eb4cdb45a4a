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

    private struct State {
        var unread: [UInt8] = []
        var end: End?
    }

    package let id: Int32
    /// A process file descriptor. While it exists, the id is not reused, so that signals cannot reach another process.
    private let process: Int32
    // Negative if the stream is not piped.
    private let input, output: Int32
    private let state = Locked(State())

    init(_ id: pid_t, input: Int32, output: Int32) throws(ChildProcessError) {
        (self.id, self.input, self.output) = (id, input, output)
        process = CLinuxOpenProcess(id)
        for descriptor in [input, output] where descriptor >= 0 { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
        if process < 0 {
            let problem = String(cString: strerror(errno))
            Glibc.kill(id, SIGKILL)
            throw .cannotRun("process \(id)", problem: problem)
        }
    }

    deinit {
        if state.withLock({ $0.end == nil }) { wait(timeout: .zero) }
        for descriptor in [process, input, output] where descriptor >= 0 { close(descriptor) }
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
        return state.withLock { state in
            if let end = state.end { return end }
            var status: Int32 = 0
            while waitpid(id, &status, 0) < 0, errno == EINTR {}
            // WIFSIGNALED, WTERMSIG and WEXITSTATUS are macros that Swift does not import.
            let signal = status & 0x7F
            let end: End = !hasEnded ? .timedOut : signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal)
            state.end = end
            return end
        }
    }

    /// Writes a line to the process's input.
    ///
    /// - Parameter line: without its newline.
    package func write(line: String, timeout: Duration) throws(ChildProcessError) {
        let deadline = SuspendingClock.Instant.after(timeout)
        var rest = Array("\(line)\n".utf8)[...]
        while !rest.isEmpty {
            guard Self.isReady(input, POLLOUT, until: deadline) else { throw .timedOut(after: timeout) }
            let count = rest.withUnsafeBytes { Glibc.send(input, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count >= 0 || errno == EAGAIN || errno == EINTR else { throw .hasEnded }
            rest = rest.dropFirst(max(0, count))
        }
    }

    /// Ends the process's input.
    package func closeInput() { shutdown(input, Int32(SHUT_WR)) }

    /// Returns the next line of the process's output without its newline, or nil at the end of the output.
    package func readLine(timeout: Duration) throws(ChildProcessError) -> String? {
        let deadline = SuspendingClock.Instant.after(timeout)
        while true {
            let line: String? = state.withLock { state in
                guard let end = state.unread.firstIndex(of: 0x0A) else { return nil }
                defer { state.unread.removeFirst(end + 1) }
                return String(decoding: state.unread[..<end], as: UTF8.self)
            }
            if let line { return line }
            guard Self.isReady(output, POLLIN, until: deadline) else { throw .timedOut(after: timeout) }
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            let count = Glibc.read(output, &bytes, bytes.count)
            if count == 0 { return nil }
            state.withLock { $0.unread += bytes.prefix(max(0, count)) }
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
package enum ChildProcessError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The program could not be started.
    case cannotRun(String, problem: String)
    /// The child does not read its input any more.
    case hasEnded
    /// The child wrote no line.
    case timedOut(after: Duration)

    package var description: String {
        switch self {
        case .cannotRun(let program, let problem): "cannot run \(program): \(problem)"
        case .hasEnded: "the child process ended before it had read its input"
        case .timedOut(let timeout): "the child process wrote no line within \(timeout)"
        }
    }
}
