import DistributedNotifications
import Foundation

/// Reads JSON as a property list: 3 is an integer and 3.0 a real. Duplicate keys, null, and numbers beyond 64 bits are
/// refused.
struct UserInfoJSON {
    private let bytes: [UInt8]
    private var position = 0
    private var depth = 1

    static func value(of text: String) throws(UserInfoJSONError) -> PropertyListValue {
        var reader = UserInfoJSON(bytes: Array(text.utf8))
        let value = try reader.value()
        reader.skipBlanks()
        guard reader.position == reader.bytes.count else { throw reader.unexpected() }
        return value
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private mutating func value() throws(UserInfoJSONError) -> PropertyListValue {
        skipBlanks()
        switch next {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "{"): return .dictionary(try dictionary())
        case let byte? where byte == UInt8(ascii: "-") || Self.isDigit(byte): return try number()
        default:
            if take("true") { return .boolean(true) }
            if take("false") { return .boolean(false) }
            if take("null") {
                throw UserInfoJSONError(problem: "is or contains null, which a property list cannot contain")
            }
            throw unexpected()
        }
    }

    private mutating func array() throws(UserInfoJSONError) -> [PropertyListValue] {
        try enter()
        var values: [PropertyListValue] = []
        if takeAfterBlanks("]") {
            depth -= 1
            return values
        }
        repeat { values.append(try value()) } while takeAfterBlanks(",")
        try leave("]")
        return values
    }

    private mutating func dictionary() throws(UserInfoJSONError) -> [String: PropertyListValue] {
        try enter()
        var values: [String: PropertyListValue] = [:]
        if takeAfterBlanks("}") {
            depth -= 1
            return values
        }
        repeat {
            skipBlanks()
            guard next == UInt8(ascii: "\"") else { throw unexpected() }
            let key = try string()
            guard takeAfterBlanks(":") else { throw unexpected() }
            guard values.updateValue(try value(), forKey: key) == nil else {
                throw UserInfoJSONError(problem: "contains the key \"\(key)\" twice")
            }
        } while takeAfterBlanks(",")
        try leave("}")
        return values
    }

    private mutating func enter() throws(UserInfoJSONError) {
        position += 1
        depth += 1
        guard depth <= PropertyListLimits.depth else {
            throw UserInfoJSONError(problem: "is nested deeper than \(PropertyListLimits.depth) levels")
        }
    }

    private mutating func leave(_ bracket: String) throws(UserInfoJSONError) {
        guard takeAfterBlanks(bracket) else { throw unexpected() }
        depth -= 1
    }

    private mutating func string() throws(UserInfoJSONError) -> String {
        let start = position
        position += 1
        while let byte = next, byte != UInt8(ascii: "\"") { position += byte == UInt8(ascii: "\\") ? 2 : 1 }
        guard next != nil else { throw UserInfoJSONError(problem: "contains a string without an end") }
        position += 1
        guard let text = try? JSONDecoder().decode(String.self, from: Data(bytes[start..<position])) else {
            throw UserInfoJSONError(problem: "contains a string that is not JSON, at byte \(start + 1)")
        }
        return text
    }

    private mutating func number() throws(UserInfoJSONError) -> PropertyListValue {
        let start = position
        while let byte = next, Self.isOfNumber(byte) { position += 1 }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        guard let match = text.wholeMatch(of: /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/) else {
            throw UserInfoJSONError(problem: "contains \(text), which is not a JSON number")
        }
        if match.1 == nil, match.2 == nil {
            guard let number = Int64(text) else {
                throw UserInfoJSONError(problem: "contains \(text), which exceeds an integer of 64 bits")
            }
            return .integer(number)
        }
        guard let number = Double(text), number.isFinite else {
            throw UserInfoJSONError(problem: "contains \(text), which exceeds a real of 64 bits")
        }
        return .real(number)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isOfNumber(_ byte: UInt8) -> Bool { isDigit(byte) || "-+.eE".utf8.contains(byte) }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
    }

    private mutating func take(_ word: String) -> Bool {
        guard bytes[position...].starts(with: word.utf8) else { return false }
        position += word.utf8.count
        return true
    }

    private mutating func takeAfterBlanks(_ word: String) -> Bool {
        skipBlanks()
        return take(word)
    }

    private func unexpected() -> UserInfoJSONError {
        guard position < bytes.count else { return UserInfoJSONError(problem: "is JSON that ends too early") }
        return UserInfoJSONError(problem: "is not JSON at byte \(position + 1)")
    }
}

/// Why a text is refused, as words that follow its description.
struct UserInfoJSONError: Error, Hashable {
    var problem: String
}
