import ArgumentParser
import DeliveryDiagnostics
import Synchronization
import SystemPackage

/// What `run observer-lifetime` starts: a process that may not survive.
struct LifetimeChild: ParsableCommand {
    static let name = "observer-lifetime-child"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    @Argument var capture: ObserverCapture

    func run() throws {
        CoreFile.forbid()
        let lines = Mutex(RecordLines())
        let recorder = DeliveryRecorder { record in
            // At once, since there may be no later. Who started this process has gone if nobody reads it.
            _ = lines.withLock { lines in
                try? FileDescriptor.standardOutput.writeAll(lines.bytes(of: record))
            }
        }
        try LifetimeProgram.perform(capture, recorder: recorder, limit: .seconds(10))
    }
}
