internal import Foundation

/// Reads Apple's binary property lists, "bplist00".
///
/// At the end are 32 bytes that say where the table of objects is, and how wide its numbers are. Objects name their members by
/// number, so one may be the member of many, or of itself: each is counted as often as it is named.
struct BinaryPropertyListReader {
    static let magic = Array("bplist".utf8)

    private typealias Problem = PropertyListReader.Problem

    private let bytes: [UInt8]
    /// Where the table begins, and so the objects end.
    private let table: Int
    private let count: Int
    private let offsetWidth: Int
    private let numberWidth: Int
    private var budget = PropertyListBudget()

    static func read(_ bytes: [UInt8]) throws(PropertyListReader.Problem) -> PropertyListValue {
        guard bytes.count >= 8 + 1 + 1 + 32 else { throw Problem(offset: bytes.count, text: "the file ends too early") }
        guard bytes[6] == UInt8(ascii: "0"), bytes[7] == UInt8(ascii: "0") else {
            throw Problem(offset: 6, text: "only version 00 is read. 'plutil -convert xml1' converts others")
        }
        let trailer = bytes.count - 32
        let (offsetWidth, numberWidth) = (Int(bytes[trailer + 6]), Int(bytes[trailer + 7]))
        let numbers = (1...3).compactMap { Int(exactly: integer(bytes, at: trailer + 8 * $0, width: 8)) }
        guard (1...8).contains(offsetWidth), (1...8).contains(numberWidth), numbers.count == 3,
            case (let count, let top, let table) = (numbers[0], numbers[1], numbers[2]), table > 8, table < trailer,
            top < count,
            count <= trailer, table + count * offsetWidth == trailer
        else { throw Problem(offset: trailer, text: "the last 32 bytes do not tell where the objects are") }
        var reader = BinaryPropertyListReader(
            bytes: bytes, table: table, count: count, offsetWidth: offsetWidth, numberWidth: numberWidth)
        return try reader.readValue(top, depth: 1, named: trailer + 16)
    }

    private init(bytes: [UInt8], table: Int, count: Int, offsetWidth: Int, numberWidth: Int) {
        self.bytes = bytes
        self.table = table
        self.count = count
        self.offsetWidth = offsetWidth
        self.numberWidth = numberWidth
    }

    /// Big-endian; the caller has seen to it that the bytes are there.
    private static func integer(_ bytes: [UInt8], at offset: Int, width: Int) -> UInt64 {
        bytes[offset..<(offset + width)].reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func check(_ text: String?, at offset: Int) throws(PropertyListReader.Problem) {
        if let text { throw Problem(offset: offset, text: text) }
    }

    /// Where an object begins.
    ///
    /// - Parameter place: where it is named.
    private func offset(of object: Int, named place: Int) throws(PropertyListReader.Problem) -> Int {
        guard object < count,
            let offset = Int(exactly: Self.integer(bytes, at: table + object * offsetWidth, width: offsetWidth)),
            offset >= 8, offset < table
        else { throw Problem(offset: place, text: "an object is named that is not there") }
        return offset
    }

    private mutating func readValue(
        _ object: Int, depth: Int, named place: Int
    ) throws(PropertyListReader.Problem) -> PropertyListValue {
        let offset = try offset(of: object, named: place)
        switch bytes[offset] {
        case 0x08, 0x09:
            try check(budget.takeValue(bytes: 0), at: offset)
            return .boolean(bytes[offset] == 0x09)
        case 0x10...0x14:
            try check(budget.takeValue(bytes: 8), at: offset)
            return .integer(try readInteger(at: offset))
        case 0x22, 0x23, 0x33:
            try check(budget.takeValue(bytes: 8), at: offset)
            return try readReal(at: offset)
        case 0x40...0x4f:
            let content = try readContent(at: offset, width: 1)
            try check(budget.takeValue(bytes: content.count, isCounted: true), at: offset)
            return .data(Data(bytes[content]))
        case 0x50...0x6f:
            let string = try readString(at: offset)
            try check(budget.takeValue(bytes: string.utf8.count, isCounted: true), at: offset)
            return .string(string)
        case 0xa0...0xaf:
            return .array(try readArray(at: offset, depth: depth))
        case 0xd0...0xdf:
            return .dictionary(try readDictionary(at: offset, depth: depth))
        default:
            throw Problem(offset: offset, text: Self.refusal(of: bytes[offset]))
        }
    }

    private static func refusal(of marker: UInt8) -> String {
        switch marker {
        case 0x00: "there is null, which no userInfo has. Leave the key out"
        case 0x80...0x8f: "there is a reference of a keyed archive, which no userInfo has. Post a property list instead"
        case 0xb0...0xcf: "there is a set, which no userInfo has. Use an array"
        default: "no object begins with 0x\(String(marker, radix: 16))"
        }
    }

    private func readInteger(at offset: Int) throws(PropertyListReader.Problem) -> Int64 {
        let width = 1 << Int(bytes[offset] & 0x0f)
        guard table - offset > width else { throw Problem(offset: offset, text: "an integer ends too late") }
        guard width == 16 else {
            // 8 bytes have a sign, and fewer have none.
            return Int64(bitPattern: Self.integer(bytes, at: offset + 1, width: width))
        }
        let high = Int64(bitPattern: Self.integer(bytes, at: offset + 1, width: 8))
        let low = Int64(bitPattern: Self.integer(bytes, at: offset + 9, width: 8))
        guard high == (low < 0 ? -1 : 0) else {
            throw Problem(offset: offset, text: "an integer is too large: \(PropertyListNumber.integers). Use a string")
        }
        return low
    }

    private func readReal(at offset: Int) throws(PropertyListReader.Problem) -> PropertyListValue {
        let width = bytes[offset] == 0x22 ? 4 : 8
        guard table - offset > width else { throw Problem(offset: offset, text: "a real or a date ends too late") }
        let bits = Self.integer(bytes, at: offset + 1, width: width)
        let real = width == 4 ? Double(Float(bitPattern: UInt32(bits))) : Double(bitPattern: bits)
        guard bytes[offset] == 0x33 else { return .real(real) }
        guard PropertyListLimits.dates.contains(real) else {
            throw Problem(offset: offset, text: "a date is outside the years 1 to 9999")
        }
        return .date(Date(timeIntervalSinceReferenceDate: real))
    }

    /// Where the content of an object is.
    ///
    /// - Parameter width: how many bytes each of what it counts takes.
    private func readContent(at offset: Int, width: Int) throws(PropertyListReader.Problem) -> Range<Int> {
        var (start, count) = (offset + 1, Int(bytes[offset] & 0x0f))
        if count == 15 {
            // The count is an integer that follows.
            guard start < table, (0x10...0x13).contains(bytes[start]),
                case let countWidth = 1 << Int(bytes[start] & 0x0f), table - start > countWidth,
                let long = Int(exactly: Self.integer(bytes, at: start + 1, width: countWidth))
            else { throw Problem(offset: offset, text: "an object does not tell its length") }
            (start, count) = (start + 1 + countWidth, long)
        }
        guard count <= (table - start) / width else {
            throw Problem(offset: offset, text: "an object has more than there is")
        }
        return start..<(start + count * width)
    }

    private func readString(at offset: Int) throws(PropertyListReader.Problem) -> String {
        let isASCII = bytes[offset] < 0x60
        let content = try readContent(at: offset, width: isASCII ? 1 : 2)
        // No string is made that would be refused: a file could name it as often as there are values.
        guard content.count <= 2 * PropertyListLimits.bytes else {
            throw Problem(offset: offset, text: "a string is longer than a userInfo may be")
        }
        let string =
            isASCII
            ? String(validating: bytes[content], as: Unicode.ASCII.self)
            : String(
                validating: stride(from: content.lowerBound, to: content.upperBound, by: 2).map { place in
                    UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1])
                }, as: UTF16.self)
        guard let string else {
            throw Problem(offset: offset, text: isASCII ? "a string is not ASCII" : "a string is not UTF-16")
        }
        return string
    }

    private mutating func readArray(
        at offset: Int, depth: Int
    ) throws(PropertyListReader.Problem) -> [PropertyListValue] {
        let content = try begin(at: offset, depth: depth, width: numberWidth)
        var array: [PropertyListValue] = []
        for place in stride(from: content.lowerBound, to: content.upperBound, by: numberWidth) {
            array.append(try readValue(try number(at: place), depth: depth + 1, named: place))
        }
        return array
    }

    private mutating func readDictionary(
        at offset: Int, depth: Int
    ) throws(PropertyListReader.Problem) -> [String: PropertyListValue] {
        // All keys, then all values.
        let content = try begin(at: offset, depth: depth, width: 2 * numberWidth)
        var dictionary: [String: PropertyListValue] = [:]
        for place in stride(from: content.lowerBound, to: content.lowerBound + content.count / 2, by: numberWidth) {
            let keyOffset = try self.offset(of: try number(at: place), named: place)
            guard (0x50...0x6f).contains(bytes[keyOffset]) else {
                throw Problem(offset: keyOffset, text: "a key is no string")
            }
            let key = try readString(at: keyOffset)
            try check(budget.takeKey(bytes: key.utf8.count), at: keyOffset)
            let value = place + content.count / 2
            guard
                dictionary.updateValue(
                    try readValue(try number(at: value), depth: depth + 1, named: value), forKey: key) == nil
            else {
                throw Problem(offset: keyOffset, text: "the key \(PropertyListReader.shown(key)) is there twice")
            }
        }
        return dictionary
    }

    private mutating func begin(
        at offset: Int, depth: Int, width: Int
    ) throws(PropertyListReader.Problem) -> Range<Int> {
        try check(PropertyListBudget.problem(depth: depth), at: offset)
        try check(budget.takeValue(bytes: 0, isCounted: true), at: offset)
        return try readContent(at: offset, width: width)
    }

    /// The number of the object that is named here.
    private func number(at place: Int) throws(PropertyListReader.Problem) -> Int {
        guard let number = Int(exactly: Self.integer(bytes, at: place, width: numberWidth)) else {
            throw Problem(offset: place, text: "an object is named that is not there")
        }
        return number
    }
}
