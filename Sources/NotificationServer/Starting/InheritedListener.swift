internal import CLinux
internal import DistributedNotifications
internal import Glibc

/// A socket that systemd, or whoever keeps to the contract of sd_listen_fds, made and handed over.
///
/// LISTEN_PID is for whom the descriptors are meant, and LISTEN_FDS how many there are, from 3 on. The first is used.
enum InheritedListener {
    /// How many descriptors the variables hand to a process.
    static func count(listenPID: String?, listenFDs: String?, process: Int32) -> Int {
        guard let listenPID, let listenFDs, Int32(listenPID) == process, let count = Int(listenFDs), count > 0,
            count <= 1 << 16
        else { return 0 }
        return count
    }

    /// Takes the socket over, and removes the variables, so that no program started by this one takes it too. A process
    /// that runs with others' rights ignores the variables.
    ///
    /// Threads: no other may read or change the environment meanwhile, so call it early.
    /// - Returns: the socket, and the path it has; nil if none was handed over.
    /// - Throws: `DistributedError.placeNotUsable` if descriptor 3 is something else.
    static func take() throws(DistributedError) -> (listener: LocalSocket, path: String)? {
        func variable(_ name: String) -> String? { CLinuxEnvironment(name).map { String(cString: $0) } }
        let first = ServerHandover.listener
        let count = count(
            listenPID: variable("LISTEN_PID"), listenFDs: variable("LISTEN_FDS"), process: getpid())
        for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) }
        guard count > 0 else { return nil }
        for descriptor in first..<first + Int32(count) { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        guard let socket = description(of: first), socket.listens, !socket.path.isEmpty else {
            throw .placeNotUsable(
                path: "descriptor \(first), which LISTEN_FDS hands over",
                problem: "it is no listening socket of this computer with a path. In the socket unit say "
                    + "ListenStream= and a "
                    + "path, and not Accept=yes")
        }
        return (LocalSocket(owning: first), socket.path)
    }

    /// Nil if it is no socket of this computer for a stream of bytes.
    static func description(of descriptor: Int32) -> (listens: Bool, path: String)? {
        var listens = false
        var path = [CChar](repeating: 0, count: 109)
        guard CLinuxIsLocalSocket(descriptor, &listens, &path) else { return nil }
        return (listens, String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
}
