/// Entries of a mailbox, and the objects that they use. A chunk retains the objects until all its entries were
/// delivered, so that the entries need not count references.
struct DeliveryChunk<Entry> {
    static var capacity: Int { 256 }
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
