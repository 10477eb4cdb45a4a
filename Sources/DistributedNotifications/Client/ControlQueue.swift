/// The control frames that the server was not sent yet, in order. An entry that a later one undoes is removed, so the
/// queue is bounded by the registrations, one suspension, and the synchronizations that a thread waits for.
struct ControlQueue {
    enum Entry: Hashable {
        case register(UInt32, name: String?, object: String?, behavior: SuspensionBehavior)
        case unregister(UInt32)
        case suspension(Bool)
        case synchronize(UInt64)
    }

    private(set) var entries: [Entry] = []
    /// The server's state after it has read all entries that were taken.
    private var isSuspended: Bool

    /// - Parameter suspended: what the server was told in the hello.
    init(suspended: Bool = false) {
        isSuspended = suspended
    }

    mutating func register(_ number: UInt32, name: String?, object: String?, behavior: SuspensionBehavior) {
        entries.append(.register(number, name: name, object: object, behavior: behavior))
    }

    mutating func unregister(_ number: UInt32) {
        let index = entries.firstIndex { if case .register(number, _, _, _) = $0 { true } else { false } }
        if let index {
            entries.remove(at: index)
        } else {
            entries.append(.unregister(number))
        }
    }

    mutating func suspend(_ flag: Bool) {
        entries.removeAll { if case .suspension = $0 { true } else { false } }
        if flag != isSuspended { entries.append(.suspension(flag)) }
    }

    mutating func synchronize(_ number: UInt64) {
        entries.append(.synchronize(number))
    }

    /// No thread waits for the answer any more.
    mutating func forget(synchronization number: UInt64) {
        // Most were taken long ago.
        if !entries.isEmpty { entries.removeAll { $0 == .synchronize(number) } }
    }

    /// Gives all of it as frames, and forgets it.
    mutating func take() -> [UInt8] {
        guard !entries.isEmpty else { return [] }
        var writer = FrameWriter()
        for entry in entries {
            if case .suspension(let flag) = entry { isSuspended = flag }
            writer.control(entry)
        }
        entries = []
        return writer.bytes
    }
}

extension FrameWriter {
    fileprivate mutating func control(_ entry: ControlQueue.Entry) {
        switch entry {
        case .register(let number, let name, let object, let behavior):
            frame(.register) {
                $0.integer(number)
                $0.integer(behavior.wireValue)
                $0.integer((name == nil ? 0 : 1) as UInt8 | (object == nil ? 0 : 2))
                if let name { $0.string(name) }
                if let object { $0.string(object) }
            }
        case .unregister(let number): frame(.unregister) { $0.integer(number) }
        case .suspension(let flag): frame(.suspension) { $0.integer(UInt8(flag ? 1 : 0)) }
        case .synchronize(let number): frame(.synchronize) { $0.integer(number) }
        }
    }
}
