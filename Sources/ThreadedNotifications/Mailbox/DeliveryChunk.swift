/// Some of what waits for a thread, and the objects that it is for: they are kept until all of it was delivered, so that not each
/// of them need be counted as a reference.
struct DeliveryChunk<Entry> {
    static var capacity: Int { 128 }
    /// How many empty ones are kept: enough for 4,096 deliveries.
    static var spareLimit: Int { 32 }

    var entries: [Entry] = []
    var kept: [AnyObject] = []

    @inline(__always) var isFull: Bool { entries.count >= Self.capacity }
}
