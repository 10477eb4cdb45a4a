import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import Foundation
import Scenarios

/// The options for printing records.
struct RecordOutput: ParsableArguments {
    @Flag(help: "Print all records as JSON, one per line.")
    var json = false

    @Option(
        name: .shortAndLong,
        help: """
            Also record to this file, for check, diagnose, compare, timeline, trace and stats; - is standard \
            output, on which nothing else is printed then.
            """, completion: .file(extensions: ["jsonl"]))
    var output: String?

    /// True if the records themselves are printed on standard output, and nothing else.
    private var printsRecords: Bool { json || output.map(Output.isStandardOutput) ?? false }

    /// False if only log messages are printed.
    var needsAllRecords: Bool { json || output != nil }

    /// Writes the records to the output file, if there is one, and prints them with the scenario's report.
    func write(_ run: RecordedRun, of scenario: any Scenario, _ terminal: Terminal) throws {
        let records = run.records
        let files = [output].compactMap(\.self).filter { !Output.isStandardOutput($0) }
        for output in files + (printsRecords ? ["-"] : []) {
            let output = try terminal.output(to: output)
            var lines = RecordLines()
            for record in records {
                try output.write(lines.bytes(of: record))
                terminal.show(progress: "\(record.sequence * 100 / records.count) % written")
            }
            try output.write(lines.end(after: records.last))
            try output.finish()
        }
        if printsRecords { return }
        let style = DocumentStyle()
        try terminal.print(records.compactMap { style.line(for: $0) })
        if let report = scenario.report(on: run) {
            try terminal.print(report.split(separator: "\n").map { "# \($0)" })
        }
        try terminal.standardOutput.flush()
    }
}
