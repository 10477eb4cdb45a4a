import ArgumentParser
import DeliveryDiagnostics
import DistributedNotifications
import Scenarios
import SystemPackage

/// The second process of a distributed scenario. It obeys commands on standard input until that ends.
struct DistributedChild: ParsableCommand {
    static let name = DistributedProgram.subcommand
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    @Argument var directory: String

    func run() throws {
        ResourceLimit.disableCoreDumps()
        try DistributedProgram.perform(
            at: ServerDirectory(path: directory), timeout: .seconds(20), readLine: { readLine() },
            write: { _ = try FileDescriptor.standardOutput.writeAll($0) })
    }
}
