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

    @Flag(
        help: """
            Number processes, threads, posts, observers and times in order of appearance, so that runs can be compared \
            as files. The interleaving of threads and the number of drains in a flood still differ from run to run.
            """)
    var stable = false

    @Flag(help: "Print all records as JSON, one per line.")
    var json = false

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            """
            Also record to this file, for audit, diagnose, compare, timeline, trace and stats; - is standard output, \
            on which nothing else is printed then.
            """, valueName: "file"),
        completion: .file(extensions: ["jsonl"]))
    var file: String?

    /// True if the records go to standard output; nothing else is printed there then.
    private var isPrinted: Bool { file.map { OutputDestination($0).isStandardOutput } ?? false }

    func validate() throws {
        if style != nil, json || isPrinted {
            let option = json ? "--json" : "-o \(file ?? "")"
            throw ValidationError("\(option) prints complete records, so --style has no effect. Use one of them.")
        }
    }

    /// Writes the records to the output file, if there is one, and prints them with the scenario's report.
    func write(_ records: [DeliveryRecord], of scenario: any Scenario, _ terminal: Terminal) throws {
        if let file, !isPrinted {
            let output = try Output(file)
            try write(numbered(records), to: output, terminal)
            try output.finish()
        }
        if json || isPrinted {
            return try write(numbered(records), to: terminal.standardOutput, terminal)
        }
        switch style ?? .document {
        case .document:
            let style = DocumentStyle(timeZone: stable ? .gmt : .current)
            // The number of hidden stages differs from run to run and must not show in the times.
            for record in numbered(stable ? records.filter { style.line(for: $0) != nil } : records) {
                if let line = style.line(for: record) { try terminal.print(line) }
            }
        case .stages:
            let records = numbered(records)
            let style = StagesStyle(records)
            for record in records { try terminal.print(style.line(for: record)) }
        }
        if let report = scenario.report(on: numbered(records)) {
            for line in report.split(separator: "\n") { try terminal.print("# \(line)") }
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

    private func numbered(_ records: [DeliveryRecord]) -> [DeliveryRecord] {
        stable ? StableNumbering.renumber(records) : records
    }
}
