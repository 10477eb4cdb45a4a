internal import Foundation

/// What posts on one thread found, so that the next post of the same name need take no lock and hash no string. Only that
/// thread touches it.
///
/// What was found is found again while the center's version is the same: it changes with every observer that is added or removed.
/// Versions are of no other center, and never come again. A name is known by the bits of its string, which is retained
/// here: bits that are the same while their storage lives are the same string.
///
/// What is kept here may outlive its registration: it keeps observers that were removed, whose handlers are gone, until this thread posts
/// that name of the same center again, or another name that comes to its place, or ends. So none is kept whose token does not remove it, and only so many.
final class ObserverLookups {
    fileprivate struct Entry {
        /// Zero: nothing was found.
        var version: UInt64 = 0
        var bits: (UInt64, UInt64) = (0, 0)
        var name: Notification.Name?
        var observers = FoundObservers()
        /// How many posts go through them at the moment. Then they stay.
        var users = 0
    }

    /// A place where something is found; used by one post until it returns it.
    struct Place {
        fileprivate let entry: UnsafeMutablePointer<Entry>

        var observers: FoundObservers { entry.pointee.observers }

        @inline(__always)
        func giveBack() {
            entry.pointee.users -= 1
        }
    }

    /// A power of two.
    private static let capacity = 16
    /// How many observers of a name are kept at most.
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

    /// - Parameter center: its number.
    /// - Returns: where the observers are; nil if they are to be looked up.
    @inline(__always)
    func find(_ name: Notification.Name, of center: UInt64, version: UInt64) -> Place? {
        let bits = Self.bits(of: name)
        let entry = entries + Self.index(of: bits, center)
        guard entry.pointee.version == version, entry.pointee.bits == bits else { return nil }
        entry.pointee.users += 1
        return Place(entry: entry)
    }

    /// Notes what was looked up, if it may be kept.
    /// - Parameter observers: those who get any notification of this name, whatever its object.
    func keep(_ observers: [Registration?], of name: Notification.Name, of center: UInt64, version: UInt64) {
        let bits = Self.bits(of: name)
        let entry = entries + Self.index(of: bits, center)
        guard entry.pointee.users == 0, observers.count <= Self.longest,
            observers.allSatisfy({ $0?.isKeptByToken ?? true })
        else { return }
        let before = entry.pointee
        entry.pointee = Entry(
            version: version, bits: bits, name: name, observers: FoundObservers(retaining: observers))
        // Last, for to let go of observers is to call foreign code.
        before.observers.release()
    }

    /// The thread ends: of posts that are under way none goes on.
    func removeAll() {
        for index in 0..<Self.capacity {
            let before = entries[index]
            entries[index] = Entry()
            before.observers.release()
        }
    }

    @inline(__always)
    private static func index(of bits: (UInt64, UInt64), _ center: UInt64) -> Int {
        Int(((bits.0 ^ bits.1 &* 31 &+ center) &* 0x9E37_79B9_7F4A_7C15) >> 60)
    }

    // Safety: a name is a string, and a string is two words: its first bytes, or where they are.
    @inline(__always)
    private static func bits(of name: Notification.Name) -> (UInt64, UInt64) {
        unsafeBitCast(name, to: (UInt64, UInt64).self)
    }
}

/// Observers that a notification is for, in the order in which they were added. It does not retain them.
struct FoundObservers {
    fileprivate(set) var start: UnsafeMutablePointer<Unmanaged<Registration>>?
    fileprivate(set) var count = 0

    /// Calls `body` with those of a list that are there still.
    static func with<Result>(_ observers: [Registration?], _ body: (FoundObservers) -> Result) -> Result {
        withExtendedLifetime(observers) {
            withUnsafeTemporaryAllocation(of: Unmanaged<Registration>.self, capacity: observers.count) { memory in
                var found = FoundObservers()
                found.start = memory.baseAddress
                for case let observer? in observers {
                    memory.initializeElement(at: found.count, to: .passUnretained(observer))
                    found.count += 1
                }
                return body(found)
            }
        }
    }

    fileprivate init() {}

    /// Retained until `release`.
    fileprivate init(retaining observers: [Registration?]) {
        guard !observers.isEmpty else { return }
        let start = UnsafeMutablePointer<Unmanaged<Registration>>.allocate(capacity: observers.count)
        for case let observer? in observers {
            (start + count).initialize(to: .passRetained(observer))
            count += 1
        }
        self.start = start
    }

    fileprivate func release() {
        for index in 0..<count { start?[index].release() }
        start?.deallocate()
    }

    /// Calls `body` with each, and does not retain it meanwhile: whoever found them does.
    @inline(__always)
    func each(_ body: (Registration) -> Void) {
        guard let start else { return }
        for index in 0..<count { start[index]._withUnsafeGuaranteedRef { body($0) } }
    }

}
