internal import Glibc
internal import ThreadedNotifications

/// Asks a server for its status over a separate connection. Blocks the calling thread.
enum StatusQuery {
    private static let unreadable = "its status cannot be read"

    static func ask(_ directory: ServerDirectory, timeout: Duration) throws(DistributedError) -> ServerStatus? {
        let deadline = SuspendingClock.Instant.after(timeout)
        guard let socket = try ServerStart.connectIfServed(directory, timeout: timeout) else { return nil }
        var server = ServerConnection(socket)
        var question = FrameWriter()
        question.hello(suspended: false, name: "status")
        question.frame(.status)
        _ = server.sender.send(question.bytes, until: deadline)
        var status: ServerStatus?
        var isLate = false
        while !isLate {
            do throws(WireError) {
                switch try server.next(until: deadline) {
                case .frame(.welcome): break
                case .frame(.statusPart(hasMore: true, let part)): try add(part, to: &status)
                case .frame(.statusPart):
                    var farewell = FrameWriter()
                    farewell.frame(.farewell)
                    _ = server.sender.send(farewell.bytes, until: deadline)
                    guard let status else { throw .refused(unreadable) }
                    return status
                case .frame(.goodbye(let goodbye)): throw .refused(goodbye.text)
                case .frame: throw .outOfTurn(.status)
                case .ended: throw .refused("it ended the connection")
                case .woken, .timedOut: isLate = true
                }
            } catch {
                throw .serverRefused(path: directory.socketPath, problem: "\(error)")
            }
        }
        throw .notAnswered("a status request", path: directory.socketPath, timeout: timeout)
    }

    /// The first part is the server's, each other a process's, with its observers after it.
    private static func add(
        _ bytes: UnsafeRawBufferPointer, to status: inout ServerStatus?
    ) throws(WireError) {
        guard let part = try? PropertyListReader.decode(bytes) else { throw .refused(unreadable) }
        guard status != nil else {
            status = ServerStatus(
                process: Int32(clamping: part.integer("processID")), directory: part.string("directory") ?? "",
                nanoseconds: Int64(max(0, min(part.real("seconds"), 9e9)) * 1e9), posted: part.integer("posted"),
                matched: part.integer("matched"), delivered: part.integer("delivered"),
                dropped: part.integer("dropped"), discarded: part.integer("discarded"),
                coalesced: part.integer("coalesced"), suppressed: part.integer("suppressed"),
                removed: part.integer("removed"), heldEntries: part.integer("heldEntries"),
                heldBytes: part.integer("heldBytes"), clients: [])
            return
        }
        if let behavior = part.string("behavior").flatMap(SuspensionBehavior.init) {
            guard let last = status?.clients.indices.last else { return }
            status?.clients[last].observers.append(
                ServerStatus.Observer(name: part.string("name"), object: part.string("object"), behavior: behavior))
        } else {
            status?.clients.append(
                ServerStatus.Client(
                    process: Int32(clamping: part.integer("processID")), name: part.string("name") ?? "",
                    isSuspended: part["isSuspended"] == .boolean(true), posted: part.integer("posted"),
                    matched: part.integer("matched"), delivered: part.integer("delivered"),
                    dropped: part.integer("dropped"), discarded: part.integer("discarded"),
                    coalesced: part.integer("coalesced"), suppressed: part.integer("suppressed"),
                    removed: part.integer("removed"), waitingBytes: part.integer("waitingBytes"),
                    heldEntries: part.integer("heldEntries"), heldBytes: part.integer("heldBytes"), observers: []))
        }
    }
}

extension [String: PropertyListValue] {
    fileprivate func integer(_ key: String) -> Int {
        if case .integer(let value)? = self[key] { Int(value) } else { 0 }
    }

    fileprivate func real(_ key: String) -> Double {
        if case .real(let value)? = self[key] { value } else { 0 }
    }

    fileprivate func string(_ key: String) -> String? {
        if case .string(let value)? = self[key] { value } else { nil }
    }
}
