internal import Foundation
internal import Glibc
internal import ThreadedNotifications

/// The name of a notification, and the observers that it is for. The next notification usually has the same, and then
/// needs no lookup.
struct Recipients {
    private(set) var name = Notification.Name("")
    private(set) var observers: [ValueObservers.Handle] = []
    /// As in the frame.
    private var nameBytes: [UInt8] = []
    private var numbers: [UInt8] = []
    /// The state's when the observers were looked up.
    private var version = -1

    mutating func update(for post: InboundPost, _ state: Locked<CenterState>) {
        if !Self.isEqual(nameBytes, post.payload.name) {
            nameBytes = Array(post.payload.name)
            name = Notification.Name(String(decoding: nameBytes, as: UTF8.self))
        }
        let areSame = Self.isEqual(numbers, post.numbers)
        let found: [ValueObservers.Handle]? = state.withLock { state in
            if areSame, version == state.observersVersion { return nil }
            version = state.observersVersion
            return post.observerNumbers.compactMap { state.observers[$0]?.handle }
        }
        guard let found else { return }
        observers = found
        numbers = Array(post.numbers)
    }

    private static func isEqual(_ array: [UInt8], _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard array.count == bytes.count else { return false }
        guard let start = bytes.baseAddress else { return true }
        return memcmp(array, start, array.count) == 0
    }
}
