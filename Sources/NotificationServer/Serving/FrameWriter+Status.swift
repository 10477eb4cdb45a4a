internal import DistributedNotifications

/// A part of the answer to a question about the status. Each is a frame of its own, so that the answer may have any
/// size. `StatusQuery` reads them.
extension FrameWriter {
    /// - Parameter part: of the server, of a client, or of an observer of the client before; nil ends the answer.
    mutating func statusPart(_ part: [String: PropertyListValue]?) {
        integer(UInt8(part == nil ? 0 : 1))
        // Names and numbers are always smaller than a userInfo may be.
        try? userInfo(part ?? [:])
    }
}

extension ServerClient {
    var status: [String: PropertyListValue] {
        [
            "processID": .integer(Int64(process)), "name": .string(state.name ?? ""),
            "isSuspended": .boolean(state.suspension.isSuspended), "posted": .integer(Int64(state.posted)),
            "waitingBytes": .integer(Int64(state.outbound.waiting)),
            "heldEntries": .integer(Int64(state.suspension.entryCount)),
            "heldBytes": .integer(Int64(state.suspension.byteCount)),
        ].merging(counts.status) { $1 }
    }
}

extension ObserverTable.Registered {
    var status: [String: PropertyListValue] {
        var status: [String: PropertyListValue] = ["behavior": .string(behavior.rawValue)]
        status["name"] = name.map { .string($0.string) }
        status["object"] = object.map { .string($0.string) }
        return status
    }
}
