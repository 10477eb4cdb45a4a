internal import CLinux
internal import DistributedNotifications
internal import Glibc

/// The listening socket of a server, and how its file is known again when the server stops.
///
/// Which file it is was noted while the place was locked, so it is the server's own. It can be mistaken for no other: the kernel
/// does not give its number to another file while the socket is open, even if it was removed.
struct ServedSocket {
    let listener: LocalSocket
    let place: ServerPlace
    /// Its device and number. Nil if it is not the server's to remove: systemd goes on listening.
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

    /// Of a server that was started on demand: whoever did that made the socket, and has the place locked.
    init(inherited listener: LocalSocket, place: ServerPlace) {
        self.init(listener: listener, place: place, file: File(at: place.socketPath))
    }

    private init(listener: LocalSocket, place: ServerPlace, file: File?) {
        self.listener = listener
        self.place = place
        self.file = file
    }

    /// Takes what systemd hands over, else makes the socket at the place; and listens.
    ///
    /// Threads: no other may touch the environment meanwhile, see `InheritedListener`.
    /// - Throws: `DistributedError.placeNotUsable`, or `.serverNotStarted` if another server serves there.
    static func open(at place: ServerPlace, limit: Duration) throws(DistributedError) -> ServedSocket {
        if let (listener, path) = try InheritedListener.take() {
            guard path == place.socketPath else {
                throw .placeNotUsable(
                    path: path,
                    problem: "the socket unit listens there, and clients look for \(place.socketPath). Say so in "
                        + "ListenStream=")
            }
            return try ServedSocket(listener: listener, place: place, file: nil).listening()
        }
        try place.prepare()
        let deadline = ContinuousClock.now + limit
        let lock = try PlaceLock.require(place, until: deadline, limit: limit)
        defer { withExtendedLifetime(lock) {} }
        guard case .nobodyListens = try LocalSocket.connect(to: place.socketPath, until: .now) else {
            throw .serverNotStarted(
                path: place.socketPath,
                problem: "another serves there. See which with: notify-demo status --directory \(place.directory)")
        }
        try ServerStart.removeStaleSocket(at: place.socketPath)
        let listener = try LocalSocket.bound(at: place.socketPath)
        return try ServedSocket(inherited: listener, place: place).listening()
    }

    private func listening() throws(DistributedError) -> ServedSocket {
        guard listener.listen() else {
            throw .placeNotUsable(
                path: place.socketPath, problem: "it cannot be listened on: \(SystemError.text(errno))")
        }
        return self
    }

    /// Removes the file, so that the next client starts another server. Close the listener afterwards.
    ///
    /// What is there now may be another server's, if the file was removed by hand: then it stays.
    /// - Parameter unlessSomebodyWaits: then leaves the file if a connection waits to be accepted.
    /// - Returns: false if the server should go on, because somebody waits.
    func remove(unlessSomebodyWaits: Bool, timeout: Duration) -> Bool {
        guard file != nil, isAtItsPlace else { return !(unlessSomebodyWaits && somebodyWaits) }
        // If the place cannot be locked, the socket stays. It is stale then, and the start of the next server removes
        // it. The lock file is not made here: it is missing if the directory is being removed.
        guard let lock = try? PlaceLock.take(place, until: .now + timeout, creating: false) else { return true }
        defer { withExtendedLifetime(lock) {} }
        guard isAtItsPlace else { return !(unlessSomebodyWaits && somebodyWaits) }
        guard unlessSomebodyWaits else {
            unlink(place.socketPath)
            return true
        }
        // Moved away nobody finds it, and who looks for it waits for the lock; so none can come between looking and removing.
        let aside = "\(place.socketPath).ending"
        guard rename(place.socketPath, aside) == 0 else { return true }
        if somebodyWaits {
            rename(aside, place.socketPath)
            return false
        }
        unlink(aside)
        return true
    }

    /// Whether who looks for the server finds this one.
    var isAtItsPlace: Bool { file == nil || File(at: place.socketPath) == file }

    private var somebodyWaits: Bool {
        var listening = pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&listening, 1, 0) > 0
    }
}
