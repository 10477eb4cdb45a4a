internal import CLinux
internal import Glibc
internal import ThreadedNotifications

/// Sends frames through one socket, each whole and in order, from any thread.
///
/// If the socket takes only a part of some frames, the sender keeps the rest and sends it before any other frame. Its
/// lock is held during non-blocking system calls only, never while a thread waits for the socket.
final class FrameSender: Sendable {
    let socket: LocalSocket
    private let unsent = Locked(Unsent())

    /// Bytes to send before any other frame.
    private struct Unsent {
        var bytes: [UInt8] = []
        var offset = 0
        /// How many times all bytes were sent. A thread with a frame in `bytes` waits until this changes.
        var completions = 0

        var isEmpty: Bool { offset == bytes.count }
    }

    init(_ socket: LocalSocket) {
        self.socket = socket
    }

    enum Outcome {
        case sent
        /// The connection has ended; nothing more is read from it.
        case ended
        /// The server did not read in time. If the socket had taken a part of the frame, the connection was ended.
        case timedOut
    }

    /// Whether bytes wait until the socket is writable.
    var isBlocked: Bool { unsent.withLock { !$0.isEmpty } }

    /// Sends the kept bytes and then control frames, as far as the socket takes them at once.
    ///
    /// - Parameter control: returns the next control frames, or nothing.
    /// - Returns: whether bytes remain. Then `flush` must be called again when the socket is writable.
    func flush(control: () -> [UInt8]) -> Bool {
        unsent.withLock { unsent in
            if case .full = flush(&unsent, control) { true } else { false }
        }
    }

    /// Sends the kept bytes, control frames, and then a frame. Waits for the socket until the deadline.
    ///
    /// - Parameter deadline: evaluated when the socket is full.
    func send(
        _ frame: [UInt8], control: () -> [UInt8] = { [] }, until deadline: @autoclosure () -> SuspendingClock.Instant
    ) -> Outcome {
        // Set when the socket has taken a part of the frame: the rest is sent when `completions` differs from this.
        var completions: Int?
        while true {
            let attempt = unsent.withLock { unsent -> Attempt in
                if let completions, unsent.completions != completions { return .done }
                let flushed = flush(&unsent, control)
                guard case .done = flushed, completions == nil else { return flushed }
                let sent = send(frame, from: 0)
                if case .full = sent.attempt, sent.offset > 0 {
                    unsent.bytes = frame
                    unsent.offset = sent.offset
                    completions = unsent.completions
                }
                return sent.attempt
            }
            switch attempt {
            case .done: return .sent
            case .ended: return .ended
            case .full: break
            }
            guard waitUntilWritable(until: deadline()) else {
                guard let completions else { return .timedOut }
                if unsent.withLock({ $0.completions != completions }) { return .sent }
                // The frame cannot be completed, so no other can follow it.
                shutDown()
                return .timedOut
            }
        }
    }

    private enum Attempt {
        case done
        /// The socket's buffer is full.
        case full
        case ended
    }

    private func flush(_ unsent: inout Unsent, _ control: () -> [UInt8]) -> Attempt {
        while true {
            if unsent.isEmpty {
                let frames = control()
                if frames.isEmpty { return .done }
                unsent.bytes = frames
                unsent.offset = 0
            }
            let sent = send(unsent.bytes, from: unsent.offset)
            unsent.offset = sent.offset
            guard case .done = sent.attempt else { return sent.attempt }
            unsent.bytes = []
            unsent.offset = 0
            unsent.completions += 1
        }
    }

    /// - Returns: the offset up to which the socket has taken the bytes.
    private func send(_ bytes: [UInt8], from start: Int) -> (attempt: Attempt, offset: Int) {
        bytes.withUnsafeBytes { bytes in
            var offset = start
            while offset < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
                let count = Glibc.send(
                    socket.descriptor, rest.baseAddress, rest.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
                if count >= 0 {
                    offset += count
                } else if errno == EAGAIN {
                    return (.full, offset)
                } else if errno != EINTR {
                    shutDown()
                    return (.ended, offset)
                }
            }
            return (.done, offset)
        }
    }

    private func waitUntilWritable(until deadline: SuspendingClock.Instant) -> Bool {
        var descriptor = pollfd(fd: socket.descriptor, events: Int16(POLLOUT), revents: 0)
        let milliseconds = deadline.millisecondsFromNow
        guard milliseconds > 0 else { return false }
        return poll(&descriptor, 1, milliseconds) != 0
    }

    /// Ends the connection in both directions. The thread that receives then finds its end.
    func shutDown() {
        shutdown(socket.descriptor, Int32(SHUT_RDWR))
    }
}

extension SuspendingClock.Instant {
    /// The time left for poll(2): zero if it has passed, at most an hour.
    package var millisecondsFromNow: Int32 {
        let left = SuspendingClock.now.duration(to: self)
        guard left > .zero else { return 0 }
        return Int32(min(left / .milliseconds(1), 3_600_000).rounded(.up))
    }
}
