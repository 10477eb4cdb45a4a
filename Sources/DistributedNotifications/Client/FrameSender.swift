internal import CLinux
internal import Glibc
internal import ThreadedNotifications

/// One connection to a server, which any thread may write to and one reads.
///
/// If the socket takes only a part of some frames, the link keeps the rest and writes it before anything else, so
/// frames are whole and in order. The lock is held while a thread gives the socket what it takes at once, and never
/// while a thread waits.
final class Link: Sendable {
    let socket: LocalSocket
    let serverProcess: Int32
    private let unsent = Locked(Unsent())

    /// The bytes to write first: frames, or the rest of a frame.
    private struct Unsent {
        var bytes: [UInt8] = []
        var offset = 0
        /// How often all bytes were written. A thread that left the rest of its frame here waits until this changes.
        var round = 0

        var isEmpty: Bool { offset == bytes.count }
    }

    init(_ socket: LocalSocket, serverProcess: Int32) {
        self.socket = socket
        self.serverProcess = serverProcess
    }

    enum Outcome {
        case written
        /// The connection is over; nothing of it will be read.
        case over
        /// The server did not read in time. If the socket has taken a part of the frame, the connection is over too.
        case late
    }

    /// Whether something waits for the socket to be writable.
    var isBlocked: Bool { unsent.withLock { !$0.isEmpty } }

    /// Writes what waits, and then frames; gives up what the socket does not take at once.
    ///
    /// - Parameter control: gives the frames, when all that was given before is written; empty: there are none.
    /// - Returns: whether something is left, for which `flush` must be called again when the socket is writable.
    func flush(control: () -> [UInt8]) -> Bool {
        unsent.withLock { unsent in
            if case .full = flush(&unsent, control) { true } else { false }
        }
    }

    /// Writes what waits, and then a frame. Waits for the socket until the deadline.
    func write(_ frame: [UInt8], control: () -> [UInt8] = { [] }, until deadline: ContinuousClock.Instant) -> Outcome {
        // When the socket has taken a part of the frame: the round in which the rest is written.
        var round: Int?
        while true {
            let attempt = unsent.withLock { unsent -> Attempt in
                if let round, unsent.round != round { return .done }
                let flushed = flush(&unsent, control)
                guard case .done = flushed, round == nil else { return flushed }
                let sent = send(frame, from: 0)
                if case .full = sent.attempt, sent.offset > 0 {
                    unsent.bytes = frame
                    unsent.offset = sent.offset
                    round = unsent.round
                }
                return sent.attempt
            }
            switch attempt {
            case .done: return .written
            case .over: return .over
            case .full: break
            }
            guard waitUntilWritable(until: deadline) else {
                // It will not be whole, unless another thread has just written the rest.
                guard let round else { return .late }
                if unsent.withLock({ $0.round != round }) { return .written }
                shutDown()
                return .late
            }
        }
    }

    private enum Attempt {
        case done
        /// The socket takes no more.
        case full
        case over
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
            unsent.round += 1
        }
    }

    /// - Returns: how far the socket has taken the bytes.
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
                    return (.over, offset)
                }
            }
            return (.done, offset)
        }
    }

    private func waitUntilWritable(until deadline: ContinuousClock.Instant) -> Bool {
        var descriptor = pollfd(fd: socket.descriptor, events: Int16(POLLOUT), revents: 0)
        let milliseconds = deadline.millisecondsFromNow
        guard milliseconds > 0 else { return false }
        return poll(&descriptor, 1, milliseconds) != 0
    }

    /// Ends the connection in both directions; the reader finds that out.
    func shutDown() {
        shutdown(socket.descriptor, Int32(SHUT_RDWR))
    }
}

extension ContinuousClock.Instant {
    /// For poll(2): zero when it has passed, at most an hour.
    package var millisecondsFromNow: Int32 {
        let left = ContinuousClock.now.duration(to: self)
        guard left > .zero else { return 0 }
        return Int32(min(left / .milliseconds(1), 3_600_000).rounded(.up))
    }
}
