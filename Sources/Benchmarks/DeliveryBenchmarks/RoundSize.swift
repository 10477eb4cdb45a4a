/// How many operations a round has, so that it lasts as long as it should. Found by trying.
struct RoundSize {
    private let range: ClosedRange<Int>
    /// In nanoseconds.
    private let length: UInt64
    private(set) var operations: Int
    /// Whether it was found. Something that may only be done so many times was tried once even so.
    private(set) var isSettled = false

    init(range: ClosedRange<Int>, length: UInt64) {
        self.range = range
        self.length = length
        operations = range.lowerBound
    }

    /// Takes how long so many operations lasted.
    mutating func note(elapsed: UInt64) {
        // What lasts at least half as long tells well enough how long more of it will last; less may be mostly the
        // beginning and the end.
        isSettled = elapsed >= length / 2 || operations == range.upperBound
        let factor = min(Double(length) / Double(max(1, elapsed)), isSettled ? .infinity : 10)
        let wanted = Double(operations) * factor
        operations = max(range.lowerBound, wanted < Double(range.upperBound) ? Int(wanted) : range.upperBound)
    }
}
