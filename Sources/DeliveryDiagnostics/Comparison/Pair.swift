/// The first or the second of the two compared runs.
enum RunSide: CaseIterable {
    case first
    case second

    var opposite: RunSide { self == .first ? .second : .first }
}

/// A value for each of the two runs.
struct Pair<Value> {
    var first: Value
    var second: Value

    init(_ first: Value, _ second: Value) { (self.first, self.second) = (first, second) }

    /// A value for one run, and one for the other.
    init(_ side: RunSide, _ value: Value, _ other: Value) {
        (first, second) = side == .first ? (value, other) : (other, value)
    }

    subscript(_ side: RunSide) -> Value {
        get { side == .first ? first : second }
        // In place: a setter would copy an array for each change of an element.
        _modify { if side == .first { yield &first } else { yield &second } }
    }

    func map<Result>(_ transform: (Value) throws -> Result) rethrows -> Pair<Result> {
        Pair<Result>(try transform(first), try transform(second))
    }
}

extension Pair: Sendable where Value: Sendable {}
