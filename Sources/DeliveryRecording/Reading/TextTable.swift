/// A table of distinct texts that is searched by their bytes: a hash table with open addressing.
///
/// It exists because `Dictionary`, its hash function and a `String` for each text took a fifth of the time of reading a
/// recording.
struct TextTable {
    private(set) var strings: [String] = []
    /// The bytes of all texts, in order.
    private var bytes: [UInt8] = []
    private var starts: [Int] = [0]
    /// Positions in `strings` with the hashes of their texts; -1 in an empty slot. Their number is a power of two.
    private var slots = Array(repeating: (hash: UInt32(0), position: Int32(-1)), count: 64)
    /// Random, so that no file can be written in which all texts have the same hash.
    private let seed = UInt64.random(in: .min ... .max)

    /// The index of a text in `strings`; appends it if it is new.
    mutating func position(of text: UnsafeBufferPointer<UInt8>) -> Int32 {
        // FNV-1a, with its upper bits mixed in.
        var mixed = seed
        for byte in text { mixed = (mixed ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let hash = UInt32(truncatingIfNeeded: mixed ^ (mixed >> 29))
        let slot = slot(hash) { isSame(text, Int($0)) }
        if slots[slot].position >= 0 { return slots[slot].position }
        let position = Int32(strings.count)
        slots[slot] = (hash, position)
        strings.append(String(decoding: text, as: UTF8.self))
        bytes.append(contentsOf: text)
        starts.append(bytes.count)
        if strings.count * 2 >= slots.count {
            let old = slots
            slots = Array(repeating: (0, -1), count: old.count * 2)
            for element in old where element.position >= 0 { slots[self.slot(element.hash) { _ in false }] = element }
        }
        return position
    }

    mutating func position(of string: String) -> Int32 {
        var string = string
        return string.withUTF8 { position(of: $0) }
    }

    /// The slot of a text with a hash, or the empty one where it belongs.
    private func slot(_ hash: UInt32, where isSame: (Int32) -> Bool) -> Int {
        var slot = Int(hash) & (slots.count - 1)
        while slots[slot].position >= 0, slots[slot].hash != hash || !isSame(slots[slot].position) {
            slot = (slot + 1) & (slots.count - 1)
        }
        return slot
    }

    private func isSame(_ text: UnsafeBufferPointer<UInt8>, _ position: Int) -> Bool {
        let (start, end) = (starts[position], starts[position + 1])
        guard end - start == text.count else { return false }
        for index in 0..<text.count where bytes[start + index] != text[index] { return false }
        return true
    }
}
