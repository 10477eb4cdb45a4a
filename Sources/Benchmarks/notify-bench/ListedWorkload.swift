import DeliveryBenchmarks

/// A line of `notify-bench --list --json`.
struct ListedWorkload: Encodable {
    var name: String
    var summary: String
    var unit: String
    var baseline: String?
    var contenders: [String]

    init(_ workload: Workload) {
        name = workload.name
        summary = workload.summary
        unit = workload.unit.description
        baseline = workload.control
        contenders = workload.contenders.map(\.name)
    }
}
