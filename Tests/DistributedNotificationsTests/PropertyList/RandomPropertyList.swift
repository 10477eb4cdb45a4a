import DistributedNotifications
import Foundation
import SharedTesting
import XCTest

/// Random property lists of all kinds.
struct RandomPropertyList {
    var generator: SeededGenerator
    /// How many more values may be generated.
    private var left = 0

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    /// A userInfo of at most so many values.
    mutating func userInfo(values: Int = 60) -> [String: PropertyListValue] {
        left = values
        return dictionary(depth: 1)
    }

    private mutating func dictionary(depth: Int) -> [String: PropertyListValue] {
        var dictionary: [String: PropertyListValue] = [:]
        for _ in 0..<Int.random(in: 0...8, using: &generator) where left > 0 {
            dictionary[string()] = value(depth: depth)
        }
        return dictionary
    }

    private mutating func value(depth: Int) -> PropertyListValue {
        left -= 1
        switch Int.random(in: 0..<(depth < 8 ? 10 : 6), using: &generator) {
        case 0: return .string(string())
        case 1: return .integer(integer())
        case 2: return .real(real())
        case 3: return .boolean(Bool.random(using: &generator))
        case 4:
            return .date(
                Date(
                    timeIntervalSinceReferenceDate: Double(
                        Int.random(in: -9_000_000_000...9_000_000_000, using: &generator))))
        case 5:
            return .data(
                Data((0..<Int.random(in: 0...40, using: &generator)).map { UInt8(truncatingIfNeeded: $0 * 37) }))
        case 6, 7:
            return .array((0..<Int.random(in: 0...5, using: &generator)).map { _ in value(depth: depth + 1) })
        default: return .dictionary(dictionary(depth: depth + 1))
        }
    }

    private mutating func string() -> String {
        let parts = [
            "", "a", "name", "größe", "📬", "\u{0}", "e\u{301}", "<&>\"'", "\n\t", "two words", "]]>", "\\", "–",
        ]
        return (0..<Int.random(in: 0...4, using: &generator)).map { _ in parts.randomElement(using: &generator) ?? "" }
            .joined()
    }

    private mutating func integer() -> Int64 {
        let edges: [Int64] = [0, 1, -1, 127, 128, 255, 256, -128, -129, 32768, 65536, 1 << 31, 1 << 32, .max, .min]
        return edges.randomElement(using: &generator) ?? 0
    }

    private mutating func real() -> Double {
        let edges = [0, -0.0, 0.1, -1.5, 1e300, -1e-300, .infinity, -.infinity, .pi, .leastNonzeroMagnitude]
        return edges.randomElement(using: &generator) ?? 0
    }
}

extension RandomPropertyList {
    /// Changes, removes, inserts, repeats and truncates bytes.
    mutating func mutate(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
            guard !bytes.isEmpty else { return bytes }
            let index = Int.random(in: 0..<bytes.count, using: &generator)
            let end = min(bytes.count, index + Int.random(in: 0...20, using: &generator))
            switch Int.random(in: 0..<7, using: &generator) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
            case 1: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 2: bytes[index] = [0, 1, 0x7f, 0x80, 0xff].randomElement(using: &generator) ?? 0
            case 3: bytes.removeSubrange(index..<end)
            case 4: bytes.insert(contentsOf: bytes[index..<end], at: Int.random(in: 0...bytes.count, using: &generator))
            case 5: bytes.insert(1, at: index)
            default: bytes = Array(bytes[..<index])
            }
        }
        return bytes
    }

    /// How many inputs a fuzz test tries: a million with `STRESS=1`.
    static let inputs = TestRounds.rounds(3_000, stress: 1_000_000)
}

extension PropertyListValue {
    /// The number of values, including itself, and the nesting of arrays and dictionaries.
    var nodesAndDepth: (nodes: Int, depth: Int) {
        let members: [PropertyListValue]
        switch self {
        case .array(let array): members = array
        case .dictionary(let dictionary): members = Array(dictionary.values)
        default: return (1, 0)
        }
        let all = members.map(\.nodesAndDepth)
        return (1 + all.reduce(0) { $0 + $1.nodes }, 1 + (all.map(\.depth).max() ?? 0))
    }
}
