/// Reads JSON (RFC 8259), and nothing that only looks like it.
///
/// A number without a point and an exponent is an integer. Null is refused, as no property list has it, and so is a key that
/// is there twice.
struct JSONPropertyListReader {
    private let bytes: [UInt8]
    private var offset: Int
    private var budget = PropertyListBudget()

    static func read(_ bytes: [UInt8], from start: Int) throws(PropertyListReader.Problem) -> PropertyListValue {
        var reader = JSONPropertyListReader(bytes: bytes, offset: start)
        reader.skipSpace()
        let value = try reader.readValue(depth: 1)
        reader.skipSpace()
        guard reader.next == nil else { throw reader.problem("there is more after the end of the JSON value") }
        return value
    }

    private init(bytes: [UInt8], offset: Int) {
        self.bytes = bytes
        self.offset = offset
    }

    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private func problem(_ text: String, at place: Int? = nil) -> PropertyListReader.Problem {
        PropertyListReader.Problem(offset: place ?? offset, text: text)
    }

    private func check(_ text: String?, at place: Int? = nil) throws(PropertyListReader.Problem) {
        if let text { throw problem(text, at: place) }
    }

    private mutating func skipSpace() {
        while let byte = next, byte.isXMLSpace { offset += 1 }
    }

    /// Skips space and this character, if it is next.
    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard let byte = next, byte == character.value else { return false }
        offset += 1
        return true
    }

    private mutating func readValue(depth: Int) throws(PropertyListReader.Problem) -> PropertyListValue {
        skipSpace()
        let start = offset
        switch next {
        case UInt8(ascii: "{"): return .dictionary(try readDictionary(depth: depth))
        case UInt8(ascii: "["): return .array(try readArray(depth: depth))
        case UInt8(ascii: "\""):
            let string = try readString()
            try check(budget.takeValue(bytes: string.utf8.count, isCounted: true), at: start)
            return .string(string)
        case nil: throw problem("it ends where a value should be")
        default: break
        }
        while let byte = next, !byte.isXMLSpace, !",:]}[{\"".utf8.contains(byte) { offset += 1 }
        let word = String(decoding: bytes[start..<offset], as: UTF8.self)
        switch word {
        case "true", "false":
            try check(budget.takeValue(bytes: 0), at: start)
            return .boolean(word == "true")
        case "null":
            throw problem("there is null, which no property list has. Leave the key out, or use \"\"", at: start)
        default:
            try check(budget.takeValue(bytes: 8), at: start)
            return try number(word, at: start)
        }
    }

    private func number(_ word: String, at start: Int) throws(PropertyListReader.Problem) -> PropertyListValue {
        let digits = Array(word.utf8.drop(while: { $0 == UInt8(ascii: "-") }))
        let whole = digits.prefix(while: \.isDigit)
        let isNumber =
            word.utf8.count - digits.count <= 1 && !whole.isEmpty && (whole.first != 0x30 || whole.count == 1)
        guard isNumber, Self.isEndOfNumber(digits[whole.count...]) else {
            throw problem(
                word.isEmpty
                    ? "a value should be here"
                    : "\(PropertyListReader.shown(word)) is no JSON value. Strings are in \"\"",
                at: start)
        }
        if whole.count == digits.count {
            guard let integer = Int64(word) else {
                throw problem(
                    "\(PropertyListReader.shown(word)) is too large: \(PropertyListNumber.integers). Use a string",
                    at: start)
            }
            return .integer(integer)
        }
        guard let real = PropertyListNumber.real(word) else {
            throw problem("\(PropertyListReader.shown(word)) is too large for a real", at: start)
        }
        return .real(real)
    }

    /// Whether it is nothing, or a point with digits, or an exponent, or both.
    private static func isEndOfNumber(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard rest.first?.isDigit == true else { return false }
            rest = rest.drop(while: \.isDigit)
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
            guard rest.first?.isDigit == true else { return false }
            rest = rest.drop(while: \.isDigit)
        }
        return rest.isEmpty
    }

    private mutating func readArray(depth: Int) throws(PropertyListReader.Problem) -> [PropertyListValue] {
        try begin(depth: depth)
        var array: [PropertyListValue] = []
        if skip("]") { return array }
        while true {
            array.append(try readValue(depth: depth + 1))
            if skip("]") { return array }
            guard skip(",") else { throw problem("a comma or ] should be here") }
        }
    }

    private mutating func readDictionary(
        depth: Int
    ) throws(PropertyListReader.Problem) -> [String: PropertyListValue] {
        try begin(depth: depth)
        var dictionary: [String: PropertyListValue] = [:]
        if skip("}") { return dictionary }
        while true {
            skipSpace()
            let start = offset
            guard next == UInt8(ascii: "\"") else {
                throw problem(
                    "a key in \"\" should be here. Property lists of the old form (key = value;) are not read")
            }
            let key = try readString()
            try check(budget.takeKey(bytes: key.utf8.count), at: start)
            guard skip(":") else { throw problem("a colon should be here") }
            guard dictionary.updateValue(try readValue(depth: depth + 1), forKey: key) == nil else {
                throw problem("the key \(PropertyListReader.shown(key)) is there twice", at: start)
            }
            if skip("}") { return dictionary }
            guard skip(",") else { throw problem("a comma or } should be here") }
        }
    }

    private mutating func begin(depth: Int) throws(PropertyListReader.Problem) {
        try check(PropertyListBudget.problem(depth: depth))
        try check(budget.takeValue(bytes: 0, isCounted: true))
        offset += 1
    }

    private mutating func readString() throws(PropertyListReader.Problem) -> String {
        let start = offset
        var text: [UInt8] = []
        offset += 1
        while true {
            guard let byte = next else { throw problem("the string that begins here has no end", at: start) }
            offset += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw problem("the string that begins here is not UTF-8", at: start)
                }
                return string
            case UInt8(ascii: "\\"): try readEscape(into: &text)
            case 0..<0x20:
                throw problem(
                    "a string has a control character or a line's end in it. Write it as \\n or \\u000a", at: offset - 1
                )
            default: text.append(byte)
            }
        }
    }

    private mutating func readEscape(into text: inout [UInt8]) throws(PropertyListReader.Problem) {
        let start = offset - 1
        let escapes: [Unicode.Scalar: UInt8] = [
            "\"": 0x22, "\\": 0x5c, "/": 0x2f, "b": 0x08, "f": 0x0c, "n": 0x0a, "r": 0x0d, "t": 0x09,
        ]
        let byte = next.map(Unicode.Scalar.init)
        offset += 1
        if let byte, let escaped = escapes[byte] {
            text.append(escaped)
            return
        }
        guard byte == "u", let first = readHexadecimal() else {
            throw problem(
                "there is no such escape. Those of JSON are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u0000", at: start)
        }
        var units = [first]
        if UTF16.isLeadSurrogate(first), next == UInt8(ascii: "\\"), offset + 1 < bytes.count,
            bytes[offset + 1] == UInt8(ascii: "u")
        {
            offset += 2
            units += readHexadecimal().map { [$0] } ?? []
        }
        guard let character = String(validating: units, as: UTF16.self) else {
            throw problem("the escape is half a character. Write both halves, or the character itself", at: start)
        }
        text += character.utf8
    }

    private mutating func readHexadecimal() -> UInt16? {
        guard bytes.count - offset >= 4 else { return nil }
        var unit: UInt16 = 0
        for byte in bytes[offset..<(offset + 4)] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        offset += 4
        return unit
    }
}
