internal import DistributedNotifications
internal import Glibc

extension FrameWriter {
    mutating func goodbye(_ reason: GoodbyeReason, _ text: String) {
        integer(reason.rawValue)
        string(text)
    }

    mutating func gap(_ count: Int, cause: NotificationGap.Cause) {
        string(cause.rawValue)
        integer(UInt64(count))
    }

    /// - Parameter part: of the server, of a client, or of an observer of the client before; nil ends the answer.
    mutating func statusPart(_ part: [String: PropertyListValue]?) {
        integer(UInt8(part == nil ? 0 : 1))
        // Names and numbers are always smaller than a userInfo may be.
        try? userInfo(part ?? [:])
    }
}

extension LocalSocket {
    /// A goodbye to a process that is no client, written if the socket takes it at once.
    func sendGoodbye(_ reason: GoodbyeReason, _ text: String) {
        var writer = FrameWriter()
        writer.frame(.goodbye) { $0.goodbye(reason, text) }
        _ = send(descriptor, writer.bytes, writer.bytes.count, ServerClient.sendFlags)
    }
}

extension ServerClient {
    var status: [String: PropertyListValue] {
        let own: [String: PropertyListValue] = [
            "process": .integer(Int64(process)), "name": .string(name ?? ""), "details": .dictionary(details),
            "isConnected": .boolean(!isClosed), "isSuspended": .boolean(suspension.isSuspended),
            "posted": .integer(Int64(posted)),
            "waitingBytes": .integer(Int64(outbound.waiting)),
            "heldEntries": .integer(Int64(suspension.entryCount + (kept?.entryCount ?? 0))),
            "heldBytes": .integer(Int64(suspension.byteCount + (kept?.byteCount ?? 0))),
        ]
        return own.merging((allCounts + (kept?.counts ?? NotificationCounts())).status) { $1 }
    }
}

extension ObserverTable.Observer {
    var status: [String: PropertyListValue] {
        var status: [String: PropertyListValue] = ["behavior": .string(matching.behavior.rawValue)]
        status["name"] = filter.name.map { .string($0) }
        status["object"] = filter.object.map { .string($0) }
        return status
    }
}
