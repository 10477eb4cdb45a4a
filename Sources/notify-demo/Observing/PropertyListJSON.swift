import DistributedNotifications
import Foundation

/// Encodes a property list as JSON. JSON has no dates, data or special numbers: a date becomes ISO 8601 text in UTC,
/// data becomes base64, and special numbers become "NaN", "Infinity" or "-Infinity".
struct PropertyListJSON: Encodable, Sendable {
    private let value: PropertyListValue

    init(_ value: PropertyListValue) {
        self.value = value
    }

    init(_ userInfo: [String: PropertyListValue]) {
        value = .dictionary(userInfo)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch value {
        case .string(let text): try container.encode(text)
        case .integer(let number): try container.encode(number)
        case .boolean(let flag): try container.encode(flag)
        case .real(let number) where number.isFinite: try container.encode(number)
        case .real(let number):
            try container.encode(number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity")
        case .date(let date):
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            try container.encode(date.formatted(style))
        case .data(let data): try container.encode(data.base64EncodedString())
        case .array(let values): try container.encode(values.map(PropertyListJSON.init))
        case .dictionary(let values): try container.encode(values.mapValues(PropertyListJSON.init))
        }
    }
}
