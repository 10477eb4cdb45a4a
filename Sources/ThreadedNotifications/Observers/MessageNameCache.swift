internal import Foundation

/// The names of the message types that one thread posted, so that the next post of the same type needs no lock.
///
/// Threads: one; it belongs to `ThreadContext`.
final class MessageNameCache {
    private struct Entry {
        let type: ObjectIdentifier
        let name: Unmanaged<MessageName>
    }

    /// A power of two.
    private static let capacity = 16

    private let entries: UnsafeMutablePointer<Entry?>

    init() {
        entries = .allocate(capacity: Self.capacity)
        entries.initialize(repeating: nil, count: Self.capacity)
    }

    deinit {
        entries.deinitialize(count: Self.capacity)
        entries.deallocate()
    }

    /// The name of a message type. It is never released.
    @inline(__always)
    func name(of type: any Any.Type) -> Unmanaged<MessageName> {
        let identifier = ObjectIdentifier(type)
        let entry = entries + Self.slot(of: identifier)
        if let known = entry.pointee, known.type == identifier { return known.name }
        return look(up: type, into: entry)
    }

    @inline(never)
    private func look(up type: any Any.Type, into entry: UnsafeMutablePointer<Entry?>) -> Unmanaged<MessageName> {
        let name = Unmanaged.passUnretained(MessageName.of(type))
        entry.pointee = Entry(type: ObjectIdentifier(type), name: name)
        return name
    }

    @inline(__always)
    private static func slot(of type: ObjectIdentifier) -> Int {
        Int((UInt64(UInt(bitPattern: type)) &* 0x9E37_79B9_7F4A_7C15) >> 60)
    }
}
