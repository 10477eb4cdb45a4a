public import ArgumentParser
public import DeliveryDiagnostics
import SystemPackage

extension QueueKind: ExpressibleByArgument {}

/// What a comparison of queues starts: a process that may not survive.
struct QueuePromiseChild: ParsableCommand {
    static let name = "queue-promise-child"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    @Argument var promise: String
    @Argument var queue: QueueKind

    func run() throws {
        CoreFile.forbid()
        try MainActor.assumeIsolated {
            try QueuePromiseProgram.perform(promise, queue) { event in
                // At once, since there may be no later. Who started this process has gone if nobody reads it.
                _ = try? FileDescriptor.standardOutput.writeAll(Array("\(event)\n".utf8))
            }
        }
    }
}
