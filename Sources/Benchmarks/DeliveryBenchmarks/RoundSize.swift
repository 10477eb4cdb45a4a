/// The number of operations in a round, found by trying, so that rounds have the same length.
struct RoundSize {
    private let range: ClosedRange<Int>
    /// In nanoseconds.
    private let length: UInt64
    private(set) var operations: Int
    /// True if the number was found. A workload with a fixed number still has one trial.
    private(set) var isSettled = false

    init(range: ClosedRange<Int>, length: UInt64) {
        self.range = range
        self.length = length
        operations = range.lowerBound
    }

    /// Adjusts the number by the duration of a trial.
    mutating func note(elapsed: UInt64) {
        // A trial of at least half the length predicts a full round well. A shorter one may be mostly start and end.
        isSettled = elapsed >= length / 2 || operations == range.upperBound
        let factor = min(Double(length) / Double(max(1, elapsed)), isSettled ? .infinity : 10)
        let wanted = Double(operations) * factor
        operations = max(range.lowerBound, wanted < Double(range.upperBound) ? Int(wanted) : range.upperBound)
    }
}
