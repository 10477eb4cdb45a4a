/// The place of a post among all of its poster with the same name and object.
///
/// It stays with the post on its whole way, also to other machines. A receiver finds with it what was sent to it twice,
/// and what was lost.
package struct PostSequence: Hashable, Sendable {
    /// Chosen at random, for each center anew.
    package var series: UInt64
    /// 1 for the first post of the series with this name and object.
    package var number: UInt64

    package init(series: UInt64, number: UInt64) { (self.series, self.number) = (series, number) }

    /// - Returns: nil if it was not set.
    init?(_ reader: inout WireReader) throws(WireError) {
        (series, number) = (try reader.integer(UInt64.self), try reader.integer(UInt64.self))
        if number == 0 { return nil }
    }
}

/// The numbers that a center gives to its posts.
struct PostNumbers {
    struct Key: Hashable {
        var name: String
        var object: String?
    }

    private var series = UInt64.random(in: .min ... .max)
    private var last: [Key: UInt64] = [:]
    /// Most posts have the name and the object of the one before.
    private var current = (key: Key(name: ""), number: UInt64(0))

    /// The next one with this name and object. It is used only if `use` follows.
    mutating func next(_ key: Key) -> PostSequence {
        if key != current.key {
            last[current.key] = current.number
            if last.count > Wire.sequenceLimit {
                (last, series) = ([:], .random(in: .min ... .max))
            }
            current = (key, last[key] ?? 0)
        }
        return PostSequence(series: series, number: current.number + 1)
    }

    /// A connection has taken bytes of the post, or is not going to take the rest of them.
    mutating func use(_ sequence: PostSequence, _ key: Key, isUsed: Bool = true) {
        guard next(key).series == sequence.series else { return }
        if isUsed {
            current.number = sequence.number
        } else if current.number == sequence.number {
            current.number -= 1
        }
    }
}
