import DeliveryDiagnostics

@testable import DeliveryBenchmarks

/// The events of a simulated run, and its clock, which only the subjects advance. Used on one thread only.
final class DrawnRun {
    var now: UInt64 = 0
    /// The calls of `measure` and `end`, with the contender.
    var events: [String] = []
    /// The number of operations of each `measure`, by contender.
    var operations: [String: [Int]] = [:]

    /// - Parameters:
    ///   - cost: the cost of one operation, in nanoseconds.
    ///   - fixed: an additional cost of each round.
    ///   - failing: the number of the call that throws.
    func contender(_ name: String, cost: UInt64, fixed: UInt64 = 0, failing: Int? = nil) -> Contender {
        // Safety: a run makes and calls its subjects on the thread that performs it, and the test waits for it there.
        nonisolated(unsafe) let run = self
        return Contender(name) { _ in
            DrawnSubject(name: name, run: run, cost: cost, fixed: fixed, failing: failing)
        }
    }

    func perform(_ workloads: [Workload], rounds: Int = 7, isQuick: Bool = false) -> [WorkloadResult] {
        BenchmarkRun(rounds: rounds, isQuick: isQuick).perform(workloads, now: { self.now })
    }
}

private final class DrawnSubject: BenchmarkSubject {
    private let name: String
    private let run: DrawnRun
    private let cost: UInt64
    private let fixed: UInt64
    private let failing: Int?

    init(name: String, run: DrawnRun, cost: UInt64, fixed: UInt64, failing: Int?) {
        self.name = name
        self.run = run
        self.cost = cost
        self.fixed = fixed
        self.failing = failing
    }

    func measure(_ operations: Int) throws -> Sample {
        run.events.append(name)
        run.operations[name, default: []].append(operations)
        run.now += fixed + UInt64(operations) * cost
        if let failing, run.operations[name]?.count == failing {
            throw BenchmarkError.miscounted(handled: operations - 1, posted: operations)
        }
        return Sample(operations: operations, total: Double(UInt64(operations) * cost))
    }

    func end() { run.events.append("end \(name)") }
}

extension Workload {
    /// A workload for tests.
    static func drawn(
        _ name: String = "drawn", control: String? = nil, operations: ClosedRange<Int> = 1...1_000_000_000,
        contenders: [Contender] = []
    ) -> Workload {
        Workload(
            name: name, summary: "something drawn", unit: .nanoseconds(per: "operation"), control: control,
            operations: operations, quickOperations: operations, contenders: contenders)
    }
}
