internal import CLinux
internal import Glibc
internal import ThreadedNotifications

/// Sends frames through one socket, each whole and in order, from any thread.
///
/// If the socket takes only a part of some frames, the sender keeps the rest and sends it before any other frame. Its
/// lock is held during non-blocking system calls only, never while a thread waits for the socket.
final class FrameSender: Sendable {
    let socket: LocalSocket
    private let control: @Sendable (FrameSender) -> [UInt8]
    private let state: Locked<State>

    private struct State {
        /// Bytes to send before any other frame.
        var unsent: ArraySlice<UInt8> = []
        /// Whether they are of a post, whose number is used when the last of them is sent.
        var areOfPost = false
        /// How many times all bytes were sent. A thread with a frame in `unsent` waits until this changes.
        var completions = 0
        var numbers: PostNumbers
    }

    /// - Parameters:
    ///   - numbers: those of the posts.
    ///   - control: returns the control frames to send before the next frame, or nothing. Called under the lock.
    init(
        _ socket: LocalSocket, _ numbers: PostNumbers = PostNumbers(),
        control: @escaping @Sendable (FrameSender) -> [UInt8] = { _ in [] }
    ) {
        (self.socket, self.control, state) = (socket, control, Locked(State(numbers: numbers)))
    }

    enum Outcome {
        case sent
        /// The connection has ended; nothing more is read from it.
        case ended
        /// The server did not read in time. If the socket had taken a part of the frame, the connection was ended.
        case timedOut
    }

    /// Whether bytes wait until the socket is writable.
    var isBlocked: Bool { state.withLock { !$0.unsent.isEmpty } }

    /// Sends the kept bytes and then control frames, as far as the socket takes them at once.
    /// - Returns: whether bytes remain. Then `flush` must be called again when the socket is writable.
    @discardableResult
    func flush() -> Bool { state.withLock { flush(&$0) == .timedOut } }

    /// Sends frames that have no sequence, as below.
    func send(_ frames: [UInt8], until deadline: @autoclosure () -> SuspendingClock.Instant) -> Outcome {
        var frames = OutgoingFrame(bytes: frames)
        return send(&frames, until: deadline())
    }

    /// Sends the kept bytes, control frames, and then a frame. Waits for the socket until the deadline. A post gets its
    /// number while no other can be sent, so the numbers are in the order of sending; it is used if the socket takes
    /// the whole frame.
    /// - Parameter deadline: evaluated when the socket is full.
    func send(_ frame: inout OutgoingFrame, until deadline: @autoclosure () -> SuspendingClock.Instant) -> Outcome {
        // Set when the socket has taken a part of the frame: the rest is sent when `completions` differs from this.
        var completions: Int?
        while true {
            let outcome = state.withLock { state -> Outcome in
                if let completions, state.completions != completions { return .sent }
                var outcome = flush(&state)
                guard outcome == .sent, completions == nil else { return outcome }
                frame.setSequence(&state.numbers)
                (state.unsent, state.areOfPost) = (frame.bytes[...], frame.isPost)
                outcome = sendUnsent(&state)
                if state.unsent.count == frame.bytes.count { state.unsent = [] }
                if outcome == .timedOut, !state.unsent.isEmpty { completions = state.completions }
                return outcome
            }
            if outcome != .timedOut { return outcome }
            guard waitUntilWritable(until: deadline()) else {
                guard let completions else { return .timedOut }
                return state.withLock { state in
                    if state.completions != completions { return .sent }
                    // The frame cannot be completed, so no other can follow it.
                    shutDown()
                    return .timedOut
                }
            }
        }
    }

    private func flush(_ state: inout State) -> Outcome {
        while true {
            if state.unsent.isEmpty {
                (state.unsent, state.areOfPost) = (control(self)[...], false)
                if state.unsent.isEmpty { return .sent }
            }
            let outcome = sendUnsent(&state)
            guard outcome == .sent else { return outcome }
        }
    }

    /// Sends the bytes that are not sent, and keeps those that the socket does not take.
    /// - Returns: `timedOut` if its buffer is full.
    private func sendUnsent(_ state: inout State) -> Outcome {
        while !state.unsent.isEmpty {
            let count = state.unsent.withUnsafeBytes {
                Glibc.send(socket.descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                state.unsent.removeFirst(count)
            } else if errno == EAGAIN {
                return .timedOut
            } else if errno != EINTR {
                shutDown()
                return .ended
            }
        }
        if state.areOfPost { state.numbers.use() }
        (state.unsent, state.completions) = ([], state.completions + 1)
        return .sent
    }

    private func waitUntilWritable(until deadline: SuspendingClock.Instant) -> Bool {
        var descriptor = pollfd(fd: socket.descriptor, events: Int16(POLLOUT), revents: 0)
        let milliseconds = deadline.millisecondsFromNow
        return milliseconds > 0 && poll(&descriptor, 1, milliseconds) != 0
    }

    /// Ends the connection in both directions. The thread that receives then finds its end.
    func shutDown() { shutdown(socket.descriptor, Int32(SHUT_RDWR)) }

    /// Ends the connection. No other post gets a number over it.
    /// - Returns: the numbers for the next connection.
    func end() -> PostNumbers {
        state.withLock { state in
            shutDown()
            return state.numbers
        }
    }
}
