package import Foundation

/// The parts of a report of `notify-bench --json` that a later run is compared with.
package struct EarlierReport: Sendable, Hashable, Decodable {
    package struct Machine: Sendable, Hashable, Decodable {
        package var build: String
    }

    package struct Workload: Sendable, Hashable, Decodable {
        package var name: String
        package var unit: String
        package var control: String?
        package var contenders: [Contender]
    }

    package struct Contender: Sendable, Hashable, Decodable {
        package var name: String
        package var median: Double?
        package var spread: Double?
    }

    /// The version of the format.
    package var schema: Int
    package var machine: Machine
    package var pin: [Int]
    package var quick: Bool
    package var workloads: [Workload]

    /// - Throws: `BenchmarkError.noReport`.
    package init(json: Data) throws(BenchmarkError) {
        do {
            self = try JSONDecoder().decode(EarlierReport.self, from: json)
        } catch {
            throw .noReport("it has not the fields of one")
        }
        guard schema == BenchmarkReport.schema else {
            throw .noReport("its schema is \(schema), and this program writes \(BenchmarkReport.schema)")
        }
    }

    /// Several runs as one. A row's figure is the median of its medians. Its spread is the largest of one run, or the
    /// distance between the medians if that is larger: whole runs may differ more than the rounds of one.
    /// - Parameter runs: at least one.
    /// - Throws: `BenchmarkError.differentRuns` if the runs had different conditions.
    package init(joining runs: [EarlierReport]) throws(BenchmarkError) {
        self = runs[0]
        for run in runs
        where (run.machine.build, run.quick) != (machine.build, quick) || run.pin != pin {
            throw .differentRuns
        }
        for run in runs.dropFirst() {
            for workload in run.workloads where !workloads.contains(where: { $0.name == workload.name }) {
                workloads.append(workload)
            }
        }
        for index in workloads.indices {
            let same = runs.compactMap { run in run.workloads.first { $0.name == workloads[index].name } }
            for place in workloads[index].contenders.indices {
                let name = workloads[index].contenders[place].name
                let rows = same.flatMap(\.contenders).filter { $0.name == name }
                let medians = rows.compactMap(\.median)
                guard let least = medians.min(), let most = medians.max() else { continue }
                workloads[index].contenders[place].median = Quartiles(medians)?.median
                workloads[index].contenders[place].spread = max(most - least, rows.compactMap(\.spread).max() ?? 0)
            }
        }
    }
}
