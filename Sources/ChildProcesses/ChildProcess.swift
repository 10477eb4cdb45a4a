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
    private let input, output, errors: Int32
    private let state = Locked(State())

    init(_ id: pid_t, input: Int32, output: Int32, errors: Int32) throws(ChildProcessError) {
        (self.id, self.input, self.output, self.errors) = (id, input, output, errors)
        process = CLinuxOpenProcess(id)
        for descriptor in [input, output, errors] where descriptor >= 0 { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
        if process < 0 {
            let problem = String(cString: strerror(errno))
            Glibc.kill(id, SIGKILL)
            throw .cannotRun("process \(id)", problem: problem)
        }
    }

    deinit {
        if state.withLock({ $0.end == nil }) { wait(timeout: .zero) }
        for descriptor in [process, input, output, errors] where descriptor >= 0 { close(descriptor) }
    }

    /// Sends a signal, by default `SIGKILL`. Has no effect if the process has ended.
    package func kill(_ signal: Int32 = SIGKILL) { _ = CLinuxSignalProcess(process, signal) }

    package var hasEnded: Bool { Self.wait(for: [(process, POLLIN)], until: .now)[0] }

    /// A timeout for a process that may run as long as it does.
    package static let unlimited = Duration.seconds(1_000_000_000)

    /// Waits until the process has ended, and kills it after `timeout`.
    @discardableResult
    package func wait(timeout: Duration = unlimited) -> End {
        let hasEnded = Self.wait(for: [(process, POLLIN)], until: .after(timeout))[0]
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
            guard Self.wait(for: [(input, POLLOUT)], until: deadline)[0] else { throw .timedOut(after: timeout) }
            guard send(&rest) else { throw .hasEnded }
        }
    }

    /// Sends as much as the process's input takes without waiting. Returns false if the input is closed.
    private func send(_ rest: inout ArraySlice<UInt8>) -> Bool {
        let count = rest.withUnsafeBytes { Glibc.send(input, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if count > 0 { rest = rest.dropFirst(count) }
        return count >= 0 || errno == EAGAIN || errno == EINTR
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
            guard Self.wait(for: [(output, POLLIN)], until: deadline)[0] else { throw .timedOut(after: timeout) }
            let (bytes, isAtEnd) = Self.read(output)
            state.withLock { $0.unread += bytes }
            if isAtEnd, !bytes.contains(0x0A) { return nil }
        }
    }

    /// Reads at most as much as a pipe holds. Returns whether nothing more can follow.
    private static func read(_ descriptor: Int32) -> (bytes: [UInt8], isAtEnd: Bool) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        return (Array(buffer.prefix(max(0, count))), count == 0 || count < 0 && errno != EAGAIN && errno != EINTR)
    }

    /// Sends the input, and collects the output and the errors until the process has ended. It does not wait for
    /// processes that this process has started and that still hold its output.
    func communicate(_ bytes: [UInt8], timeout: Duration) -> ChildProgram.Result {
        let deadline = SuspendingClock.Instant.after(timeout)
        var rest = bytes[...]
        var collected: [[UInt8]] = [[], []]
        var open = [output, errors]
        var isOver = false
        while !isOver {
            if rest.isEmpty { closeInput() }
            let streams = [(process, POLLIN), (open[0], POLLIN), (open[1], POLLIN)]
            let ready = Self.wait(for: streams + [(rest.isEmpty ? -1 : input, POLLOUT)], until: deadline)
            isOver = ready[0] || !ready.contains(true)
            if ready[3], !send(&rest) { rest = [] }
            // When the process has ended, all that it wrote and that was not read yet is in the pipes.
            for index in open.indices where open[index] >= 0 {
                let (bytes, isAtEnd) = Self.read(open[index])
                collected[index] += bytes
                if isAtEnd { open[index] = -1 }
            }
        }
        let texts = collected.map { String(decoding: $0, as: UTF8.self) }
        return ChildProgram.Result(processID: id, end: wait(timeout: .zero), output: texts[0], errors: texts[1])
    }

    /// Blocks the calling thread until a descriptor is ready or the deadline has passed.
    ///
    /// - Parameter descriptors: the descriptors with the events to wait for. Negative descriptors are ignored.
    /// - Returns: which of them are ready; none at the deadline.
    private static func wait(for descriptors: [(Int32, Int32)], until deadline: SuspendingClock.Instant) -> [Bool] {
        var polled = descriptors.map { pollfd(fd: $0.0, events: Int16($0.1), revents: 0) }
        while true {
            let left = max(.zero, SuspendingClock.now.duration(to: deadline)) / .milliseconds(1)
            let count = poll(&polled, nfds_t(polled.count), Int32(min(left, 1e9).rounded(.up)))
            if count > 0 || SuspendingClock.now >= deadline { return polled.map { count > 0 && $0.revents != 0 } }
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
