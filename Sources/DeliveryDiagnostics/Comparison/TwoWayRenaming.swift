/// Which number of one recording stands for which of the other, each way once.
struct TwoWayRenaming {
    private var first: [Int32]
    private var second: [Int32]

    init(_ firstCount: Int, _ secondCount: Int) {
        first = Array(repeating: -1, count: firstCount)
        second = Array(repeating: -1, count: secondCount)
    }

    /// Whether the two may stand for each other, and do from now on. None stands for none.
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

    /// Or -1.
    func inSecond(_ one: Int32) -> Int32 { one < 0 ? -1 : first[Int(one)] }

    /// Or -1.
    func inFirst(_ other: Int32) -> Int32 { other < 0 ? -1 : second[Int(other)] }
}
