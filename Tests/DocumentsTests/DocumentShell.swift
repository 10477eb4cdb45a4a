import ChildProcesses
import Foundation
import SharedTesting

/// Runs the commands of a document in a directory of its own, with the programs that were built with these tests.
struct DocumentShell {
    /// The working directory, which is also the runtime directory of a server.
    private let directory = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString.prefix(8))

    /// The kitchen's recording or picture, by extension.
    static func recording(_ type: String) -> URL {
        Repository.root.appending(path: "Sources/DeliveryRecording/DeliveryRecording.docc/kitchen.\(type)")
    }

    init() throws {
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try FileManager.default.copyItem(at: Self.recording("jsonl"), to: directory.appending(path: "kitchen.jsonl"))
        for name in ["plain.swift", "settings.swift"] {
            try FileManager.default.copyItem(
                at: Repository.root.appending(path: "Sources/Examples/plain/\(name)"),
                to: directory.appending(path: name))
        }
    }

    /// Runs one line, for a minute at most.
    func run(_ command: String) throws -> (output: String, errors: String) {
        let shell = ChildProgram(
            path: "bash",
            arguments: ["-c", "cd '\(directory.path)'; \(command.replacing(#/^swift run /#, with: ""))"],
            environment: try Shell.environment().merging(["XDG_RUNTIME_DIR": directory.path]) { $1 })
        let result = try shell.run(timeout: .seconds(60))
        // Outputs of a new recording depend on the load of the machine: the next commands read the one beside the
        // picture.
        if command.hasPrefix("notify-demo record -- kitchen") {
            let file = directory.appending(path: "notifications.jsonl")
            try FileManager.default.removeItem(at: file)
            try FileManager.default.copyItem(at: Self.recording("jsonl"), to: file)
        }
        return (result.output.replacing(directory.path, with: "/run/user/1000"), result.errors)
    }

    /// Removes the directory, which ends a server that a command has started there.
    func end() throws {
        try FileManager.default.removeItem(at: directory)
    }
}
