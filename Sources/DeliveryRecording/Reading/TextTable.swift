/// A table of distinct texts that is searched by their bytes, so that a text that is known is not made again.
struct TextTable {
    private(set) var strings: [String] = []
    /// By hash, or the next free number after it.
    private var positions: [UInt64: Int32] = [:]
    /// Random, so that no file can be written in which all texts have the same hash.
    private let seed = UInt64.random(in: .min ... .max)

    /// The index of a text in `strings`; appends it if it is new.
    mutating func position(of text: UnsafeBufferPointer<UInt8>) -> Int32 {
        // FNV-1a.
        var hash = seed
        for byte in text { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        while let position = positions[hash] {
            if strings[Int(position)].utf8.elementsEqual(text) { return position }
            hash &+= 1
        }
        positions[hash] = Int32(strings.count)
        strings.append(String(decoding: text, as: UTF8.self))
        return Int32(strings.count - 1)
    }

    mutating func position(of string: String) -> Int32 {
        var string = string
        return string.withUTF8 { position(of: $0) }
    }
}
