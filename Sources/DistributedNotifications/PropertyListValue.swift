public import Foundation

/// A value of a property list, as the userInfo of a distributed notification contains.
///
///     try center.post(name: .saved, userInfo: ["path": "/tmp/a", "sizes": [1, 2.5], "isFinal": true])
///
/// A userInfo has at most 60 KiB on the wire, 16,384 values, and 64 levels of arrays and dictionaries. Integers, reals
/// and booleans keep their kinds. A real may be infinite or not a number. A date lies in the years 1 to 9999.
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
    /// An integer, as in `["count": PropertyListValue(files.count)]`.
    public init(_ integer: Int) { self = .integer(Int64(integer)) }

    // MARK: The value, if it is of the kind; else nil

    public var stringValue: String? { if case .string(let string) = self { string } else { nil } }
    public var integerValue: Int? { if case .integer(let integer) = self { Int(integer) } else { nil } }
    public var booleanValue: Bool? { if case .boolean(let boolean) = self { boolean } else { nil } }
    public var dateValue: Date? { if case .date(let date) = self { date } else { nil } }
    public var dataValue: Data? { if case .data(let data) = self { data } else { nil } }
    public var arrayValue: [PropertyListValue]? { if case .array(let array) = self { array } else { nil } }
    public var dictionaryValue: [String: PropertyListValue]? {
        if case .dictionary(let dictionary) = self { dictionary } else { nil }
    }
    /// The real, or an integer that a real represents exactly.
    public var realValue: Double? {
        if case .real(let real) = self { real } else { integerValue.flatMap { Double(exactly: $0) } }
    }

    /// The value of a dictionary for a key; nil also if this value is not a dictionary.
    public subscript(key: String) -> PropertyListValue? { dictionaryValue?[key] }
}

extension PropertyListValue: CustomStringConvertible {
    /// The value as JSON on one line, with sorted keys.
    public var description: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
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
    /// A duplicate key ends the program, as in any dictionary literal.
    public init(dictionaryLiteral elements: (String, PropertyListValue)...) {
        self = .dictionary(Dictionary(uniqueKeysWithValues: elements))
    }
}

extension PropertyListValue: Codable {
    /// Decodes from JSON, in which dates and data are strings and stay strings, and from property lists. A real without
    /// a fraction becomes an integer, which `realValue` returns too.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        func value<Kind: Decodable>(_ make: (Kind) -> PropertyListValue) -> PropertyListValue? {
            (try? container.decode(Kind.self)).map(make)
        }
        self =
            try value(Self.boolean) ?? value(Self.integer) ?? value(Self.real) ?? value(Self.string)
            ?? value(Self.date) ?? value(Self.data) ?? value(Self.array)
            ?? .dictionary(container.decode([String: PropertyListValue].self))
    }

    /// Encodes for JSON, which has fewer kinds: a date becomes a string such as `2016-02-13T22:05:12Z`, data becomes
    /// base64, and a real that is no JSON number becomes "nan", "inf" or "-inf".
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let string): try container.encode(string)
        case .integer(let integer): try container.encode(integer)
        case .real(let real): try real.isFinite ? container.encode(real) : container.encode("\(real)")
        case .boolean(let boolean): try container.encode(boolean)
        case .date(let date):
            // Formatters are not made for other dates.
            let isUsual = Wire.dates.contains(date.timeIntervalSinceReferenceDate)
            try container.encode(isUsual ? date.formatted(.iso8601) : "\(date.timeIntervalSinceReferenceDate)")
        case .data(let data): try container.encode(data.base64EncodedString())
        case .array(let array): try container.encode(array)
        case .dictionary(let dictionary): try container.encode(dictionary)
        }
    }
}
