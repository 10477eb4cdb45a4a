import DistributedNotifications
import Foundation
import SharedTesting

/// Random property lists of all kinds, and random changes of bytes.
struct RandomPropertyList {
    private var generator: SeededGenerator
    /// How many more values may be generated.
    private var left = 0

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// How many inputs a fuzz test tries: a million with `STRESS=1`.
    static let inputs = TestRounds.rounds(3_000, stress: 1_000_000)

    mutating func userInfo() -> [String: PropertyListValue] {
        left = 60
        return dictionary(depth: 1)
    }

    private mutating func dictionary(depth: Int) -> [String: PropertyListValue] {
        var dictionary: [String: PropertyListValue] = [:]
        for _ in 0..<number(9) where left > 0 { dictionary[string()] = value(depth: depth) }
        return dictionary
    }

    private mutating func value(depth: Int) -> PropertyListValue {
        left -= 1
        switch number(depth < 8 ? 10 : 6) {
        case 0: return .string(string())
        case 1:
            return .integer(pick([0, 1, -1, 127, 128, 255, 256, -128, -129, 65536, 1 << 31, 1 << 32, .max, .min]))
        case 2: return .real(pick([0, -0.0, 0.1, -1.5, 1e300, -1e-300, .infinity, -.infinity, .leastNonzeroMagnitude]))
        case 3: return .boolean(number(2) == 1)
        case 4: return .date(Date(timeIntervalSinceReferenceDate: Double(number(18_000_000_000) - 9_000_000_000)))
        case 5: return .data(Data((0..<number(41)).map { UInt8(truncatingIfNeeded: $0 * 37) }))
        case 6, 7: return .array((0..<number(6)).map { _ in value(depth: depth + 1) })
        default: return .dictionary(dictionary(depth: depth + 1))
        }
    }

    private mutating func string() -> String {
        (0..<number(5)).map { _ in pick(["", "a", "größe", "📬", "\u{0}", "e\u{301}", "<&>\"'", "\n\t", "]]>", "\\"]) }
            .joined()
    }

    /// A number below another.
    private mutating func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }
    private mutating func pick<Value>(_ values: [Value]) -> Value { values[number(values.count)] }

    /// Changes, removes, inserts, repeats and truncates bytes.
    mutating func mutate(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0...number(6) where !bytes.isEmpty {
            let index = number(bytes.count)
            let end = min(bytes.count, index + number(21))
            switch number(7) {
            case 0: bytes[index] = UInt8(number(256))
            case 1: bytes[index] ^= 1 << number(8)
            case 2: bytes[index] = pick([0, 1, 0x7f, 0x80, 0xff])
            case 3: bytes.removeSubrange(index..<end)
            case 4: bytes.insert(contentsOf: bytes[index..<end], at: number(bytes.count + 1))
            case 5: bytes.insert(1, at: index)
            default: bytes = Array(bytes[..<index])
            }
        }
        return bytes
    }
}

extension PropertyListValue {
    /// The number of values, including itself, and the nesting of arrays and dictionaries.
    var nodesAndDepth: (nodes: Int, depth: Int) {
        guard let members = arrayValue ?? dictionaryValue.map({ Array($0.values) }) else { return (1, 0) }
        let all = members.map(\.nodesAndDepth)
        return (1 + all.reduce(0) { $0 + $1.nodes }, 1 + (all.map(\.depth).max() ?? 0))
    }
}
