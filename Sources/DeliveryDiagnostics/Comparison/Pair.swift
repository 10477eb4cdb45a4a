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

    init(_ first: Value, _ second: Value) {
        self.first = first
        self.second = second
    }

    subscript(_ side: RunSide) -> Value {
        get { side == .first ? first : second }
        // In place: a setter would copy an array for each change of an element.
        _modify { if side == .first { yield &first } else { yield &second } }
    }

    var reversed: Pair { Pair(second, first) }

    func map<Result>(_ transform: (Value) -> Result) -> Pair<Result> {
        Pair<Result>(transform(first), transform(second))
    }
}

extension Pair: Sendable where Value: Sendable {}
