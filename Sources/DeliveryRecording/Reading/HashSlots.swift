/// The positions of a table's elements by their hashes: a hash table with open addressing that does not hold the
/// elements.
///
/// It exists because `Dictionary` and its hash function took a fifth of the time of reading a recording.
struct HashSlots {
    private struct Slot {
        var hash: UInt32
        /// -1 in an empty slot.
        var position: Int32
    }

    /// The number of slots is a power of two.
    private var slots = Array(repeating: Slot(hash: 0, position: -1), count: 64)
    private var count = 0
    /// Random, so that no file can be written in which all elements have the same hash.
    let seed = UInt64.random(in: .min ... .max)

    /// The position of the element with a hash for which `isSame` is true; -1 if there is none.
    func position(_ hash: UInt32, where isSame: (Int32) -> Bool) -> Int32 {
        var index = Int(hash) & (slots.count - 1)
        while slots[index].position >= 0 {
            if slots[index].hash == hash, isSame(slots[index].position) { return slots[index].position }
            index = (index + 1) & (slots.count - 1)
        }
        return -1
    }

    mutating func insert(_ hash: UInt32, at position: Int32) {
        if count * 2 >= slots.count {
            let old = slots
            slots = Array(repeating: Slot(hash: 0, position: -1), count: old.count * 2)
            for slot in old where slot.position >= 0 { place(slot) }
        }
        place(Slot(hash: hash, position: position))
        count += 1
    }

    private mutating func place(_ slot: Slot) {
        var index = Int(slot.hash) & (slots.count - 1)
        while slots[index].position >= 0 { index = (index + 1) & (slots.count - 1) }
        slots[index] = slot
    }
}
