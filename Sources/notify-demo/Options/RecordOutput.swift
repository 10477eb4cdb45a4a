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

    /// False if only the log is printed.
    var needsRecords: Bool { json || output != nil || style == .stages }

    func validate() throws {
        if style != nil, let printingOption {
            throw ValidationError(
                "\(printingOption) prints complete records, so --style has no effect. Use one of them.")
        }
    }

    /// Writes the records to the output file, if there is one, and prints them with the scenario's report.
    func write(_ run: RecordedRun, of scenario: any Scenario, _ terminal: Terminal) throws {
        if let output, !Output.isStandardOutput(output) {
            let file = try Output(output)
            try write(run, to: file)
            try file.finish()
        }
        if printingOption != nil { return try write(run, to: terminal.standardOutput) }
        switch style ?? .document {
        case .document:
            try terminal.print(DocumentStyle().lines(of: run.recording))
        case .stages:
            // The end is that of the recording, not of the scenario.
            let entries = run.recording.entries.filter { $0.stage != .end }
            try terminal.print(entries.map(StagesStyle(run.recording, entries).line))
        }
        if let report = scenario.report(on: run) {
            try terminal.print(report.split(separator: "\n").map { "# \($0)" })
        }
        try terminal.standardOutput.flush()
    }

    private func write(_ run: RecordedRun, to output: Output) throws {
        try run.file?.seek(toOffset: 0)
        while let lines = try run.file?.read(upToCount: 1 << 16), !lines.isEmpty { try output.write(Array(lines)) }
        try output.flush()
    }
}
