public import ArgumentParser
public import DeliveryDiagnostics
import SystemPackage

extension TrialSide: ExpressibleByArgument {}

/// What `doctor` starts: a process that may not survive.
struct DoctorChild: ParsableCommand {
    static let name = "doctor-child"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    @Argument var question: String
    @Argument var side: TrialSide

    func run() throws {
        CoreFile.forbid()
        try MainActor.assumeIsolated {
            try TrialProgram.perform(question, side) { event in
                // At once, since there may be no later. Who started this process has gone if nobody reads it.
                _ = try? FileDescriptor.standardOutput.writeAll(Array("\(event)\n".utf8))
            }
        }
    }
}
