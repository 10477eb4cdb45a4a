import Foundation
import Subprocess
import SystemPackage

/// Runs shell lines in which `notify-demo` is the program under test.
enum Shell {
    struct Outcome {
        var status: TerminationStatus
        var output: String
        var errors: String
    }

    /// - Parameter input: the contents of standard input.
    static func run(_ line: String, input: String = "") async throws -> Outcome {
        // A file instead of a pipe, because the program may end before it has read everything.
        let file = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        try Data(input.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let result = try await Subprocess.run(
            .name("bash"), arguments: ["-c", "exec < '\(file.path)'; \(line)"],
            environment: .inherit.updating(["PATH": "\(try directory()):\(path)", "TZ": "UTC", "NO_COLOR": nil]),
            output: .string(limit: 1 << 24), error: .string(limit: 1 << 20))
        return Outcome(
            status: result.terminationStatus, output: result.standardOutput, errors: result.standardError)
    }

    /// The directory of the built programs: the tests are built there, too.
    private static func directory() throws -> String {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return FilePath(tests).removingLastComponent().string
    }
}
