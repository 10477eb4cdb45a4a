internal import CLinux
internal import DistributedNotifications
internal import Glibc

/// The listening socket of a server, and the identity of its file, so that a server that stops removes only its own
/// socket.
///
/// The identity is read while the directory is locked. The kernel gives the inode number to no other file while the
/// socket is open, even if the file is removed.
struct ServedSocket {
    let listener: LocalSocket
    let directory: ServerDirectory
    /// Nil if systemd listens: the server must not remove that socket.
    private let file: File?

    private struct File: Equatable {
        var device: UInt64
        var number: UInt64

        init?(at path: String) {
            var file = CLinuxFile()
            guard CLinuxFileAtPath(path, &file), file.isSocket else { return nil }
            (device, number) = (file.device, file.number)
        }
    }

    /// - Parameter isOwn: false if systemd created the socket. Otherwise the directory is locked.
    init(_ listener: LocalSocket, directory: ServerDirectory, isOwn: Bool = true) {
        (self.listener, self.directory) = (listener, directory)
        file = isOwn ? File(at: directory.socketPath) : nil
    }

    /// Uses the socket that systemd passes, or creates one in the directory, and listens.
    ///
    /// Threads: no other thread may use the environment at the same time, see `InheritedListener`.
    /// - Throws: `DistributedError.pathNotUsable`, or `.serverNotStarted` if another server uses the directory.
    static func open(at directory: ServerDirectory, timeout: Duration) throws(DistributedError) -> ServedSocket {
        if let (listener, path) = try InheritedListener.take() {
            guard path == directory.socketPath else {
                throw .pathNotUsable(
                    path: path,
                    problem: "the socket unit listens there, and clients use \(directory.socketPath). Set that path in "
                        + "ListenStream=")
            }
            return try ServedSocket(listener, directory: directory, isOwn: false).listening()
        }
        try directory.prepare()
        return try directory.whileLocked(until: .now + timeout) { () throws(DistributedError) in
            guard try LocalSocket.connect(to: directory.socketPath, until: .now) == nil else {
                throw .serverNotStarted(
                    path: directory.socketPath,
                    problem: "another server uses it. See which with: notify-demo serve --status --directory "
                        + directory.path)
            }
            try ServerStart.removeStaleSocket(at: directory.socketPath)
            return try ServedSocket(try LocalSocket.bound(at: directory.socketPath), directory: directory).listening()
        }
    }

    private func listening() throws(DistributedError) -> ServedSocket {
        guard listener.listen() else {
            throw .pathNotUsable(
                path: directory.socketPath, problem: "it cannot be listened on: \(SystemError.text(errno))")
        }
        return self
    }

    /// Removes the file, so that the next client starts another server. If the file was removed before, a file of
    /// another server may have the same path; it stays.
    ///
    /// If the directory cannot be locked, the socket stays, and the next server that starts removes it. The lock file
    /// is not created here: it is missing if the directory is being removed.
    func remove(timeout: Duration) {
        guard file != nil, isAtItsPlace else { return }
        try? directory.whileLocked(until: .now + timeout, creating: false) {
            if isAtItsPlace { unlink(directory.socketPath) }
        }
    }

    /// Whether clients find this server.
    var isAtItsPlace: Bool { file == nil || File(at: directory.socketPath) == file }
}
