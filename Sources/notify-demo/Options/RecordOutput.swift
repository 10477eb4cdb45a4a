import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import Foundation
import Scenarios

/// The options for printing records.
struct RecordOutput: ParsableArguments {
    enum Style: String, ExpressibleByArgument, CaseIterable {
        case document
        case stages
    }

    @Option(
        help:
            "document: the program's log lines, in the format of the documents; stages: every stage of every delivery.")
    var style: Style?

    @Flag(help: "Print all records as JSON, one per line.")
    var json = false

    @Option(
        name: .shortAndLong,
        help: """
            Also record to this file, for check, diagnose, compare, timeline, trace and stats; - is standard \
            output, on which nothing else is printed then.
            """, completion: .file(extensions: ["jsonl"]))
    var output: String?

    /// The option that prints the records themselves on standard output; nothing else is printed there then.
    private var printingOption: String? {
        json ? "--json" : output.flatMap { Output.isStandardOutput($0) ? "-o \($0)" : nil }
    }

    /// False if only log messages are printed.
    var needsAllRecords: Bool { json || output != nil || style == .stages }

    func validate() throws {
        if style != nil, let printingOption {
            throw ValidationError(
                "\(printingOption) prints complete records, so --style has no effect. Use one of them.")
        }
    }

    /// Writes the records to the output file, if there is one, and prints them with the scenario's report.
    func write(_ run: RecordedRun, of scenario: any Scenario, _ terminal: Terminal) throws {
        let records = run.records
        if let output, !Output.isStandardOutput(output) {
            let file = try Output(output)
            try write(records, to: file, terminal)
            try file.finish()
        }
        if printingOption != nil { return try write(records, to: terminal.standardOutput, terminal) }
        switch style ?? .document {
        case .document:
            let style = DocumentStyle()
            try terminal.print(records.compactMap { style.line(for: $0) })
        case .stages:
            let recording = Recording(records)
            let style = StagesStyle(recording, recording.entries)
            try terminal.print(recording.entries.map(style.line))
        }
        if let report = scenario.report(on: run) {
            try terminal.print(report.split(separator: "\n").map { "# \($0)" })
        }
        try terminal.standardOutput.flush()
    }

    private func write(_ records: [DeliveryRecord], to output: Output, _ terminal: Terminal) throws {
        var lines = RecordLines()
        for record in records {
            try output.write(lines.bytes(of: record))
            terminal.show(progress: "\(record.sequence * 100 / records.count) % written")
        }
        try output.write(lines.end(after: records.last))
        try output.flush()
    }
}
