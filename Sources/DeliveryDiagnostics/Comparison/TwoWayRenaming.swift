/// A one-to-one mapping between the numbers of two recordings.
struct TwoWayRenaming {
    private var first: [Int32]
    private var second: [Int32]

    init(_ firstCount: Int, _ secondCount: Int) {
        first = Array(repeating: -1, count: firstCount)
        second = Array(repeating: -1, count: secondCount)
    }

    /// Maps the two numbers to each other. Returns false if one of them is already mapped to another number. -1 matches
    /// only -1.
    mutating func match(_ one: Int32, _ other: Int32) -> Bool {
        guard one >= 0, other >= 0 else { return one < 0 && other < 0 }
        let (known, otherKnown) = (first[Int(one)], second[Int(other)])
        if known < 0, otherKnown < 0 {
            first[Int(one)] = other
            second[Int(other)] = one
            return true
        }
        return known == other
    }

    /// The corresponding number, or -1.
    func inSecond(_ one: Int32) -> Int32 { one < 0 ? -1 : first[Int(one)] }

    /// The corresponding number, or -1.
    func inFirst(_ other: Int32) -> Int32 { other < 0 ? -1 : second[Int(other)] }
}
