import ArgumentParser
import DeliveryDiagnostics
import Foundation
import SystemPackage

/// How records are printed.
struct RecordOutput: ParsableArguments {
    enum Style: String, ExpressibleByArgument, CaseIterable {
        case document
        case stages
    }

    @Option(
        help: "document: what the program says, as the documents' logs; stages: every stage of every delivery."
    )
    var style: Style?

    @Flag(
        help: """
            Number processes, threads, posts, observers and times by appearance in what is printed, so that runs can \
            be compared as files. What chance decides stays: the interleaving of threads, and how many drains a flood \
            needs.
            """)
    var stable = false

    @Flag(help: "Print all records as JSON, one a line.")
    var json = false

    func validate() throws {
        if json, style != nil {
            throw ValidationError("--json prints records as they are, so it takes no --style. Leave out one of them.")
        }
    }

    /// Prints the records and, but for JSON, the scenario's report on them.
    func print(
        _ records: [DeliveryRecord], of scenario: any Scenario, to terminal: inout Terminal, progress: ProgressLine
    ) throws {
        progress.clear()
        // What is printed on a terminal is progress enough, and shares its lines.
        let showsProgress = isatty(FileDescriptor.standardOutput.rawValue) != 1
        var printed = 0
        func print(_ line: String) throws {
            try terminal.print(line)
            printed += 1
            if showsProgress { progress.show("\(printed * 100 / records.count) % printed") }
        }
        func numbered(_ records: [DeliveryRecord]) -> [DeliveryRecord] {
            stable ? StableNumbering.renumber(records) : records
        }
        if json {
            for record in numbered(records) { try print(RecordLines.line(for: record)) }
            return
        }
        switch style ?? .document {
        case .document:
            let style = DocumentStyle(timeZone: stable ? .gmt : .current)
            // Stages that are not shown come in numbers that chance decides, and should not show in the times.
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
