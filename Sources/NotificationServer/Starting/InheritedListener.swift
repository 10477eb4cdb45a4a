internal import CLinux
internal import DistributedNotifications
internal import Glibc

/// A listening socket that systemd, or another program that follows sd_listen_fds(3), passes to this process.
///
/// LISTEN_PID is the process that receives the descriptors, and LISTEN_FDS their number, starting with descriptor 3.
/// The first descriptor is used.
enum InheritedListener {
    /// Takes over the socket, and removes the variables, so that no program that this one starts uses it too. A process
    /// with rights that its user does not have ignores the variables.
    ///
    /// Threads: no other thread may use the environment at the same time, so call it early.
    /// - Returns: the socket and its path; nil if none was passed.
    /// - Throws: `DistributedError.pathNotUsable` if descriptor 3 is something else.
    static func take() throws(DistributedError) -> (listener: LocalSocket, path: String)? {
        let names = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]
        let values = names.map { CLinuxEnvironment($0).map { String(cString: $0) } }
        for name in names { unsetenv(name) }
        let count = values[1].flatMap { Int32($0) } ?? 0
        guard values[0].flatMap({ Int32($0) }) == getpid(), (1...1 << 16).contains(count) else { return nil }
        let first = ServerStart.listenerNumber
        for descriptor in first..<first + count { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        guard let socket = description(of: first), socket.listens, !socket.path.isEmpty else {
            throw .pathNotUsable(
                path: "descriptor \(first), which LISTEN_FDS passes",
                problem: "it is not a listening Unix socket with a path. In the socket unit use ListenStream= and a "
                    + "path, and not Accept=yes")
        }
        return (LocalSocket(owning: first), socket.path)
    }

    /// - Returns: nil if it is not a Unix stream socket.
    static func description(of descriptor: Int32) -> (listens: Bool, path: String)? {
        var listens = false
        var path = [CChar](repeating: 0, count: 109)
        guard CLinuxIsLocalSocket(descriptor, &listens, &path) else { return nil }
        return (listens, String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
}
