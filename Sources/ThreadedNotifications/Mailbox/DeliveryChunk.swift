internal import CLinux

/// Entries of a mailbox, and the objects that they use. A chunk retains the objects until all its entries were
/// delivered, so that the entries need not count references.
struct DeliveryChunk<Entry> {
    static var capacity: Int { 256 }
    /// How many entries after the present one are loaded into the cache.
    static var prefetched: Int { 4 }
    /// The number of empty chunks that are kept for reuse: enough for 32,768 deliveries, in 3 MB.
    static var spareLimit: Int { 128 }

    var entries: [Entry] = []
    private(set) var owners: [AnyObject] = []

    /// A chunk that follows a full one, and will probably become full.
    static var next: DeliveryChunk {
        var chunk = DeliveryChunk()
        chunk.entries.reserveCapacity(capacity)
        return chunk
    }

    /// Begins to load the place of an entry that is used soon, because another thread used it last. A lock waits until
    /// all earlier writes have their memory, which costs more than the rest of a post. There may be no such place.
    @inline(__always)
    mutating func prefetchEntry(at index: Int) {
        entries.withUnsafeMutableBufferPointer { buffer in
            guard let place = buffer.baseAddress.map({ UnsafeRawPointer($0 + index) }) else { return }
            // An entry is in two cache lines, or in three.
            CLinuxPrefetch(place)
            CLinuxPrefetch(place + 64)
        }
    }

    @inline(__always) var isFull: Bool { entries.count >= Self.capacity }

    /// Retains an object until the chunk is emptied.
    mutating func retain(_ object: AnyObject) {
        owners.append(object)
    }

    /// Releases the objects, which may call foreign code, and removes the entries.
    mutating func removeAll() {
        owners.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
    }
}
