import ArgumentParser
import DistributedNotifications
import Glibc
import Scenarios
import SystemPackage

/// The child process of `run observer-lifetime`, which may crash.
struct LifetimeChild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: LifetimeProgram.subcommand, shouldDisplay: false)

    @Argument var capture: ObserverCapture
    /// Of the file to record to.
    @Argument var path: String

    func run() throws {
        disableCoreDumps()
        try LifetimeProgram(capture, timeout: .seconds(10)).perform(recordingTo: path)
    }
}

/// The second process of a distributed scenario. It obeys commands on standard input until that ends.
struct DistributedChild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: DistributedProgram.subcommand, shouldDisplay: false)

    @Argument var directory: String
    /// Of the file to record to.
    @Argument var path: String

    func run() throws {
        disableCoreDumps()
        try DistributedProgram.perform(
            at: ServerDirectory(path: directory), recordingTo: path, timeout: .seconds(20), readLine: { readLine() },
            write: { _ = try FileDescriptor.standardOutput.writeAll(Array($0.utf8)) })
    }
}

/// A child process that may crash leaves no core dump.
private func disableCoreDumps() {
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
}
