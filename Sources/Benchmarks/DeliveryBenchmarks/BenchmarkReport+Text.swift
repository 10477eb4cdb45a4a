internal import DeliveryDiagnostics

extension BenchmarkReport {
    /// Tables for a terminal, one for each workload.
    ///
    /// - Parameter width: the longest line; labels are wrapped, numbers are not.
    package func text(width: Int = 80) -> String {
        ([WrappedText.lines(conditions, width: width).joined(separator: "\n")]
            + workloads.map { Self.table(of: $0, width: width) }).joined(separator: "\n\n")
    }

    /// The machine and the settings of the run, in one line.
    package var conditions: String {
        var parts = ["\(machine.model), \(counted(machine.cores, "core"))"]
        if let load = machine.load { parts[0] += ", load \(BenchmarkCells.number(load))" }
        parts.append("\(machine.build) build")
        parts.append("\(counted(rounds, "round"))" + (isQuick ? ", a quick look" : ""))
        parts.append(
            pin.isEmpty
                ? "not pinned"
                : "pinned to core\(pin.count == 1 ? "" : "s") \(pin.map(String.init).joined(separator: ","))"
        )
        parts.append("\(BenchmarkCells.number(seconds)) s")
        return parts.joined(separator: "; ")
    }

    private static func table(of workload: WorkloadResult, width: Int) -> String {
        let hasLatencies = BenchmarkCells.hasLatencies([workload])
        let names = workload.contenders.map { BenchmarkCells.name(of: $0, in: workload) }
        let title = WrappedText.lines(
            "\(workload.name): \(workload.summary) (\(workload.unit))", width: width, hanging: 2)
        var columns = [Table.Column.text(width: 12...Int.max)]
        columns += BenchmarkCells.headings.map { .number($0) }
        if hasLatencies { columns += BenchmarkCells.latencyHeadings.map { .number($0, group: "latency") } }
        let hasProcessorTimes = BenchmarkCells.hasProcessorTimes([workload])
        if hasProcessorTimes { columns.append(.number(BenchmarkCells.processorHeading)) }
        let rows = zip(names, workload.contenders).map { name, contender in
            [name] + BenchmarkCells.figures(of: contender)
                + (hasLatencies ? BenchmarkCells.latencies(of: contender) : [])
                + (hasProcessorTimes ? [BenchmarkCells.processorTime(of: contender)] : [])
        }
        let table = Table(columns, rows: rows).lines(width: width - 2).map { "  \($0)" }
        let problems = workload.contenders.compactMap { contender in
            contender.problem.map {
                WrappedText.lines("\(contender.name): \($0)", width: width, indent: "  ", hanging: 2)
            }
        }
        return (title + table + problems.flatMap(\.self)).joined(separator: "\n")
    }
}
