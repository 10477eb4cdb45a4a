/// Some of what waits for a thread, and the objects that it is for: they are kept until all of it was delivered, so that not each
/// of them need be counted as a reference.
struct DeliveryChunk<Entry> {
    static var capacity: Int { 256 }
    /// How many empty ones are kept at most: enough for 32,768 deliveries, in 3 MB.
    static var spareLimit: Int { 128 }

    var entries: [Entry] = []
    var kept: [AnyObject] = []

    /// One that follows a full one, and will be full too.
    static var next: DeliveryChunk {
        var chunk = DeliveryChunk()
        chunk.entries.reserveCapacity(capacity)
        return chunk
    }

    @inline(__always) var isFull: Bool { entries.count >= Self.capacity }
}
