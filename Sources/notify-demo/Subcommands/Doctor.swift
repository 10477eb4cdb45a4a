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

            With --json each line is a part: part, result (ok, absent or failed) and text.

            EXAMPLES
              notify-demo doctor
              notify-demo doctor --json | jq -r 'select(.result != "ok") | .text'

            EXIT STATUS
              0 programs can be recorded, 2 they cannot
            """)

    @Flag(help: "Print each part as JSON, one per line.")
    var json = false

    @OptionGroup var server: ServerOption

    @Option(help: ColorChoice.help)
    var color = ColorChoice.auto

    private struct Part: Encodable {
        enum Result: String, Encodable { case ok, absent, failed }

        var part: String
        var result: Result
        var text: String
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        terminal.progressLine.showWhenDue("recording a program")
        let recording = recording()
        let parts = [recording, symbolizer, serverPart]
        terminal.progressLine.clear()
        if json {
            try terminal.print(parts.map { try JSONText.of($0) })
        } else {
            let rows = parts.map { part in
                let result = part.result.rawValue
                return [
                    part.result == .absent
                        ? terminal.palette.plain(result) : terminal.palette.result(result, isGood: part.result == .ok),
                    part.part, terminal.palette.plain(part.text),
                ]
            }
            try terminal.print(shown: Table([.text(), .text(), .wrapped()], rows: rows).lines(width: terminal.width))
        }
        return recording.result == .ok ? .success : .error
    }

    // MARK: Parts

    /// Records a process of this program, which posts one notification.
    private func recording() -> Part {
        let name = "notify-demo-doctor-\(getpid()).jsonl"
        let file = FileManager.default.temporaryDirectory.appending(component: name).path(percentEncoded: false)
        defer { try? FileManager.default.removeItem(atPath: file) }
        do {
            let library = try RecorderLibrary.path()
            let program = Bundle.main.executablePath ?? CommandLine.arguments[0]
            let run = try RecordedProgram.run(
                [program, DoctorChild.name], recordingTo: file, timeout: .seconds(30))
            let files = run.files
            if run.end == .exit(0), !files.isEmpty {
                return Part(part: "recording", result: .ok, text: "a program was recorded with \(library)")
            }
            let problem = files.problem.map { ": \($0)" } ?? ""
            return Part(
                part: "recording", result: .failed,
                text: "a program in which \(library) was preloaded recorded \(files.records) records and ended with "
                    + "\(run.end)\(problem). Build or install this version again; LD_DEBUG=libs shows what the linker loads."
            )
        } catch {
            return Part(part: "recording", result: .failed, text: "\(error)")
        }
    }

    private var symbolizer: Part {
        guard let path = Symbolizer()?.path else {
            return Part(
                part: "sources", result: .absent,
                text: "llvm-symbolizer is neither in PATH nor beside swift, so the source locations of calls to "
                    + "Foundation stay unknown. Add the directory of Swift's toolchain to PATH.")
        }
        return Part(part: "sources", result: .ok, text: "source locations are found with \(path)")
    }

    private var serverPart: Part {
        let directory = server.directory
        do {
            guard let status = try DistributedCenter.status(of: directory) else {
                return Part(
                    part: "server", result: .absent,
                    text: "no server runs at \(directory.path). The first process that posts or observes starts one.")
            }
            let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(status.process)/exe")
            return Part(
                part: "server", result: .ok,
                text: "process \(status.process), \(program ?? "of an unknown program"), serves at \(directory.path) "
                    + "with \(ProtocolVersions.supported) of the protocol")
        } catch {
            return Part(part: "server", result: .failed, text: "\(error)")
        }
    }
}

/// The program that `doctor` records.
struct DoctorChild: ParsableCommand {
    static let name = "doctor-child"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    func run() { NotificationCenter.default.post(name: Notification.Name(Self.name), object: nil) }
}
