internal import CLinux
internal import Glibc

/// A socket of this computer, for a stream of bytes. It is closed when the last reference to it goes, and by exec; so no thread
/// can use a number that has become another file's.
///
/// Writing to one whose other end is gone raises SIGPIPE, unless it is told not to: use `send` with MSG_NOSIGNAL, not `write`.
/// One that was connected blocks; one that was accepted does not. Where that matters say MSG_DONTWAIT, or wait with a limit.
package final class LocalSocket: Sendable {
    package let descriptor: Int32

    /// Who is at the other end.
    package struct Peer: Hashable {
        /// A server's is the process that last called `listen`.
        package var process: Int32
        package var user: UInt32
    }

    /// Takes over an open descriptor.
    package init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Makes a socket at a path where nothing is, with mode 0600. Until it listens, whoever connects is refused.
    /// - Throws: `DistributedError.placeNotUsable`.
    package static func bound(at path: String) throws(DistributedError) -> LocalSocket {
        let socket = try make(for: path)
        guard CLinuxBind(socket.descriptor, path) == 0 else {
            throw .placeNotUsable(path: path, problem: "no socket could be made there: \(SystemError.text(errno))")
        }
        return socket
    }

    /// Has the socket take connections, and accepting not block. May be called again by a process that inherited it: whoever
    /// connects then sees that process as the peer.
    /// - Returns: false, with errno, if it cannot.
    package func listen() -> Bool {
        let flags = fcntl(descriptor, F_GETFL)
        return flags >= 0 && fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0
            && Glibc.listen(descriptor, Int32(SOMAXCONN)) == 0
    }

    /// The next connection that waits, which does not block.
    /// - Returns: nil, with errno, if there is none (EAGAIN), or it could not be accepted.
    package func accept() -> LocalSocket? {
        while true {
            let accepted = CLinuxAccept(descriptor)
            if accepted >= 0 { return LocalSocket(owning: accepted) }
            if errno != EINTR { return nil }
        }
    }

    /// What connecting came to.
    package enum Attempt {
        case connected(LocalSocket)
        /// There is nothing at the path, or nobody listens there.
        case nobodyListens
        /// Its queue is full, and was for the time allowed.
        case queueIsFull
    }

    /// Connects to the socket at a path. Waits while its queue is full, but not past the deadline.
    /// - Throws: `DistributedError.placeNotUsable`.
    package static func connect(to path: String, until deadline: ContinuousClock.Instant) throws(DistributedError)
        -> Attempt
    {
        let socket = try make(for: path)
        while true {
            let left = ContinuousClock.now.duration(to: deadline).components
            let microseconds = left.seconds * 1_000_000 + left.attoseconds / 1_000_000_000_000
            if CLinuxConnect(socket.descriptor, path, microseconds) == 0 { return .connected(socket) }
            switch errno {
            case EINTR: continue
            case ENOENT, ECONNREFUSED: return .nobodyListens
            case EAGAIN: return .queueIsFull
            case let error:
                throw .placeNotUsable(path: path, problem: "it cannot be connected to: \(SystemError.text(error))")
            }
        }
    }

    package var peer: Peer? {
        var process: Int32 = 0
        var user: UInt32 = 0
        return CLinuxPeer(descriptor, &process, &user) ? Peer(process: process, user: user) : nil
    }

    private static func make(for path: String) throws(DistributedError) -> LocalSocket {
        let descriptor = CLinuxMakeLocalSocket()
        if descriptor < 0 {
            throw .placeNotUsable(path: path, problem: "no socket could be made: \(SystemError.text(errno))")
        }
        return LocalSocket(owning: descriptor)
    }
}
