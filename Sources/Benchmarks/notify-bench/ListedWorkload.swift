import DeliveryBenchmarks

/// A line of `notify-bench --list --json`.
struct ListedWorkload: Encodable {
    var name: String
    var summary: String
    var unit: String
    var control: String?
    var contenders: [String]

    init(_ workload: Workload) {
        name = workload.name
        summary = workload.summary
        unit = workload.unit.description
        control = workload.control
        contenders = workload.contenders.map(\.name)
    }
}
