/// A table of the numbers that a recording's processes give to their threads, posts or observers.
struct NumberTable {
    private(set) var elements: [Recording.Numbered] = []
    private var slots = HashSlots()

    /// The index of an element; appends it if it is new.
    mutating func position(of element: Recording.Numbered) -> Int32 {
        // Mixes the bits of the number, of the process and of a random seed (the finalizer of MurmurHash3).
        var key = UInt64(bitPattern: Int64(element.number)) ^ slots.seed
        key = (key ^ (key >> 33)) &* 0xFF51_AFD7_ED55_8CCD &+ UInt64(UInt32(bitPattern: element.process))
        key = (key ^ (key >> 33)) &* 0xC4CE_B9FE_1A85_EC53
        let hash = UInt32(truncatingIfNeeded: key ^ (key >> 33))
        let known = slots.position(hash) { elements[Int($0)] == element }
        if known >= 0 { return known }
        let position = Int32(elements.count)
        slots.insert(hash, at: position)
        elements.append(element)
        return position
    }
}
