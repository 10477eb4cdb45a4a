public import ArgumentParser
public import DeliveryDiagnostics
import Foundation
import ThreadedNotifications

extension RecordedEnd: ExpressibleByArgument {}

/// What the tests of `record` start: a process that may not survive.
struct RecordingChild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "recording-child", shouldDisplay: false)

    @Argument var end: RecordedEnd

    func run() throws {
        CoreFile.forbid()
        try end.perform(
            recording: ProcessInfo.processInfo.environment[DeliveryRecording.environmentVariable] ?? "")
    }
}
