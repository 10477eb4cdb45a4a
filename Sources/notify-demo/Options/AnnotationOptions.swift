import ArgumentParser
import DeliveryDiagnostics
import Foundation

/// The option for telling findings to the service that runs a command.
struct AnnotationOptions: ParsableArguments {
    enum Annotations: String, ExpressibleByArgument, CaseIterable { case none, github, auto }

    @Option(
        help: """
            Annotate the job on standard error, and append to the summary that GITHUB_STEP_SUMMARY names. auto: as github \
            if GITHUB_ACTIONS is true.
            """)
    var annotations = Annotations.auto

    /// Prints an annotation for each finding, and appends all to the job's summary, if that is wanted.
    ///
    /// - Parameter title: the command.
    func annotate(_ findings: [Finding], title: String, totals: String, _ terminal: Terminal) {
        guard annotations == .github || annotations == .auto && Workflow.isRunning else { return }
        let environment = ProcessInfo.processInfo.environment
        let sources = environment["GITHUB_WORKSPACE"].map { SourceFiles(directory: $0) }
        for line in WorkflowCommands.annotations(findings, path: { sources?.path($0) }) { terminal.annotate(line) }
        guard let path = environment["GITHUB_STEP_SUMMARY"], !path.isEmpty else { return }
        let files = FileManager.default
        if !files.fileExists(atPath: path) { _ = files.createFile(atPath: path, contents: nil) }
        do {
            let file = try FileHandle(forWritingTo: URL(filePath: path))
            let end = Int(try file.seekToEnd())
            // The earlier text may end within a line.
            let length = JobSummary.maximumLength - end - 1
            let text = JobSummary.markdown(title, totals: totals, findings, length: length)
            if !text.isEmpty { try file.write(contentsOf: Data(((end == 0 ? "" : "\n") + text).utf8)) }
        } catch {
            terminal.report("cannot append to the job's summary \(path): \(error.localizedDescription)")
        }
    }
}

/// The service that runs this process: GitHub Actions, or none.
enum Workflow {
    static let isRunning = ProcessInfo.processInfo.environment["GITHUB_ACTIONS"] == "true"

    /// Whole lines, in which the service finds no commands.
    static func neutralized(_ lines: [UInt8]) -> [UInt8] { isRunning ? WorkflowCommands.neutralized(lines) : lines }

    static func neutralized(_ line: String) -> [UInt8] { neutralized(Array(line.utf8)) }
}
