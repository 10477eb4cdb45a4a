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
    /// The device and inode number. Nil if systemd listens: the server must not remove that socket.
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

    /// For a server that a client started: the client created the socket, and has locked the directory.
    init(inherited listener: LocalSocket, directory: ServerDirectory) {
        self.init(listener: listener, directory: directory, file: File(at: directory.socketPath))
    }

    private init(listener: LocalSocket, directory: ServerDirectory, file: File?) {
        self.listener = listener
        self.directory = directory
        self.file = file
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
            return try ServedSocket(listener: listener, directory: directory, file: nil).listening()
        }
        try directory.prepare()
        let deadline = SuspendingClock.now + timeout
        let lock = try DirectoryLock.take(directory, until: deadline)
        defer { withExtendedLifetime(lock) {} }
        guard case .nobodyListens = try LocalSocket.connect(to: directory.socketPath, until: .now) else {
            throw .serverNotStarted(
                path: directory.socketPath,
                problem: "another server uses it. See which with: notify-demo serve --status --directory "
                    + directory.path)
        }
        try ServerStart.removeStaleSocket(at: directory.socketPath)
        let listener = try LocalSocket.bound(at: directory.socketPath)
        return try ServedSocket(inherited: listener, directory: directory).listening()
    }

    private func listening() throws(DistributedError) -> ServedSocket {
        guard listener.listen() else {
            throw .pathNotUsable(
                path: directory.socketPath, problem: "it cannot be listened on: \(SystemError.text(errno))")
        }
        return self
    }

    /// Removes the file, so that the next client starts another server. Close the listener afterwards.
    ///
    /// If the file was removed before, a file of another server may have the same path; it stays.
    /// - Parameter unlessClientWaits: whether to leave the file if a connection waits to be accepted.
    /// - Returns: false if the server must continue, because a connection waits.
    func remove(unlessClientWaits: Bool, timeout: Duration) -> Bool {
        guard file != nil, isAtItsPlace else { return !(unlessClientWaits && clientWaits) }
        // If the directory cannot be locked, the socket stays, and the next server that starts removes it. The lock
        // file is not created here: it is missing if the directory is being removed.
        guard let lock = try? DirectoryLock.take(directory, until: .now + timeout, creating: false) else { return true }
        defer { withExtendedLifetime(lock) {} }
        guard isAtItsPlace else { return !(unlessClientWaits && clientWaits) }
        guard unlessClientWaits else {
            unlink(directory.socketPath)
            return true
        }
        // Once it is renamed, no client can connect to it, so none connects between the check and the removal.
        let aside = "\(directory.socketPath).ending"
        guard rename(directory.socketPath, aside) == 0 else { return true }
        if clientWaits {
            rename(aside, directory.socketPath)
            return false
        }
        unlink(aside)
        return true
    }

    /// Whether clients find this server.
    var isAtItsPlace: Bool { file == nil || File(at: directory.socketPath) == file }

    private var clientWaits: Bool {
        var listening = pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&listening, 1, 0) > 0
    }
}
