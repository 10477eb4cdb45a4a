internal import ThreadedNotifications

/// Asks a server for its status over a separate connection. Blocks the calling thread.
enum StatusQuery {
    static func ask(_ directory: ServerDirectory, timeout: Duration) throws(DistributedError) -> ServerStatus? {
        guard let socket = try ServerStart.connectIfServed(directory, timeout: timeout) else { return nil }
        var server = ServerConnection(FrameSender(socket))
        var question = FrameWriter()
        question.hello(suspended: false, name: "status")
        question.frame(.status)
        var status: ServerStatus?
        return try server.ask("a status request", question, path: directory.socketPath, timeout: timeout) {
            input throws(WireError) in
            switch input {
            case .welcome, .woken: break
            case .statusPart(hasMore: true, let part): try add(part, to: &status)
            case .statusPart where status != nil: return status
            case .goodbye(let goodbye): throw .refused(goodbye.text)
            case .ended: throw .refused("it ended the connection")
            default: throw .outOfTurn(.status)
            }
            return nil
        }
    }

    /// The first part is the server's, each other a process's, with its observers after it.
    private static func add(_ bytes: UnsafeRawBufferPointer, to status: inout ServerStatus?) throws(WireError) {
        do {
            var part = try PropertyListReader.decode(bytes)
            (part["clients"], part["observers"]) = ([], [])
            if status == nil {
                status = try part.decoded(as: ServerStatus.self)
            } else if part["behavior"] == nil {
                status?.clients.append(try part.decoded(as: ServerStatus.Client.self))
            } else if let last = status?.clients.indices.last {
                status?.clients[last].observers.append(try part.decoded(as: ServerStatus.Observer.self))
            }
        } catch {
            throw .refused("its status cannot be read: \(error)")
        }
    }
}
