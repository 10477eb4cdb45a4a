import ArgumentParser
import ChildProcesses
import DeliveryDiagnostics
import DistributedNotifications
import Foundation
import TerminalText

struct Doctor: Command {
    static let configuration = CommandConfiguration(
        abstract: "Examine whether programs can be recorded here, and what else is installed.",
        discussion: """
            A line tells for each part whether it is there, and what to do if it is not. The server of distributed \
            notifications need not run.
            """)

    @OptionGroup var server: ServerOption

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        terminal.progressLine.showWhenDue("recording a program")
        let directory = server.directory
        let recording = Result { try Self.recording() }
        let parts: [(name: String, found: Result<String?, any Error>, remedy: String)] = [
            ("recording", recording.map { $0 }, ""),
            (
                "sources", .success(Symbolizer().map { "source locations are found with \($0.path)" }),
                """
                llvm-symbolizer is not in PATH, so the source locations of calls to Foundation stay unknown. Add the \
                directory of Swift's toolchain to PATH.
                """
            ),
            (
                "server",
                Result {
                    try DistributedCenter.status(of: directory).map { status in
                        "process \(status.process) serves at \(directory.path) with version \(Wire.version) of the "
                            + "protocol"
                    }
                }, ServerOption.noServer(in: directory)
            ),
        ]
        terminal.progressLine.clear()
        let palette = terminal.palette
        let rows = parts.map { part in
            switch part.found {
            case .success(let text?): [palette.good("ok"), part.name, palette.plain(text)]
            case .success(nil): ["absent", part.name, palette.plain(part.remedy)]
            case .failure(let error): [palette.bad("failed"), part.name, palette.plain("\(error)")]
            }
        }
        try terminal.print(shown: Table([.text(), .text(), .wrapped()], rows: rows).lines(width: terminal.width))
        return (try? recording.get()) == nil ? .error : .success
    }

    /// Records a process of this program, which posts one notification.
    private static func recording() throws -> String {
        let file = FileManager.default.temporaryDirectory.appending(path: "notify-demo-doctor-\(getpid()).jsonl").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        let library = try RecordedProgram.library()
        let program = Bundle.main.executablePath ?? CommandLine.arguments[0]
        let run = try RecordedProgram.run(
            [program, NotifyDemo.posts], recordingTo: file, timeout: .seconds(30))
        if run.end == .exit(0), !run.files.isEmpty { return "a program was recorded with \(library)" }
        throw CommandError(
            description: "a program in which \(library) was preloaded recorded \(run.files.records) records and ended "
                + "with \(run.end). Build or install this version again; LD_DEBUG=libs shows what the linker loads.")
    }
}
