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

/// A value for each series, name and object. Most posts have those of the one before, which costs a comparison only;
/// another costs one lookup.
struct SequenceTable<Value: Sendable>: Sendable {
    private struct Key: Hashable {
        var series: UInt64
        var post: NameAndObject
    }

    private var places: [Key: Int] = [:]
    private var current = (key: Key(series: 0, post: NameAndObject()), place: 0)
    var values: [Value] = []

    /// Nothing else bounds its memory.
    var isFull: Bool { values.count >= Wire.sequenceLimit }

    /// - Parameter initial: the value of one that is new.
    /// - Returns: where in `values` its value is.
    mutating func place(_ series: UInt64, _ post: UnsafeRawBufferPointer, initial: Value) -> Int {
        if current.key.series != series || !current.key.post.isEqual(post) {
            let key = Key(series: series, post: NameAndObject(bytes: post))
            let place = places[key] ?? values.count
            if place == values.count {
                values.append(initial)
                places[key] = place
            }
            current = (key, place)
        }
        return current.place
    }
}

/// The numbers that a center gives to its posts.
struct PostNumbers {
    private var series = UInt64.random(in: .min ... .max)
    private var last = SequenceTable<UInt64>()
    private var place = 0

    /// The next one with a name and object. It is used only if `use` follows.
    /// - Parameter post: as in a frame.
    mutating func next(_ post: UnsafeRawBufferPointer) -> PostSequence {
        // A number must not be given twice, so a series that is forgotten ends.
        if last.isFull { self = PostNumbers() }
        place = last.place(series, post, initial: 0)
        return PostSequence(series: series, number: last.values[place] + 1)
    }

    mutating func use() { last.values[place] += 1 }
}
