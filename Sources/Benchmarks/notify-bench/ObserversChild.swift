import ArgumentParser
import DeliveryBenchmarks

extension ObserversProgram.Kind: ExpressibleByArgument {}

/// A process that holds observers of a distributed workload. `notify-bench` starts itself for it.
struct ObserversChild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: ObserversProgram.subcommand)

    @Argument var kind: ObserversProgram.Kind
    @Argument(completion: .file()) var path: String
    @Option var observer: Int?
    @Option var core: Int?

    func run() throws {
        try ObserversProgram.perform(kind, path: path, observer: observer, core: core)
    }
}
