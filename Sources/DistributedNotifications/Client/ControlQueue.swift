/// The control frames that the server was not sent yet, in order.
///
/// An entry that a later one cancels is removed, so the queue is bounded by the number of observers, one suspension,
/// and the threads that wait in `synchronize`.
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

    /// - Parameter suspended: as the hello told the server.
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

    /// Removes a synchronization that no thread waits for. Usually it was taken long before.
    mutating func cancelSynchronization(_ number: UInt64) {
        if !entries.isEmpty { entries.removeAll { $0 == .synchronize(number) } }
    }

    /// Empties the queue.
    ///
    /// - Returns: all entries as frames.
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
