internal import DeliveryDiagnostics

/// A contender in a run: its subject, the number of operations in a round, and its measurements.
struct BenchmarkEntrant {
    let name: String
    private let unit: BenchmarkUnit
    private var subject: (any BenchmarkSubject)?
    private var size: RoundSize
    private var figures: [Double] = []
    private var latencies: [UInt64] = []
    private var processorTimes: [Double] = []
    private var problem: String?

    init(_ contender: Contender, in unit: BenchmarkUnit, _ conditions: BenchmarkConditions, _ size: RoundSize) {
        name = contender.name
        self.unit = unit
        self.size = size
        do {
            subject = try contender.make(conditions)
        } catch {
            problem = "\(error)"
        }
    }

    /// Finds the number of operations for the length of a round. Caches are then warm and storage has grown.
    mutating func warmUp(now: () -> UInt64) {
        while !size.isSettled, subject != nil {
            let begun = now()
            _ = sample()
            size.note(elapsed: now() - begun)
        }
    }

    mutating func measure() {
        guard let sample = sample() else { return }
        figures.append(sample.figure)
        latencies += sample.latencies
        if let time = sample.processorTime { processorTimes.append(time / Double(sample.operations)) }
    }

    /// A round's sample, or nil if the subject failed, now or before.
    private mutating func sample() -> Sample? {
        guard let subject else { return nil }
        do {
            let sample = try subject.measure(size.operations)
            try sample.validate(operations: size.operations, in: unit)
            return sample
        } catch {
            fail(error)
            return nil
        }
    }

    private mutating func fail(_ error: any Error) {
        if problem == nil { problem = "\(error)" }
        end()
    }

    private mutating func end() {
        guard let subject else { return }
        self.subject = nil
        do {
            try subject.end()
        } catch  where problem == nil {
            problem = "\(error)"
        } catch {
            // The first error explains later ones, so it is kept.
        }
    }

    /// Ends the subject and returns its result.
    mutating func finish() -> ContenderResult {
        end()
        return ContenderResult(
            name: name, operations: size.operations, figures: figures, latency: Distribution(of: latencies),
            processorTime: Quartiles(processorTimes)?.median, problem: problem)
    }
}
