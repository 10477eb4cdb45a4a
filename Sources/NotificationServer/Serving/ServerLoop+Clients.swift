internal import CLinux
internal import DistributedNotifications
internal import Glibc

/// Who comes, who is refused, and who goes.
extension ServerLoop {
    func accept() {
        // More come back in the next turn.
        for _ in 0..<64 {
            guard let socket = listener?.accept() else {
                if errno == EMFILE || errno == ENFILE { refuseWithoutDescriptor() }
                return
            }
            admit(socket)
        }
    }

    func pauseAccepting(until time: UInt64) {
        guard let listener else { return }
        acceptsAt = time
        _ = poll.watch(listener.descriptor, as: Self.listenerNumber, reading: false, writing: false)
        check(at: time)
    }

    func acceptAgain() {
        guard let acceptsAt, let listener else { return }
        if now < acceptsAt { return check(at: acceptsAt) }
        self.acceptsAt = nil
        _ = poll.watch(listener.descriptor, as: Self.listenerNumber, reading: true, writing: false)
    }

    func admit(_ socket: LocalSocket) {
        guard let peer = socket.peer else { return }
        // Before anything of it is read.
        guard peer.user == userID else {
            return refuse(socket, peer.process, "it belongs to user \(peer.user), and this server to user \(userID)")
        }
        makeRoomForNewcomer()
        guard connections.count < limits.clients else {
            return refuse(
                socket, peer.process, "\(limits.clients) processes are connected, and no more may be. Let some end")
        }
        lastNumber += 1
        let connection = ServerConnection(
            number: lastNumber, socket: socket, process: peer.process, limits: limits, now: now)
        guard
            poll.watch(socket.descriptor, as: UInt64(connection.number), reading: true, writing: false, isNew: true)
                == 0
        else { return refuse(socket, peer.process, "the server's system has no room left") }
        connections[connection.number] = connection
        newcomers.append(connection)
        check(at: now &+ limits.helloTimeout.nanoseconds)
    }

    /// Ends the oldest connections that have not said hello if there are too many, so that they keep no other process
    /// from it.
    func makeRoomForNewcomer() {
        while newcomers.count >= limits.clientsBeforeHello, let oldest = newcomers.first {
            // Its hello may have come, and was not read in this turn.
            read(oldest)
            serve(oldest)
            guard oldest === newcomers.first else { continue }
            report(
                .clientRefused(
                    process: oldest.process,
                    reason: "it said nothing, and \(limits.clientsBeforeHello) connected after it"))
            // No reason is written: a center that was only slow connects again.
            drop(oldest, reason: nil)
        }
    }

    func refuse(_ socket: LocalSocket, _ process: Int32, _ reason: String) {
        let bye = Self.bye(.refused, reason)
        _ = bye.withUnsafeBytes { send(socket.descriptor, $0.baseAddress, $0.count, Self.sendFlags) }
        report(.clientRefused(process: process, reason: reason))
    }

    /// There is no descriptor for one more: it is accepted with the spare one, told, and closed.
    func refuseWithoutDescriptor() {
        report(.outOfDescriptors)
        close(spareDescriptor)
        if let socket = listener?.accept() {
            refuse(
                socket, socket.peer?.process ?? 0,
                "the server has no descriptor left. Let some processes end, or raise its limit (ulimit -n)")
        }
        spareDescriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        // Not at once: whoever comes next is told the same, and the loop has others to serve.
        pauseAccepting(until: now &+ 100_000_000)
    }

    static func bye(_ reason: ByeReason, _ text: String) -> [UInt8] {
        var writer = FrameWriter()
        writer.frame(.bye) {
            $0.integer(reason.rawValue)
            $0.string(text)
        }
        return writer.bytes
    }

    /// Says why, and closes when that is written.
    func end(_ connection: ServerConnection, _ reason: ByeReason, _ text: String) {
        guard !connection.isEnding else { return }
        connection.queue.append(Self.bye(reason, text), now: now)
        connection.isEnding = true
        mark(connection)
        if reason == .refused { report(.clientRefused(process: connection.process, reason: text)) }
    }

    /// Forgets a connection and closes it.
    func drop(_ connection: ServerConnection, reason: String?) {
        guard !connection.isClosed else { return }
        connections[connection.number] = nil
        table.removeClient(connection.number)
        heldBytes -= connection.suspension.byteCount
        connection.close()
        if let name = connection.name {
            report(.clientGone(process: connection.process, name: name, reason: reason))
        } else {
            newcomers.removeAll { $0 === connection }
        }
        if connections.isEmpty {
            clientsGoneAt = now
            if let idleTimeout { check(at: now &+ idleTimeout) }
        }
    }
}
