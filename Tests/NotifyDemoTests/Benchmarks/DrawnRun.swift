@testable import notify_bench

/// The events of a simulated run, and its clock, which only the subjects advance. Used on one thread only.
final class DrawnRun {
    var now: Int64 = 0
    /// The calls of `measure` and `end`, with the contender.
    var events: [String] = []
    /// The number of operations of each `measure`, by contender.
    var operations: [String: [Int]] = [:]

    /// - Parameters:
    ///   - cost: the cost of one operation, in nanoseconds.
    ///   - fixed: an additional cost of each round.
    ///   - failing: the number of the call that throws.
    func contender(_ name: String, cost: Int64, fixed: Int64 = 0, failing: Int? = nil) -> Contender {
        // Safety: a run makes and calls its subjects on the thread that performs it, and the test waits for it there.
        nonisolated(unsafe) let run = self
        return Contender(name) { _ in
            Subject {
                run.events.append("end \(name)")
            } measure: { operations in
                run.events.append(name)
                run.operations[name, default: []].append(operations)
                run.now += fixed + Int64(operations) * cost
                if let failing, run.operations[name]?.count == failing {
                    throw BenchmarkError.miscounted(handled: operations - 1, posted: operations)
                }
                return Sample(operations: operations, total: Double(Int64(operations) * cost))
            }
        }
    }

    func perform(_ workloads: [Workload], rounds: Int? = nil, isQuick: Bool = false) -> [WorkloadResult] {
        var conditions = BenchmarkConditions()
        conditions.isQuick = isQuick
        return BenchmarkRun(conditions: conditions, rounds: rounds).perform(workloads, now: { self.now })
    }
}

extension Workload {
    /// A workload for tests.
    static func drawn(
        _ name: String = "drawn", control: String? = nil, operations: ClosedRange<Int> = 1...1_000_000_000,
        contenders: [Contender] = []
    ) -> Workload {
        Workload(
            name: name, summary: "something drawn", unit: "ns per operation", control: control,
            operations: operations, quickOperations: operations, contenders: contenders)
    }
}

extension WorkloadResult {
    /// A result for tests, with the figures of each contender's rounds.
    static func drawn(
        named name: String = "burst-4", control: String? = "control", _ figures: [(String, [Double])]
    ) -> WorkloadResult {
        WorkloadResult(
            .drawn(name, control: control),
            figures.map { name, figures in
                ContenderResult(
                    name: name, operations: 100,
                    samples: figures.map { Sample(operations: 100, total: $0 * 100) })
            })
    }
}

extension BenchmarkReport {
    /// A report for tests.
    static func drawn(_ workloads: [WorkloadResult]) -> BenchmarkReport {
        BenchmarkReport(
            BenchmarkRun(),
            machine: BenchmarkMachine(cores: 2, model: "AMD EPYC", load: 0.16, build: "release"), seconds: 12.3,
            workloads: workloads)
    }
}
