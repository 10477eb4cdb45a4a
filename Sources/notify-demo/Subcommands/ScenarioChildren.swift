import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import DistributedNotifications
import Glibc
import Scenarios
import Synchronization
import SystemPackage

/// The child process of `run observer-lifetime`, which may crash.
struct LifetimeChild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: LifetimeProgram.subcommand, shouldDisplay: false)

    @Argument var capture: ObserverCapture

    func run() throws {
        disableCoreDumps()
        let lines = Mutex(RecordLines())
        let recorder = DeliveryRecorder { record in
            // Each record is written at once, because the process may crash. If the parent has ended, no output is
            // needed.
            _ = lines.withLock { lines in try? FileDescriptor.standardOutput.writeAll(lines.bytes(of: record)) }
        }
        try LifetimeProgram(capture, recorder: recorder, timeout: .seconds(10)).perform()
    }
}

/// The second process of a distributed scenario. It obeys commands on standard input until that ends.
struct DistributedChild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: DistributedProgram.subcommand, shouldDisplay: false)

    @Argument var directory: String

    func run() throws {
        disableCoreDumps()
        try DistributedProgram.perform(
            at: ServerDirectory(path: directory), timeout: .seconds(20), readLine: { readLine() },
            write: { _ = try FileDescriptor.standardOutput.writeAll($0) })
    }
}

/// A child process that may crash leaves no core dump.
private func disableCoreDumps() {
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
}
