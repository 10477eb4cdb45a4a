internal import CLinux
internal import DistributedNotifications
internal import Glibc

/// What waits in the queues is written.
extension ServerLoop {
    static let sendFlags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)

    @inline(__always)
    func mark(_ connection: ServerConnection) {
        guard !connection.isToBeWritten else { return }
        connection.isToBeWritten = true
        toWrite.append(connection)
    }

    func write() {
        var index = 0
        // To write may close a connection, and nothing else here adds to the list.
        while index < toWrite.count {
            let connection = toWrite[index]
            connection.isToBeWritten = false
            if !connection.isClosed { write(connection) }
            index += 1
        }
        toWrite.removeAll(keepingCapacity: true)
    }

    func write(_ connection: ServerConnection) {
        if connection.isDeaf { connection.forgetWhatWaits() }
        while !connection.queue.isEmpty {
            let bytes = connection.queue.unwritten
            let count = send(connection.descriptor, bytes.baseAddress, bytes.count, Self.sendFlags)
            guard count >= 0 else {
                if errno == EINTR { continue }
                if errno == EAGAIN { break }
                return becomeDeaf(connection)
            }
            if let missed = connection.queue.wrote(count, now: now) {
                var writer = FrameWriter()
                writer.frame(.gap) { Self.write(missed, cause: .slow, to: &$0) }
                connection.queue.append(writer.bytes, now: now)
                report(.dropped(process: connection.process, name: connection.name ?? "", count: missed.count))
            }
            if connection.queue.isEmpty { continueStatus(connection) }
        }
        if connection.isEnding, connection.queue.isEmpty { return drop(connection, reason: "it was told to go") }
        if let stallsAt = connection.queue.stallsAt { check(at: stallsAt) }
        guard connection.isWritten == connection.queue.isEmpty else { return }
        connection.isWritten = !connection.queue.isEmpty
        updatePoll(connection)
    }

    /// It has ended: nothing more is delivered to it. What it wrote before is served, and it goes when that is read.
    func becomeDeaf(_ connection: ServerConnection) {
        if connection.isEnding { return drop(connection, reason: "it ended") }
        connection.isDeaf = true
        table.removeClient(connection.number)
        heldBytes -= connection.suspension.byteCount
        connection.forgetWhatWaits()
        connection.isWritten = false
        updatePoll(connection)
    }
}
