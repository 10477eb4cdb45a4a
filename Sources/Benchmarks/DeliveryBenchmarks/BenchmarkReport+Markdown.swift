extension BenchmarkReport {
    /// Tables to paste into a document. Workloads that differ only in a number share a table.
    ///
    /// - Parameter command: the command that printed the tables, so that others can repeat it.
    package func markdown(command: String) -> String {
        var families: [[WorkloadResult]] = []
        for workload in workloads {
            if families.last?.first?.family == workload.family {
                families[families.count - 1].append(workload)
            } else {
                families.append([workload])
            }
        }
        let notes = noise.map { "- Noise: \($0)" } + problems.map { "- Failed: \($0)" }
        let parts = ["`\(command)`: \(conditions)."] + (notes.isEmpty ? [] : [notes.joined(separator: "\n")])
        return (parts + families.map(Self.table)).joined(separator: "\n\n")
    }

    private static func table(of family: [WorkloadResult]) -> String {
        let hasLatencies = BenchmarkCells.hasLatencies(family)
        let hasProcessorTimes = BenchmarkCells.hasProcessorTimes(family)
        let headings =
            [family.first?.unit ?? "", ""] + BenchmarkCells.headings
            + (hasLatencies ? BenchmarkCells.latencyHeadings : [])
            + (hasProcessorTimes ? [BenchmarkCells.processorHeading] : [])
        var lines = [row(headings), row(["---", "---"] + headings.dropFirst(2).map { _ in "--:" })]
        for workload in family {
            for contender in workload.contenders {
                lines.append(
                    row(
                        [workload.name, BenchmarkCells.name(of: contender, in: workload)]
                            + BenchmarkCells.figures(of: contender)
                            + (hasLatencies ? BenchmarkCells.latencies(of: contender) : [])
                            + (hasProcessorTimes ? [BenchmarkCells.processorTime(of: contender)] : [])))
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func row(_ cells: [String]) -> String {
        "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
    }
}
