/// A contender in a run: its subject, the number of operations in a round, and its measurements.
struct BenchmarkEntrant {
    let name: String
    private let unit: String
    private let range: ClosedRange<Int>
    private var operations: Int
    private var subject: Subject?
    private var samples: [Sample] = []
    private var problem: String?

    init(_ contender: Contender, of workload: Workload, _ conditions: BenchmarkConditions) {
        name = contender.name
        unit = workload.unit
        range = conditions.isQuick ? workload.quickOperations : workload.operations
        operations = range.lowerBound
        do {
            subject = try contender.make(conditions)
        } catch {
            problem = "\(error)"
        }
    }

    /// Finds the number of operations for the length of a round by trying. Caches are then warm and storage has grown.
    /// A workload with a fixed number still has one trial.
    mutating func warmUp(roundLength: Int64, now: () -> Int64) {
        var isSettled = false
        while !isSettled, subject != nil {
            let begun = now()
            _ = sample()
            let elapsed = max(1, now() - begun)
            // A trial of at least half the length predicts a full round. A shorter one may be mostly start and end.
            isSettled = elapsed >= roundLength / 2 || operations == range.upperBound
            let factor = min(Double(roundLength) / Double(elapsed), isSettled ? .infinity : 10)
            operations = Int(
                max(Double(range.lowerBound), min(Double(operations) * factor, Double(range.upperBound))))
        }
    }

    mutating func measure() {
        if let sample = sample() { samples.append(sample) }
    }

    /// A round's sample, or nil if the subject failed, now or before.
    private mutating func sample() -> Sample? {
        guard let subject else { return nil }
        do {
            let sample = try subject.measure(operations)
            try sample.validate(operations: operations, in: unit)
            return sample
        } catch {
            problem = "\(error)"
            end()
            return nil
        }
    }

    private mutating func end() {
        do {
            try subject?.end()
        } catch {
            // The first error explains later ones, so it is kept.
            problem = problem ?? "\(error)"
        }
        subject = nil
    }

    /// Ends the subject and returns its result.
    mutating func finish() -> ContenderResult {
        end()
        return ContenderResult(name: name, operations: operations, samples: samples, problem: problem)
    }
}
