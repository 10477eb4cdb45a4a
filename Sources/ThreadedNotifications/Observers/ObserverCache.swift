internal import Foundation

/// The observers that posts on one thread found, so that the next post of the same name needs neither a lock nor a
/// hash.
///
/// An entry is valid while the center's version is the same; the version changes whenever an observer is added or
/// removed, and no two centers ever have the same version. A name is compared by the two words of its string. The entry
/// retains the name, so equal words are the same string.
///
/// Threads: one; it belongs to `ThreadContext`.
/// Removal: an entry may retain removed observers, without their handlers, until this thread posts that
/// name of the same center again, needs the slot for another name, or ends. Therefore the cache keeps no observer that
/// its token does not remove, and limits the number of entries and of observers.
final class ObserverCache {
    fileprivate struct Entry {
        /// Zero: the slot is empty.
        var version: UInt64 = 0
        var words: (UInt64, UInt64) = (0, 0)
        var name: Notification.Name?
        var observers = ObserverSpan()
        /// The number of posts that use the entry now. It stays until they end.
        var users = 0
    }

    /// An entry that a post uses until it calls `giveBack`.
    struct Found {
        fileprivate let entry: UnsafeMutablePointer<Entry>

        var observers: ObserverSpan { entry.pointee.observers }

        @inline(__always)
        func giveBack() {
            entry.pointee.users -= 1
        }
    }

    /// A power of two.
    private static let capacity = 16
    private static let longest = 64

    private let entries: UnsafeMutablePointer<Entry>

    init() {
        entries = .allocate(capacity: Self.capacity)
        entries.initialize(repeating: Entry(), count: Self.capacity)
    }

    deinit {
        removeAll()
        entries.deinitialize(count: Self.capacity)
        entries.deallocate()
    }

    /// - Parameter center: the center's number.
    /// - Returns: nil if the observers must be looked up.
    @inline(__always)
    func find(_ name: Notification.Name, of center: UInt64, version: UInt64) -> Found? {
        let words = Self.words(of: name)
        let entry = entries + Self.slot(of: words, center)
        guard entry.pointee.version == version, entry.pointee.words == words else { return nil }
        entry.pointee.users += 1
        return Found(entry: entry)
    }

    /// Keeps observers that were looked up, if the limits allow it.
    /// - Parameter observers: all observers of the name, whatever object a notification has.
    func keep(_ observers: [Observer?], of name: Notification.Name, of center: UInt64, version: UInt64) {
        let words = Self.words(of: name)
        let entry = entries + Self.slot(of: words, center)
        guard entry.pointee.users == 0, observers.count <= Self.longest,
            observers.allSatisfy({ $0?.isRemovedWithToken ?? true })
        else { return }
        let old = entry.pointee
        entry.pointee = Entry(
            version: version, words: words, name: name, observers: ObserverSpan(retaining: observers))
        // Last, because releasing observers may call foreign code.
        old.observers.release()
    }

    /// Empties the cache when the thread ends: no post that uses an entry continues.
    func removeAll() {
        for slot in 0..<Self.capacity {
            let old = entries[slot]
            entries[slot] = Entry()
            old.observers.release()
        }
    }

    @inline(__always)
    private static func slot(of words: (UInt64, UInt64), _ center: UInt64) -> Int {
        Int(((words.0 ^ words.1 &* 31 &+ center) &* 0x9E37_79B9_7F4A_7C15) >> 60)
    }

    // Safety: a name is a string, and a string is two words: its first bytes, or their address.
    @inline(__always)
    private static func words(of name: Notification.Name) -> (UInt64, UInt64) {
        unsafeBitCast(name, to: (UInt64, UInt64).self)
    }
}
