import ArgumentParser
import DeliveryDiagnostics

struct Bench: Command {
    static let configuration = CommandConfiguration(
        abstract: "Measure what a notification costs, beside what else could carry it.",
        discussion: """
            EXAMPLES
              notify-demo bench
            """)

    @Argument(help: "Which workloads; none: all.", completion: .list(Workloads.names))
    var workloads: [String] = []

    func perform(_ terminal: inout Terminal) throws -> ExitStatus {
        for workload in workloads.isEmpty ? Workloads.all : workloads.flatMap(Workloads.named) {
            try terminal.print("\(workload.name) (\(workload.unit.description))")
            for result in try BenchmarkRun().perform(workload) {
                try terminal.print("  \(result.name) \(result.median)")
            }
        }
        return .good
    }
}
