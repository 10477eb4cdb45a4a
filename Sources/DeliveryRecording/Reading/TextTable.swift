/// A table of distinct texts that is searched by their bytes.
struct TextTable {
    private(set) var strings: [String] = []
    /// The bytes of all texts, in order.
    private var bytes: [UInt8] = []
    private var starts: [Int] = [0]
    /// Random, so that no file can be written whose texts all have the same hash.
    private let seed = UInt64.random(in: .min ... .max)
    /// Indices of `strings`, or -1. The number of slots is a power of two.
    private var slots: [Int32] = Array(repeating: -1, count: 64)

    /// The index of a text in `strings`; appends it if it is new.
    mutating func place(of text: UnsafeBufferPointer<UInt8>) -> Int32 {
        var slot = hash(text) & (slots.count - 1)
        while slots[slot] >= 0 {
            let place = Int(slots[slot])
            if isSame(text, place) { return Int32(place) }
            slot = (slot + 1) & (slots.count - 1)
        }
        let place = Int32(strings.count)
        slots[slot] = place
        strings.append(String(decoding: text, as: UTF8.self))
        bytes.append(contentsOf: text)
        starts.append(bytes.count)
        if strings.count * 2 > slots.count { grow() }
        return place
    }

    mutating func place(of string: String) -> Int32 {
        var string = string
        return string.withUTF8 { place(of: $0) }
    }

    private func isSame(_ text: UnsafeBufferPointer<UInt8>, _ place: Int) -> Bool {
        let (start, end) = (starts[place], starts[place + 1])
        guard end - start == text.count else { return false }
        for index in 0..<text.count where bytes[start + index] != text[index] { return false }
        return true
    }

    private mutating func grow() {
        slots = Array(repeating: -1, count: slots.count * 2)
        bytes.withUnsafeBufferPointer { bytes in
            for place in strings.indices {
                let text = UnsafeBufferPointer(rebasing: bytes[starts[place]..<starts[place + 1]])
                var slot = hash(text) & (slots.count - 1)
                while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
                slots[slot] = Int32(place)
            }
        }
    }

    /// FNV-1a, with its upper bits mixed in.
    private func hash(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        var hash = seed
        for byte in text { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return Int(truncatingIfNeeded: (hash ^ (hash >> 29)) & 0x7FFF_FFFF_FFFF_FFFF)
    }
}
