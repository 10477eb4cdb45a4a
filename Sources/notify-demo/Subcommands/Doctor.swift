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
            A line tells for each part whether it is there, and what to do if it is not: the library that records \
            programs, with which a small program is recorded; llvm-symbolizer, which finds the source locations of \
            calls; and the server of distributed notifications, which need not run.

            EXAMPLES
              notify-demo doctor
              notify-demo doctor --json | jq -r 'select(.result != "ok") | .text'
            """)

    @Flag(help: "Print each part as JSON, one per line: part, result (ok, absent or failed) and text.")
    var json = false

    @OptionGroup var server: ServerOption

    @Option(help: ColorChoice.help)
    var color = ColorChoice.auto

    private struct Part: Encodable {
        enum Result: String, Encodable { case ok, absent, failed }

        var part: String
        var result: Result
        var text: String

        /// - Parameter examine: returns what there is, and what to do if it is absent; throws an error if it does not
        ///   work.
        init(_ part: String, orElse remedy: String = "", _ examine: () throws -> String?) {
            self.part = part
            do {
                let found = try examine()
                (result, text) = (found == nil ? .absent : .ok, found ?? remedy)
            } catch {
                (result, text) = (.failed, "\(error)")
            }
        }
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        terminal.progressLine.showWhenDue("recording a program")
        let directory = server.directory
        let parts = [
            Part("recording") { try Self.recording() },
            Part(
                "sources",
                orElse: """
                    llvm-symbolizer is neither in PATH nor beside swift, so the source locations of calls to Foundation \
                    stay unknown. Add the directory of Swift's toolchain to PATH.
                    """
            ) { Symbolizer().map { "source locations are found with \($0.path)" } },
            Part("server", orElse: ServerOption.noServer(in: directory)) {
                try DistributedCenter.status(of: directory).map { status in
                    let program = try? FileManager.default.destinationOfSymbolicLink(
                        atPath: "/proc/\(status.process)/exe")
                    return
                        "process \(status.process), \(program ?? "of an unknown program"), serves at \(directory.path) "
                        + "with \(ProtocolVersions.supported) of the protocol"
                }
            },
        ]
        terminal.progressLine.clear()
        if json {
            try terminal.print(parts.map { try JSONText.of($0) })
        } else {
            let palette = terminal.palette
            let rows = parts.map { part in
                let result = part.result.rawValue
                let shown = palette.result(result, isGood: part.result == .ok)
                return [part.result == .absent ? palette.plain(result) : shown, part.part, palette.plain(part.text)]
            }
            try terminal.print(shown: Table([.text(), .text(), .wrapped()], rows: rows).lines(width: terminal.width))
        }
        return parts[0].result == .ok ? .success : .error
    }

    /// Records a process of this program, which posts one notification.
    private static func recording() throws -> String {
        let file = FileManager.default.temporaryDirectory.appending(path: "notify-demo-doctor-\(getpid()).jsonl").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        let library = try RecordedProgram.library()
        let program = Bundle.main.executablePath ?? CommandLine.arguments[0]
        let run = try RecordedProgram.run(
            [program, DoctorChild._commandName], recordingTo: file, timeout: .seconds(30))
        if run.end == .exit(0), !run.files.isEmpty { return "a program was recorded with \(library)" }
        throw CommandError(
            description: "a program in which \(library) was preloaded recorded \(run.files.records) records and ended "
                + "with \(run.end). Build or install this version again; LD_DEBUG=libs shows what the linker loads.")
    }
}

/// The program that `doctor` records.
struct DoctorChild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "doctor-child", shouldDisplay: false)

    func run() { NotificationCenter.default.post(name: Notification.Name("Recorded"), object: nil) }
}
