public import Foundation

/// A value of a property list: what a distributed notification's userInfo may hold.
///
///     try center.post(name: .saved, userInfo: ["path": "/tmp/a", "sizes": [1, 2.5], "isFinal": true])
///
/// A userInfo may be 60 KiB on the wire, 16,384 values, and 64 arrays and dictionaries in each other. Integers, reals and
/// booleans stay what they are. A real may be infinite or not a number. A date is of the years 1 to 9999.
public enum PropertyListValue: Sendable, Hashable {
    case string(String)
    case integer(Int64)
    case real(Double)
    case boolean(Bool)
    case date(Date)
    case data(Data)
    case array([PropertyListValue])
    case dictionary([String: PropertyListValue])
}

extension PropertyListValue {
    /// The string, if it is one.
    public var stringValue: String? { if case .string(let string) = self { string } else { nil } }

    /// The integer, if it is one.
    public var integerValue: Int? { if case .integer(let integer) = self { Int(integer) } else { nil } }

    /// The real, or the integer as a real if that is the same number.
    public var realValue: Double? {
        switch self {
        case .real(let real): real
        case .integer(let integer): Double(exactly: integer)
        default: nil
        }
    }

    /// The boolean, if it is one. A number is none.
    public var booleanValue: Bool? { if case .boolean(let boolean) = self { boolean } else { nil } }

    /// The date, if it is one.
    public var dateValue: Date? { if case .date(let date) = self { date } else { nil } }

    /// The data, if it is some.
    public var dataValue: Data? { if case .data(let data) = self { data } else { nil } }

    /// The array, if it is one.
    public var arrayValue: [PropertyListValue]? { if case .array(let array) = self { array } else { nil } }

    /// The dictionary, if it is one.
    public var dictionaryValue: [String: PropertyListValue]? {
        if case .dictionary(let dictionary) = self { dictionary } else { nil }
    }

    /// What a dictionary has under the key; nil if it has nothing, and for a value that is no dictionary.
    public subscript(key: String) -> PropertyListValue? { dictionaryValue?[key] }

    /// A member of an array; nil if it has no such, and for a value that is no array.
    public subscript(index: Int) -> PropertyListValue? {
        guard let arrayValue, arrayValue.indices.contains(index) else { return nil }
        return arrayValue[index]
    }
}

extension PropertyListValue: CustomStringConvertible {
    /// On one line, much as it would be written in Swift, with the keys in order:
    /// `["isFinal": true, "path": "/tmp/a", "when": 2016-02-13T22:05:12Z]`. Of data, the first 16 bytes.
    public var description: String {
        switch self {
        case .string(let string): return string.debugDescription
        case .integer(let integer): return "\(integer)"
        case .real(let real): return "\(real)"
        case .boolean(let boolean): return "\(boolean)"
        case .date(let date): return PropertyListDate.text(date)
        case .data(let data):
            let digits = data.prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            return data.count <= 16 ? "<\(digits)>" : "<\(digits)…, \(data.count) bytes>"
        case .array(let array):
            return "[\(array.map(\.description).joined(separator: ", "))]"
        case .dictionary(let dictionary) where dictionary.isEmpty:
            return "[:]"
        case .dictionary(let dictionary):
            let members = dictionary.sorted { $0.key < $1.key }.map { "\($0.debugDescription): \($1)" }
            return "[\(members.joined(separator: ", "))]"
        }
    }
}

extension PropertyListValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }

    public init(integerLiteral value: Int64) { self = .integer(value) }

    public init(floatLiteral value: Double) { self = .real(value) }

    public init(booleanLiteral value: Bool) { self = .boolean(value) }

    public init(arrayLiteral elements: PropertyListValue...) { self = .array(elements) }

    /// A key that is there twice ends the program, as in any dictionary literal.
    public init(dictionaryLiteral elements: (String, PropertyListValue)...) {
        self = .dictionary(Dictionary(uniqueKeysWithValues: elements))
    }
}

extension PropertyListValue: Encodable {
    /// For JSON, which has less: a date is a string such as `2016-02-13T22:05:12Z`, data is base64, and a real that JSON has no
    /// number for is "nan", "inf" or "-inf".
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let string): try container.encode(string)
        case .integer(let integer): try container.encode(integer)
        case .real(let real) where !real.isFinite: try container.encode("\(real)")
        case .real(let real): try container.encode(real)
        case .boolean(let boolean): try container.encode(boolean)
        case .date(let date): try container.encode(PropertyListDate.text(date))
        case .data(let data): try container.encode(data.base64EncodedString())
        case .array(let array): try container.encode(array)
        case .dictionary(let dictionary): try container.encode(dictionary)
        }
    }
}
