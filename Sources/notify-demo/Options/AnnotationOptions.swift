import ArgumentParser
import DeliveryDiagnostics
import Foundation
import SystemPackage

/// The option for telling findings to the service that runs a command.
struct AnnotationOptions: ParsableArguments {
    enum Annotations: String, ExpressibleByArgument, CaseIterable { case none, github, auto }

    @Option(
        help: """
            Annotate the job on standard error, and append to the summary that GITHUB_STEP_SUMMARY names. auto: as github \
            if GITHUB_ACTIONS is true.
            """)
    var annotations = Annotations.auto

    /// True if the service that runs this command should be told what it finds.
    var areWanted: Bool { annotations == .github || annotations == .auto && Workflow.isRunning }

    /// Prints an annotation for each finding, and appends all to the job's summary, if that is wanted.
    ///
    /// - Parameter title: the command.
    func annotate(
        _ findings: @autoclosure () -> [ReportedFinding], title: String, totals: String, _ terminal: Terminal
    ) {
        guard areWanted else { return }
        let findings = findings()
        let environment = ProcessInfo.processInfo.environment
        let files = environment["GITHUB_WORKSPACE"].map { SourceFiles(directory: $0) }
        for line in WorkflowCommands.annotations(findings, path: { files?.existing($0) }) { terminal.annotate(line) }
        guard let path = environment["GITHUB_STEP_SUMMARY"], !path.isEmpty else { return }
        do {
            let file = try FileDescriptor.open(
                FilePath(path), .writeOnly, options: [.append, .create, .closeOnExec],
                permissions: [.ownerReadWrite, .groupRead, .otherRead])
            try file.closeAfter {
                let end = Int(try file.seek(offset: 0, from: .end))
                // The earlier text may end within a line.
                let text = JobSummary(title, totals: totals, findings)
                    .markdown(length: max(0, JobSummary.maximumLength - end - 1))
                if !text.isEmpty { _ = try file.writeAll(((end == 0 ? "" : "\n") + text).utf8) }
            }
        } catch {
            terminal.report("cannot append to the job's summary \(path): \(error)")
        }
    }
}

/// The service that runs this process: GitHub Actions, or none.
enum Workflow {
    static let isRunning = ProcessInfo.processInfo.environment["GITHUB_ACTIONS"] == "true"

    /// The annotation for a command that cannot do its work.
    static func annotation(_ error: String) -> String {
        WorkflowCommands.annotations([ReportedFinding(title: "notify-demo", text: error)]) { _ in nil }[0]
    }

    /// The bytes, in which the service finds no commands.
    static func neutralized(_ text: String) -> [UInt8] {
        guard isRunning else { return Array(text.utf8) }
        var neutralizer = WorkflowCommands.Neutralizer()
        return neutralizer.bytes(Array(text.utf8))
    }
}
