/// A table of distinct texts that is searched by their bytes.
struct TextTable {
    private(set) var strings: [String] = []
    /// The bytes of all texts, in order.
    private var bytes: [UInt8] = []
    private var starts: [Int] = [0]
    private var slots = HashSlots()

    /// The texts have the positions that they have in `texts`.
    init(_ texts: [String] = []) {
        for text in texts { _ = position(of: text) }
    }

    /// The index of a text in `strings`; appends it if it is new.
    mutating func position(of text: UnsafeBufferPointer<UInt8>) -> Int32 {
        let hash = hash(text)
        let known = slots.position(hash) { isSame(text, Int($0)) }
        if known >= 0 { return known }
        let position = Int32(strings.count)
        slots.insert(hash, at: position)
        strings.append(String(decoding: text, as: UTF8.self))
        bytes.append(contentsOf: text)
        starts.append(bytes.count)
        return position
    }

    mutating func position(of string: String) -> Int32 {
        var string = string
        return string.withUTF8 { position(of: $0) }
    }

    /// The index of a text in `strings`; nil if it is not there.
    func knownPosition(of text: UnsafeBufferPointer<UInt8>) -> Int? {
        let known = slots.position(hash(text)) { isSame(text, Int($0)) }
        return known < 0 ? nil : Int(known)
    }

    private func isSame(_ text: UnsafeBufferPointer<UInt8>, _ position: Int) -> Bool {
        let (start, end) = (starts[position], starts[position + 1])
        guard end - start == text.count else { return false }
        for index in 0..<text.count where bytes[start + index] != text[index] { return false }
        return true
    }

    /// FNV-1a, with its upper bits mixed in.
    private func hash(_ text: UnsafeBufferPointer<UInt8>) -> UInt32 {
        var hash = slots.seed
        for byte in text { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return UInt32(truncatingIfNeeded: hash ^ (hash >> 29))
    }
}
