package import ChildProcesses
internal import Foundation

/// Runs shell lines in which the programs of this package are found by their names.
package enum Shell {
    package struct Outcome: Sendable {
        package var end: ChildProcess.End
        package var output: String
        package var errors: String
    }

    /// - Parameter input: the contents of standard input.
    package static func run(_ line: String, input: String = "") throws -> Outcome {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let bash = ChildProgram(
            path: "bash", arguments: ["-c", line],
            environment: ["PATH": "\(try directory()):\(path)", "TZ": "UTC", "NO_COLOR": nil])
        let result = try bash.run(input: Array(input.utf8), timeout: TestTimeout.hang)
        return Outcome(end: result.end, output: result.output, errors: result.errors)
    }

    /// The directory of the built programs: the tests are built there, too.
    package static func directory() throws -> String {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(filePath: tests).deletingLastPathComponent().path
    }
}
