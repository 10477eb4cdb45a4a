import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import Scenarios
import Synchronization
import SystemPackage

/// The child process of `run observer-lifetime`, which may crash.
struct LifetimeChild: ParsableCommand {
    static let name = LifetimeProgram.subcommand
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    @Argument var capture: ObserverCapture

    func run() throws {
        ResourceLimit.disableCoreDumps()
        let lines = Mutex(RecordLines())
        let recorder = DeliveryRecorder { record in
            // Each record is written at once, because the process may crash. If the parent has ended, no output is
            // needed.
            _ = lines.withLock { lines in try? FileDescriptor.standardOutput.writeAll(lines.bytes(of: record)) }
        }
        try LifetimeProgram(capture, recorder: recorder, timeout: .seconds(10)).perform()
    }
}
