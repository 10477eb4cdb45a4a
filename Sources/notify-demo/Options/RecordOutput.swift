import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import Foundation
import Scenarios
import SystemPackage

/// The options for printing records.
struct RecordOutput: ParsableArguments {
    enum Style: String, ExpressibleByArgument, CaseIterable {
        case document
        case stages
    }

    @Option(
        help:
            "document: the program's log lines, in the format of the documents; stages: every stage of every delivery."
    )
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
    private var isPrinted: Bool { file.map { OutputDestination.isStandardOutput($0) } ?? false }

    func validate() throws {
        if json, style != nil {
            throw ValidationError("--json prints complete records, so --style has no effect. Use one of them.")
        }
        if isPrinted, style != nil, let file {
            throw ValidationError(
                "-o \(file) prints complete records, so --style has no effect. Use one of them.")
        }
    }

    /// Writes the records to the output file, if there is one.
    func write(_ records: [DeliveryRecord], progress: ProgressLine) throws {
        guard let file, !isPrinted else { return }
        let output = try OutputFile(file)
        var lines = RecordLines()
        for record in numbered(records) {
            try output.write(lines.bytes(of: record))
            progress.show("\(record.sequence * 100 / records.count) % written")
        }
        try output.write(lines.end(after: numbered(records).last))
        try output.finish()
    }

    private func numbered(_ records: [DeliveryRecord]) -> [DeliveryRecord] {
        stable ? StableNumbering.renumber(records) : records
    }

    /// Prints the records, and the scenario's report unless the format is JSON.
    func print(
        _ records: [DeliveryRecord], of scenario: any Scenario, to terminal: inout Terminal, progress: ProgressLine
    ) throws {
        progress.clear()
        // Output on a terminal shows the progress itself, and would share its line.
        let showsProgress = isatty(FileDescriptor.standardOutput.rawValue) != 1
        var printed = 0
        func print(_ line: String) throws {
            try terminal.print(line)
            printed += 1
            if showsProgress { progress.show("\(printed * 100 / records.count) % printed") }
        }
        if json || isPrinted {
            var lines = RecordLines()
            let records = numbered(records)
            for record in records {
                for line in lines.bytes(of: record).split(separator: 0x0A) {
                    try print(String(decoding: line, as: UTF8.self))
                }
            }
            try terminal.print(lines.end(after: records.last))
            return
        }
        switch style ?? .document {
        case .document:
            let style = DocumentStyle(timeZone: stable ? .gmt : .current)
            // The number of hidden stages differs from run to run and must not show in the times.
            for record in numbered(stable ? records.filter { style.line(for: $0) != nil } : records) {
                if let line = style.line(for: record) { try print(line) }
            }
        case .stages:
            let records = numbered(records)
            let style = StagesStyle(records)
            for record in records { try print(style.line(for: record)) }
        }
        if let report = scenario.report(on: numbered(records)) {
            for line in report.split(separator: "\n") { try terminal.print("# \(line)") }
        }
    }
}
