/// A one-to-one mapping between the numbers of two recordings.
struct Renaming {
    private var counterparts: Pair<[Int32]>

    init(_ counts: Pair<Int>) {
        counterparts = counts.map { Array(repeating: -1, count: $0) }
    }

    /// Maps the two numbers to each other. Returns false if one of them is already mapped to another number. -1 matches
    /// only -1.
    mutating func match(_ first: Int32, _ second: Int32) -> Bool {
        guard mayMatch(first, second) else { return false }
        guard first >= 0 else { return true }
        counterparts.first[Int(first)] = second
        counterparts.second[Int(second)] = first
        return true
    }

    /// True if the two numbers are mapped to each other, or both to none. -1 matches only -1.
    func mayMatch(_ first: Int32, _ second: Int32) -> Bool {
        guard first >= 0, second >= 0 else { return first < 0 && second < 0 }
        let known = counterparts.first[Int(first)]
        return known < 0 ? counterparts.second[Int(second)] < 0 : known == second
    }

    /// The corresponding number in the other run, or -1.
    func counterpart(of number: Int32, on side: RunSide) -> Int32 {
        if number < 0 { return -1 }
        return side == .first ? counterparts.first[Int(number)] : counterparts.second[Int(number)]
    }
}
