internal import CLinux
internal import Glibc

/// A Unix stream socket. It is closed by exec, and when the last reference to it is released, so no thread can use a
/// number that has become another file's.
///
/// `write` raises SIGPIPE if the peer has closed the connection, so use `send` with MSG_NOSIGNAL. A connected socket
/// blocks, an accepted one does not: use MSG_DONTWAIT, or poll with a timeout.
package final class LocalSocket: Sendable {
    package let descriptor: Int32

    /// Takes over an open descriptor.
    package init(owning descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Creates a socket, with mode 0600, at a path that does not exist. Connections fail until it listens.
    /// - Throws: `DistributedError.pathNotUsable`.
    package static func bound(at path: String) throws(DistributedError) -> LocalSocket {
        let socket = try make(for: path)
        guard CLinuxBind(socket.descriptor, path) == 0 else {
            throw .pathNotUsable(path: path, problem: "no socket could be made there: \(SystemError.text(errno))")
        }
        return socket
    }

    /// Starts to listen; `accept` does not block. A process that inherited the socket calls it again, and is then the
    /// peer that clients see.
    /// - Returns: false, with errno, if it fails.
    package func listen() -> Bool {
        let flags = fcntl(descriptor, F_GETFL)
        return flags >= 0 && fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0
            && Glibc.listen(descriptor, Int32(SOMAXCONN)) == 0
    }

    /// Accepts the next connection. The accepted socket does not block.
    /// - Returns: nil, with errno, if none waits (EAGAIN) or it cannot be accepted.
    package func accept() -> LocalSocket? {
        let accepted = CLinuxAccept(descriptor)
        return accepted >= 0 ? LocalSocket(owning: accepted) : nil
    }

    /// Connects to the socket at a path. Waits until the deadline while the queue of connections is full.
    /// - Returns: nil if the path does not exist, or no process listens there.
    /// - Throws: `DistributedError.pathNotUsable`, and `.serverNotStarted` if the queue stays full.
    package static func connect(
        to path: String, until deadline: SuspendingClock.Instant
    ) throws(DistributedError) -> LocalSocket? {
        let socket = try make(for: path)
        while CLinuxConnect(socket.descriptor, path, Int64(deadline.millisecondsFromNow) * 1000) != 0 {
            switch errno {
            case EINTR: continue
            case ENOENT, ECONNREFUSED: return nil
            case EAGAIN:
                throw .serverNotStarted(
                    path: path,
                    problem: "there is one, but it accepts nobody. It is stopped or hangs: see which with "
                        + "'fuser -v \(path)', and continue or end it")
            case let error:
                throw .pathNotUsable(path: path, problem: "it cannot be connected to: \(SystemError.text(error))")
            }
        }
        return socket
    }

    private static func make(for path: String) throws(DistributedError) -> LocalSocket {
        let descriptor = CLinuxMakeLocalSocket()
        if descriptor >= 0 { return LocalSocket(owning: descriptor) }
        throw .pathNotUsable(path: path, problem: "no socket could be made: \(SystemError.text(errno))")
    }

    /// The process at the other end of the connection: of a server, the one that called `listen` last.
    package var peer: (process: Int32, user: UInt32)? {
        var (process, user) = (Int32(0), UInt32(0))
        return CLinuxPeer(descriptor, &process, &user) ? (process, user) : nil
    }
}

/// The text for an error number in messages.
package enum SystemError {
    package static func text(_ number: Int32) -> String { String(cString: strerror(number)) }
}

extension SuspendingClock.Instant {
    /// The time left for poll(2): zero if it has passed, at most an hour.
    package var millisecondsFromNow: Int32 {
        let left = SuspendingClock.now.duration(to: self)
        guard left > .zero else { return 0 }
        return Int32(min(left / .milliseconds(1), 3_600_000).rounded(.up))
    }
}
