internal import DistributedNotifications
internal import Glibc

/// What the server tells of itself, in parts, so that it is never much at a time.
extension ServerLoop {
    func answerStatus(_ connection: ServerConnection) {
        let server: [String: PropertyListValue] = [
            "processID": .integer(Int64(getpid())), "directory": .string(place.directory),
            "seconds": .real(Double(now - startedAt) / 1e9), "posted": .integer(Int64(posted)),
            "delivered": .integer(Int64(delivered)), "dropped": .integer(Int64(dropped)),
            "discarded": .integer(Int64(discarded)), "heldBytes": .integer(Int64(heldBytes)),
        ]
        answerStatusPart(connection, server, more: true)
        connection.statusRest = connections.keys.filter { $0 != connection.number }.sorted(by: >)
        continueStatus(connection)
    }

    /// As much as may wait; the rest when that is written.
    func continueStatus(_ connection: ServerConnection) {
        guard connection.statusRest != nil else { return }
        while connection.queue.waiting < limits.softQueueBytes {
            guard let number = connection.statusRest?.popLast() else {
                connection.statusRest = nil
                return answerStatusPart(connection, [:], more: false)
            }
            guard let client = connections[number] else { continue }
            answerStatusPart(connection, status(of: client), more: true)
            for observer in table.registrations(of: client.number) {
                var part: [String: PropertyListValue] = ["behavior": .string(observer.behavior.rawValue)]
                part["name"] = observer.name.map { .string($0.string) }
                part["object"] = observer.object.map { .string($0.string) }
                answerStatusPart(connection, part, more: true)
            }
        }
    }

    func status(of client: ServerConnection) -> [String: PropertyListValue] {
        [
            "processID": .integer(Int64(client.process)), "name": .string(client.name ?? ""),
            "isSuspended": .boolean(client.suspension.isSuspended), "posted": .integer(Int64(client.posted)),
            "delivered": .integer(Int64(client.delivered)), "dropped": .integer(Int64(client.dropped)),
            "discarded": .integer(Int64(client.suspension.discardedCount)),
            "waitingBytes": .integer(Int64(client.queue.waiting)),
            "heldEntries": .integer(Int64(client.suspension.entryCount)),
            "heldBytes": .integer(Int64(client.suspension.byteCount)),
        ]
    }

    func answerStatusPart(_ connection: ServerConnection, _ part: [String: PropertyListValue], more: Bool) {
        var writer = FrameWriter()
        writer.frame(.statusPart) {
            $0.integer(UInt8(more ? 1 : 0))
            // Names and numbers are always less than a userInfo may be.
            try? $0.userInfo(part)
        }
        connection.queue.append(writer.bytes, now: now)
        mark(connection)
    }
}
