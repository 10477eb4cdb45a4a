internal import CLinux
internal import Glibc
internal import ThreadedNotifications

/// Sends frames through one socket, each whole and in order, from any thread.
///
/// If the socket takes only a part of some frames, the sender keeps the rest and sends it before any other frame. Its
/// lock is held during non-blocking system calls only, never while a thread waits for the socket.
package final class FrameSender: Sendable {
    package let socket: LocalSocket
    private let state: Locked<State>

    private struct State {
        /// Bytes to send before any other frame.
        var unsent: ArraySlice<UInt8> = []
        /// Whether they are the rest of a post, whose number is used when they are sent.
        var areOfPost = false
        /// How many times all bytes were sent. A thread with a frame in `unsent` waits until this changes.
        var completions = 0
        var numbers: PostNumbers
    }

    /// - Parameter numbers: those of the posts.
    init(_ socket: LocalSocket, _ numbers: PostNumbers = PostNumbers()) {
        (self.socket, state) = (socket, Locked(State(numbers: numbers)))
    }

    package enum Outcome {
        case sent
        /// The connection has ended; nothing more is read from it.
        case ended
        /// The server did not read in time. If the socket had taken a part of the frame, the connection was ended.
        case timedOut
    }

    /// Whether bytes wait until the socket is writable.
    var isBlocked: Bool { state.withLock { !$0.unsent.isEmpty } }

    /// Sends the kept bytes and then control frames, as far as the socket takes them at once.
    /// - Parameter control: returns the next control frames, or nothing.
    /// - Returns: whether bytes remain. Then `flush` must be called again when the socket is writable.
    @discardableResult
    package func flush(control: () -> [UInt8]) -> Bool {
        state.withLock { state in flush(&state, control) == .timedOut }
    }

    /// Sends frames that have no sequence, as below.
    package func send(_ frames: [UInt8], until deadline: @autoclosure () -> SuspendingClock.Instant) -> Outcome {
        var frames = OutgoingFrame(bytes: frames)
        return send(&frames, until: deadline())
    }

    /// Sends the kept bytes, control frames, and then a frame. Waits for the socket until the deadline. A post gets its
    /// number while no other can be sent, so the numbers are in the order of sending; it is used if the socket takes
    /// the whole frame.
    /// - Parameter deadline: evaluated when the socket is full.
    func send(
        _ frame: inout OutgoingFrame, control: () -> [UInt8] = { [] },
        until deadline: @autoclosure () -> SuspendingClock.Instant
    ) -> Outcome {
        // Set when the socket has taken a part of the frame: the rest is sent when `completions` differs from this.
        var completions: Int?
        while true {
            let outcome = state.withLock { state -> Outcome in
                if let completions, state.completions != completions { return .sent }
                let flushed = flush(&state, control)
                guard flushed == .sent, completions == nil else { return flushed }
                frame.setSequence(&state.numbers)
                var rest = frame.bytes[...]
                let outcome = send(&rest)
                if outcome == .sent, frame.numbering != nil { state.numbers.use() }
                if outcome == .timedOut, rest.count < frame.bytes.count {
                    (state.unsent, state.areOfPost) = (rest, frame.numbering != nil)
                    completions = state.completions
                }
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

    /// - Returns: `timedOut` if the socket's buffer is full.
    private func flush(_ state: inout State, _ control: () -> [UInt8]) -> Outcome {
        while true {
            if state.unsent.isEmpty {
                state.unsent = control()[...]
                if state.unsent.isEmpty { return .sent }
            }
            let outcome = send(&state.unsent)
            guard outcome == .sent else { return outcome }
            if state.areOfPost { state.numbers.use() }
            (state.unsent, state.areOfPost) = ([], false)
            state.completions += 1
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

    /// Ends the connection. No other post gets a number over it.
    /// - Returns: the numbers for the next connection.
    func end() -> PostNumbers {
        state.withLock { state in
            shutDown()
            return state.numbers
        }
    }
}

/// A frame to send. That of a post gets its sequence when it is sent.
struct OutgoingFrame {
    fileprivate(set) var bytes: [UInt8]
    /// Nil if it is no post.
    fileprivate let numbering: Numbering?

    /// Where the parts are that a sequence needs.
    struct Numbering {
        var nameAndObject: Range<Int>
        var sequence: Int
    }

    init(bytes: [UInt8]) { (self.bytes, numbering) = (bytes, nil) }

    /// - Parameter record: the post's number in the poster's recording; 0 if it is not recorded.
    init(
        postOf name: String, object: String?, userInfo: [String: PropertyListValue]?, deliverImmediately: Bool,
        record: UInt64
    ) throws(DistributedError) {
        // Memory that is not written costs nothing, and a larger frame is never copied.
        var writer = FrameWriter(capacity: Wire.lengthBytes + Wire.frameLimit)
        numbering = try writer.post(
            name: name, object: object, userInfo: userInfo, deliverImmediately: deliverImmediately, record: record)
        bytes = writer.bytes
    }

    fileprivate mutating func setSequence(_ numbers: inout PostNumbers) {
        guard let numbering else { return }
        bytes.withUnsafeMutableBytes { bytes in
            let sequence = numbers.next(UnsafeRawBufferPointer(rebasing: bytes[numbering.nameAndObject]))
            bytes.storeBytes(of: sequence.series.littleEndian, toByteOffset: numbering.sequence, as: UInt64.self)
            bytes.storeBytes(of: sequence.number.littleEndian, toByteOffset: numbering.sequence + 8, as: UInt64.self)
        }
    }
}
