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
    package var spins: Bool
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
}
