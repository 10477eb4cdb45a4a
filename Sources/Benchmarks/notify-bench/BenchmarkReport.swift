internal import Foundation

/// The result of a run, with its machine and settings. Every output is a function of this value.
package struct BenchmarkReport: Sendable, Hashable, Codable {
    /// The version of this format. It changes when the meaning of a field changes.
    static let schema = 1

    package var schema = BenchmarkReport.schema
    package var machine: BenchmarkMachine
    package var rounds: Int
    package var isQuick: Bool
    package var seconds: Double
    package var workloads: [WorkloadResult]

    private enum CodingKeys: String, CodingKey {
        case schema, machine, rounds
        case isQuick = "quick"
        case seconds, workloads
    }

    package init(
        _ run: BenchmarkRun, machine: BenchmarkMachine, seconds: Double, workloads: [WorkloadResult]
    ) {
        self.machine = machine
        rounds = run.rounds
        isQuick = run.conditions.isQuick
        self.seconds = seconds
        self.workloads = workloads
    }

    /// - Parameter path: of a file with the output of `notify-bench --json`, in this version or an earlier one.
    /// - Throws: `BenchmarkError.unreadable`, `BenchmarkError.noReport`.
    package init(contentsOf path: String) throws(BenchmarkError) {
        do {
            self = try JSONDecoder().decode(Self.self, from: try Data(contentsOf: URL(filePath: path)))
        } catch is DecodingError {
            throw .noReport(path, "it has not the fields of one")
        } catch {
            throw .unreadable(path, error.localizedDescription)
        }
        guard schema == Self.schema else {
            throw .noReport(path, "its schema is \(schema), and this program writes \(Self.schema)")
        }
    }

    /// Measures on the calling thread, which must be the main thread.
    package static func measuring(
        _ workloads: [Workload], in run: BenchmarkRun, progress: (String) -> Void = { _ in }
    ) -> BenchmarkReport {
        let machine = BenchmarkMachine.current
        var results: [WorkloadResult] = []
        let elapsed = SuspendingClock().measure { results = run.perform(workloads, progress: progress) }
        return BenchmarkReport(run, machine: machine, seconds: elapsed / .seconds(1), workloads: results)
    }

    /// The errors and their contenders; empty if every contender has figures.
    package var problems: [String] {
        workloads.flatMap { workload in
            workload.contenders.compactMap { contender in
                contender.problem.map { "\(workload.name), \(contender.name): \($0)" }
            }
        }
    }
}

/// The machine and the build that the figures come from.
package struct BenchmarkMachine: Sendable, Hashable, Codable {
    /// The number of cores that the program may use.
    package var cores: Int
    package var model: String
    /// The average number of runnable threads over the last minute; nil if the system does not report it.
    package var load: Double?
    /// The build configuration of the program.
    package var build: String

    package init(cores: Int, model: String, load: Double?, build: String) {
        self.cores = cores
        self.model = model
        self.load = load
        self.build = build
    }

    /// The current machine.
    package static var current: BenchmarkMachine {
        func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
        let name = text("/proc/cpuinfo").split(separator: "\n").first { $0.hasPrefix("model name") }
        let model = name?.split(separator: ":", maxSplits: 1).last?.split(separator: " ").joined(separator: " ")
        var isDebug = false
        // An assertion is evaluated only without optimisation.
        assert({ isDebug = true }() == ())
        return BenchmarkMachine(
            cores: ProcessInfo.processInfo.activeProcessorCount, model: model ?? "unknown processor",
            load: text("/proc/loadavg").split(separator: " ").first.flatMap { Double($0) },
            build: isDebug ? "debug" : "release")
    }
}
