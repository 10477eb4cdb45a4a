import ArgumentParser
import DeliveryDiagnostics
import Foundation

extension ObserversProgram.Kind: ExpressibleByArgument {}

/// What `bench` starts: a process in which observers are.
struct ObserversChild: ParsableCommand {
    static let name = "observers-child"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)
    /// This program as it is started for that; nil if it does not know its file.
    static var program: ChildProgram? {
        Bundle.main.executablePath.map { ChildProgram(path: $0, arguments: [name]) }
    }

    @Argument var kind: ObserversProgram.Kind
    @Argument(completion: .file()) var path: String
    @Option var core: Int?

    func run() throws {
        try ObserversProgram.perform(kind, path: path, core: core)
    }
}
