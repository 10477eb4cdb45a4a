import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import Foundation

extension RecordedEnd: ExpressibleByArgument {}

/// The child process of the tests of `record`, which may crash.
struct RecordingChild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "recording-child", shouldDisplay: false)

    @Argument var end: RecordedEnd

    func run() throws {
        CoreFile.disable()
        try end.perform(
            recording: ProcessInfo.processInfo.environment[ProcessRecording.environmentVariable] ?? "")
    }
}
