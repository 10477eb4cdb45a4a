/// A table of the numbers that a recording's processes give to their threads, posts or observers.
struct NumberTable {
    private(set) var elements: [Recording.Numbered] = []
    private var slots = HashSlots()

    /// The index of an element; appends it if it is new.
    mutating func position(of element: Recording.Numbered) -> Int32 {
        let key = UInt64(bitPattern: Int64(element.number)) ^ UInt64(UInt32(bitPattern: element.process)) << 48
        // The upper bits of a product with a random odd number are distributed evenly for any keys.
        let hash = UInt32(truncatingIfNeeded: (key &* (slots.seed | 1)) >> 32)
        let known = slots.position(hash) { elements[Int($0)] == element }
        if known >= 0 { return known }
        let position = Int32(elements.count)
        slots.insert(hash, at: position)
        elements.append(element)
        return position
    }
}
