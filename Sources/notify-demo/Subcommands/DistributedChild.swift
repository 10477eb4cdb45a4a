import ArgumentParser
import DeliveryDiagnostics
import DistributedNotifications
import SystemPackage

/// What the distributed scenarios start: the second process, which does what its standard input says until that ends.
struct DistributedChild: ParsableCommand {
    static let name = "distributed-child"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    @Argument var directory: String

    func run() throws {
        CoreFile.forbid()
        try DistributedProgram.perform(
            at: ServerPlace(directory: directory), limit: .seconds(20), readLine: { readLine() },
            write: { _ = try FileDescriptor.standardOutput.writeAll($0) })
    }
}
