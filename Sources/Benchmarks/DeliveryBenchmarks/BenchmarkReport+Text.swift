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
        var parts = ["\(machine.model), \(machine.cores) core\(machine.cores == 1 ? "" : "s")"]
        if let load = machine.load { parts[0] += ", load \(BenchmarkCells.number(load))" }
        parts.append("\(machine.build) build")
        parts.append("\(rounds) round\(rounds == 1 ? "" : "s")" + (isQuick ? ", a quick look" : ""))
        parts.append(
            pin.isEmpty
                ? "not pinned"
                : "pinned to core\(pin.count == 1 ? "" : "s") \(pin.map(String.init).joined(separator: ","))"
        )
        if !spins { parts.append("no spinning") }
        parts.append("\(BenchmarkCells.number(seconds)) s")
        return parts.joined(separator: "; ")
    }

    private static func table(of workload: WorkloadResult, width: Int) -> String {
        let hasLatencies = BenchmarkCells.hasLatencies([workload])
        let names = workload.contenders.map { BenchmarkCells.name(of: $0, in: workload) }
        let figures = [BenchmarkCells.headings] + workload.contenders.map(BenchmarkCells.figures)
        let latencies = [BenchmarkCells.latencyHeadings] + workload.contenders.map(BenchmarkCells.latencies)
        let title = WrappedText.lines(
            "\(workload.name): \(workload.summary) (\(workload.unit))", width: width, indent: "")
        let label = max(names.map(\.count).max() ?? 0, 12) + 2
        let cells = hasLatencies ? zip(figures, latencies).map { $0 + $1 } : figures
        let fits = label + widths(of: cells).reduce(0) { $0 + $1 + 2 } <= width
        // Cells that do not fit beside the figures stand below them.
        let above = lines(labels: [""] + names, cells: fits ? cells : figures)
        let below = fits || !hasLatencies ? [] : lines(labels: [""] + names, cells: latencies)
        let problems = workload.contenders.compactMap { contender in
            contender.problem.map { WrappedText.lines("\(contender.name): \($0)", width: width, indent: "  ") }
        }
        return (title + above + below + problems.flatMap(\.self)).joined(separator: "\n")
    }

    private static func widths(of rows: [[String]]) -> [Int] {
        (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    }

    private static func lines(labels: [String], cells: [[String]]) -> [String] {
        let widths = widths(of: cells)
        let label = labels.map(\.count).max() ?? 0
        return zip(labels, cells).map { name, row in
            "  " + name + String(repeating: " ", count: label - name.count)
                + zip(row, widths).map { "  " + String(repeating: " ", count: $1 - $0.count) + $0 }.joined()
        }
    }
}
