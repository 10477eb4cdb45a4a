internal import CLinux
internal import Glibc
internal import ThreadedNotifications

/// One connection to a server, which any thread may write to and one reads.
final class Link: Sendable {
    let socket: LocalSocket
    let serverProcess: Int32
    /// Held by who writes, so that frames are whole.
    private let writing = Locked(())

    init(_ socket: LocalSocket, serverProcess: Int32) {
        self.socket = socket
        self.serverProcess = serverProcess
    }

    enum Outcome {
        case written
        /// The connection is over; nothing of it will be read.
        case over
        /// The server did not read in time. What it has a part of, it will not get whole: then the connection is over too.
        case late
    }

    /// Writes what is to be said first, and then these bytes.
    ///
    /// - Parameter giveBack: called with what was to be said first, if the time is over before anything of it was written; without
    ///   it the connection ends then.
    func write(
        _ bytes: [UInt8], first: () -> [UInt8], giveBack: (([UInt8]) -> Void)? = nil,
        until deadline: ContinuousClock.Instant
    ) -> Outcome {
        // Another may write to a server that does not read.
        guard writing.lock(nanoseconds: Int64(clamping: ContinuousClock.now.duration(to: deadline).nanoseconds)) else {
            return .late
        }
        defer { writing.unlock() }
        let control = first()
        if !control.isEmpty {
            let (outcome, written) = write(control, until: deadline)
            guard case .written = outcome else {
                if case .late = outcome, written == 0, let giveBack {
                    giveBack(control)
                    return outcome
                }
                // It was to be told, and was not: only a new connection will be.
                shutDown()
                return outcome
            }
        }
        return bytes.isEmpty ? .written : write(bytes, until: deadline).outcome
    }

    private func write(
        _ bytes: [UInt8], until deadline: ContinuousClock.Instant
    ) -> (outcome: Outcome, written: Int) {
        bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
                let count = send(
                    socket.descriptor, rest.baseAddress, rest.count,
                    Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
                if count >= 0 {
                    written += count
                } else if errno == EAGAIN {
                    guard waitUntilWritable(until: deadline) else {
                        if written > 0 { shutDown() }
                        return (.late, written)
                    }
                } else if errno != EINTR {
                    shutDown()
                    return (.over, written)
                }
            }
            return (.written, written)
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
    var millisecondsFromNow: Int32 {
        let left = ContinuousClock.now.duration(to: self)
        guard left > .zero else { return 0 }
        return Int32(min(left / .milliseconds(1), 3_600_000).rounded(.up))
    }
}
