internal import DistributedNotifications

/// A frame that a client wrote, decoded and checked. Posts are not among them: `Router.post` reads them in place.
enum ClientRequest: Equatable {
    case hello(name: String, suspended: Bool, versions: ProtocolVersions)
    case register(ObserverTable.Registered)
    case unregister(UInt32)
    case setSuspended(Bool)
    case synchronize(UInt64)
    case status
    case farewell

    /// - Throws: what is wrong with the frame.
    init(_ kind: FrameKind, _ payload: UnsafeRawBufferPointer) throws(WireError) {
        var reader = WireReader(payload)
        switch kind {
        case .hello:
            self = try Self.hello(&reader)
            // The rest of a hello of another version has an unknown format.
            if case .hello(_, _, let versions) = self, ProtocolVersions.supported.newestCommon(with: versions) == nil {
                return
            }
        case .register: self = .register(try Self.registered(&reader))
        case .unregister: self = .unregister(try reader.integer(UInt32.self))
        case .suspension: self = .setSuspended(try reader.flag("suspension"))
        case .synchronize: self = .synchronize(try reader.integer(UInt64.self))
        case .status: self = .status
        case .farewell: self = .farewell
        default: throw .unknown("kind of frame", kind.rawValue)
        }
        try reader.end()
    }

    private static func hello(_ reader: inout WireReader) throws(WireError) -> ClientRequest {
        let magic = try reader.integer(UInt32.self)
        guard magic == Wire.magic else { throw .magic(magic) }
        // In all versions of the protocol the newest version that the client speaks comes first.
        let newest = try reader.integer(UInt16.self)
        let oldest = newest < ProtocolVersions.supported.oldest ? newest : try reader.integer(UInt16.self)
        let versions = ProtocolVersions(oldest: oldest, newest: newest)
        guard ProtocolVersions.supported.newestCommon(with: versions) != nil else {
            return .hello(name: "", suspended: false, versions: versions)
        }
        let suspended = try reader.flag("suspension")
        return .hello(
            name: try reader.string(limit: Wire.processNameLimit), suspended: suspended, versions: versions)
    }

    private static func registered(_ reader: inout WireReader) throws(WireError) -> ObserverTable.Registered {
        let number = try reader.integer(UInt32.self)
        let wireBehavior = try reader.integer(UInt8.self)
        guard let behavior = SuspensionBehavior(wireValue: wireBehavior) else {
            throw .unknown("suspension behavior", wireBehavior)
        }
        let flags = try reader.integer(UInt8.self)
        guard flags <= 3 else { throw .unknown("flag of an observer", flags) }
        let name = flags & 1 != 0 ? try reader.stringBytes(limit: Wire.nameLimit) : nil
        let object = flags & 2 != 0 ? try reader.stringBytes(limit: Wire.objectLimit) : nil
        if let name {
            guard !name.isEmpty else { throw .emptyName }
            try PostedPayload.check(name)
        }
        if let object { try PostedPayload.check(object) }
        return ObserverTable.Registered(
            registration: number, name: name.map { ByteString($0) }, object: object.map { ByteString($0) },
            behavior: behavior)
    }
}

extension WireReader {
    fileprivate mutating func flag(_ what: String) throws(WireError) -> Bool {
        let value = try integer(UInt8.self)
        guard value <= 1 else { throw .unknown(what, value) }
        return value == 1
    }
}
