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
        let (directory, palette) = (server.directory, terminal.palette)
        var status = ExitStatus.success
        let sources = """
            llvm-symbolizer is not in PATH, so the source locations of calls to Foundation stay unknown. Add the \
            directory of Swift's toolchain to PATH.
            """
        let serving = {
            try DistributedCenter.status(of: directory)
                .map { "process \($0.process) serves at \(directory.path) with version \(Wire.version)" }
        }
        let parts: [(name: String, remedy: String, find: () throws -> String?)] = [
            ("recording", "", Self.recording),
            ("sources", sources, { Symbolizer.installed.map { "source locations are found with \($0.path)" } }),
            ("server", ServerOption.noServer(in: directory), serving),
        ]
        let rows = parts.map { part in
            do {
                let found = try part.find()
                let state = found == nil ? "absent" : palette.good("ok")
                return [state, part.name, palette.plain(found ?? part.remedy)]
            } catch {
                status = .error
                return [palette.bad("failed"), part.name, palette.plain("\(error)")]
            }
        }
        try terminal.print(shown: Table([.text(), .text(), .wrapped()], rows: rows).lines(width: terminal.width))
        return status
    }

    /// Records a process of this program, which posts one notification.
    private static func recording() throws -> String {
        let file = FileManager.default.temporaryDirectory.appending(path: "notify-demo-doctor-\(getpid()).jsonl").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        let library = try RecordedProgram.library()
        let run = try RecordedProgram.run(
            [ChildProgram.own().path, NotifyDemo.posts], recordingTo: file, timeout: .seconds(30))
        if run.end == .exit(0), !run.files.isEmpty { return "a program was recorded with \(library)" }
        throw CommandError(
            description: "a program in which \(library) was preloaded recorded \(run.files.records) records and ended "
                + "with \(run.end). Build or install this version again; LD_DEBUG=libs shows what the linker loads.")
    }
}
