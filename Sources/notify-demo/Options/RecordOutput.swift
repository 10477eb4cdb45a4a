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

    /// False if only the log is printed.
    var needsRecords: Bool { json || output != nil }

    /// Writes the records to the output file, if there is one, and prints them with the scenario's report.
    func write(_ run: RecordedRun, of scenario: any Scenario, _ terminal: Terminal) throws {
        let files = [output].compactMap(\.self).filter { !Output.isStandardOutput($0) }
        for path in files + (printsRecords ? ["-"] : []) {
            let output = try terminal.output(to: path)
            try run.file?.seek(toOffset: 0)
            while let lines = try run.file?.read(upToCount: 1 << 16), !lines.isEmpty { try output.write(Array(lines)) }
            try output.finish()
        }
        if printsRecords { return }
        try terminal.print(DocumentStyle().lines(of: run.recording))
        if let report = scenario.report(on: run) {
            try terminal.print(report.split(separator: "\n").map { "# \($0)" })
        }
        try terminal.standardOutput.flush()
    }
}
