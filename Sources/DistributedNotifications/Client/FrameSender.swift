internal import CLinux
internal import Foundation
internal import Glibc
internal import ThreadedNotifications

/// Sends frames through one socket, each whole and in order, from any thread.
///
/// If the socket takes only a part of some frames, the sender keeps the rest and sends it before any other frame. Its
/// lock is held during non-blocking system calls only, never while a thread waits for the socket.
package final class FrameSender: Sendable {
    package let socket: LocalSocket
    private let unsent = Locked(Unsent())

    /// Bytes to send before any other frame.
    private struct Unsent {
        var bytes: ArraySlice<UInt8> = []
        /// How many times all bytes were sent. A thread with a frame in `bytes` waits until this changes.
        var completions = 0
    }

    init(_ socket: LocalSocket) { self.socket = socket }

    package enum Outcome {
        case sent
        /// The connection has ended; nothing more is read from it.
        case ended
        /// The server did not read in time. If the socket had taken a part of the frame, the connection was ended.
        case timedOut
    }

    /// Whether bytes wait until the socket is writable.
    var isBlocked: Bool { unsent.withLock { !$0.bytes.isEmpty } }

    /// Sends the kept bytes and then control frames, as far as the socket takes them at once.
    /// - Parameter control: returns the next control frames, or nothing.
    /// - Returns: whether bytes remain. Then `flush` must be called again when the socket is writable.
    @discardableResult
    package func flush(control: () -> [UInt8]) -> Bool {
        unsent.withLock { unsent in flush(&unsent, control) == .timedOut }
    }

    /// Sends frames that have no sequence, as below.
    package func send(_ frames: [UInt8], until deadline: @autoclosure () -> SuspendingClock.Instant) -> Outcome {
        var frames = OutgoingFrame(bytes: frames)
        return send(&frames, until: deadline())
    }

    /// Sends the kept bytes, control frames, and then a frame. Waits for the socket until the deadline. The frame gets
    /// its sequence while no other can be sent, so that the numbers are in the order of sending.
    /// - Parameter deadline: evaluated when the socket is full.
    func send(
        _ frame: inout OutgoingFrame, control: () -> [UInt8] = { [] },
        until deadline: @autoclosure () -> SuspendingClock.Instant
    ) -> Outcome {
        // Set when the socket has taken a part of the frame: the rest is sent when `completions` differs from this.
        var completions: Int?
        while true {
            let outcome = unsent.withLock { unsent -> Outcome in
                if let completions, unsent.completions != completions { return .sent }
                let flushed = flush(&unsent, control)
                guard flushed == .sent, completions == nil else { return flushed }
                frame.assignSequence()
                var rest = frame.bytes[...]
                let outcome = send(&rest)
                if outcome != .ended, rest.count < frame.bytes.count { frame.useSequence() }
                if outcome == .timedOut, rest.count < frame.bytes.count {
                    unsent.bytes = rest
                    completions = unsent.completions
                }
                return outcome
            }
            if outcome == .ended, completions != nil { frame.useSequence(false) }
            if outcome != .timedOut { return outcome }
            guard waitUntilWritable(until: deadline()) else {
                guard let completions else { return .timedOut }
                if unsent.withLock({ $0.completions != completions }) { return .sent }
                // The frame cannot be completed, so no other can follow it.
                shutDown()
                frame.useSequence(false)
                return .timedOut
            }
        }
    }

    /// - Returns: `timedOut` if the socket's buffer is full.
    private func flush(_ unsent: inout Unsent, _ control: () -> [UInt8]) -> Outcome {
        while true {
            if unsent.bytes.isEmpty {
                unsent.bytes = control()[...]
                if unsent.bytes.isEmpty { return .sent }
            }
            let outcome = send(&unsent.bytes)
            guard outcome == .sent else { return outcome }
            unsent.bytes = []
            unsent.completions += 1
        }
    }

    /// Sends bytes, and removes those that the socket has taken.
    private func send(_ bytes: inout ArraySlice<UInt8>) -> Outcome {
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes {
                Glibc.send(socket.descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                bytes.removeFirst(count)
            } else if errno == EAGAIN {
                return .timedOut
            } else if errno != EINTR {
                shutDown()
                return .ended
            }
        }
        return .sent
    }

    private func waitUntilWritable(until deadline: SuspendingClock.Instant) -> Bool {
        var descriptor = pollfd(fd: socket.descriptor, events: Int16(POLLOUT), revents: 0)
        let milliseconds = deadline.millisecondsFromNow
        return milliseconds > 0 && poll(&descriptor, 1, milliseconds) != 0
    }

    /// Ends the connection in both directions. The thread that receives then finds its end.
    package func shutDown() { shutdown(socket.descriptor, Int32(SHUT_RDWR)) }
}

/// A frame to send. That of a post gets its sequence when it is sent.
struct OutgoingFrame {
    var bytes: [UInt8]
    var numbering: Numbering?
    private var sequence: PostSequence?

    struct Numbering {
        var key: PostNumbers.Key
        /// Where the sequence is.
        var offset: Int
        var numbers: Locked<PostNumbers>
    }

    init(bytes: [UInt8], numbering: Numbering? = nil) { (self.bytes, self.numbering) = (bytes, numbering) }

    fileprivate mutating func assignSequence() {
        guard let numbering else { return }
        let sequence = numbering.numbers.withLock { $0.next(numbering.key) }
        bytes.withUnsafeMutableBytes {
            $0.storeBytes(of: sequence.series.littleEndian, toByteOffset: numbering.offset, as: UInt64.self)
            $0.storeBytes(of: sequence.number.littleEndian, toByteOffset: numbering.offset + 8, as: UInt64.self)
        }
        self.sequence = sequence
    }

    /// - Parameter flag: false if a server cannot get the whole frame. Then the next post has the number.
    fileprivate func useSequence(_ flag: Bool = true) {
        guard let numbering, let sequence else { return }
        numbering.numbers.withLock { $0.use(sequence, numbering.key, isUsed: flag) }
    }
}
