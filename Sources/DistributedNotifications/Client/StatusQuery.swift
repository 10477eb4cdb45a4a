internal import CLinux
internal import Glibc

/// Asks a server for its status over a separate connection. Blocks the calling thread.
enum StatusQuery {
    static func ask(_ directory: ServerDirectory, timeout: Duration) throws(DistributedError) -> ServerStatus? {
        let deadline = SuspendingClock.Instant.now.advanced(by: timeout)
        guard let socket = try ServerStart.connectIfServed(directory, timeout: timeout) else { return nil }
        let sender = FrameSender(socket)
        var question = FrameWriter()
        question.hello(suspended: false, name: "status")
        question.frame(.status)
        _ = sender.send(question.bytes, until: deadline)
        let decoder = FrameDecoder()
        var status: ServerStatus?
        while true {
            do throws(WireError) {
                while let frame = try decoder.next() {
                    var reader = WireReader(frame.payload)
                    switch FrameKind(rawValue: frame.kind) {
                    case .welcome: break
                    case .goodbye:
                        throw WireError.refused(try Goodbye(&reader).text)
                    case .statusPart:
                        let more = try reader.integer(UInt8.self) == 1
                        guard more else {
                            var farewell = FrameWriter()
                            farewell.frame(.farewell)
                            _ = sender.send(farewell.bytes, until: deadline)
                            return status
                        }
                        add(reader.rest(), to: &status)
                    default: throw WireError.unknown("kind of frame", frame.kind)
                    }
                }
            } catch {
                throw .serverRefused(path: directory.socketPath, problem: "\(error)")
            }
            let space = decoder.space()
            let count = recv(socket.descriptor, space.baseAddress, space.count, Int32(MSG_DONTWAIT))
            if count > 0, .now < deadline {
                decoder.received(count)
                continue
            }
            if count == 0 { throw .serverRefused(path: directory.socketPath, problem: "it ended the connection") }
            guard count > 0 || errno == EAGAIN || errno == EINTR else {
                throw .serverRefused(path: directory.socketPath, problem: String(cString: strerror(errno)))
            }
            var descriptor = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
            let milliseconds = deadline.millisecondsFromNow
            guard milliseconds > 0 else {
                throw .notAnswered("a status request", path: directory.socketPath, timeout: timeout)
            }
            _ = poll(&descriptor, 1, milliseconds)
        }
    }

    /// The first part is the server's, each other a process's, with its observers after it.
    private static func add(_ bytes: UnsafeRawBufferPointer, to status: inout ServerStatus?) {
        guard let part = try? PropertyListReader.decode(bytes).value else { return }
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
