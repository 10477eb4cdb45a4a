internal import ArgumentParser
internal import DeliveryDiagnostics
package import PlatformExamination
import SystemPackage

extension Question.Side: ExpressibleByArgument {}

/// The child process of `doctor`, which answers one question and may crash.
struct DoctorChild: ParsableCommand {
    static let name = "doctor-child"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    @Argument var question: String
    @Argument var side: Question.Side

    func run() throws {
        ResourceLimit.disableCoreDumps()
        try MainActor.assumeIsolated {
            try Question.ask(question, side) { event in
                // Each event is written at once, because the process may crash. If the parent has ended, no output is
                // needed.
                _ = try? FileDescriptor.standardOutput.writeAll(Array("\(event)\n".utf8))
            }
        }
    }
}
