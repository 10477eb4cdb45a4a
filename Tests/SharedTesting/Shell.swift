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
        let bash = ChildProgram(path: "bash", arguments: ["-c", line], environment: try environment())
        let result = try bash.run(input: Array(input.utf8), timeout: TestTimeout.hang)
        return Outcome(end: result.end, output: result.output, errors: result.errors)
    }

    /// Runs lines in a directory of their own, which is removed afterwards.
    package static func inDirectory(_ lines: String, input: String = "") throws -> Outcome {
        try run("cd \"$(mktemp -d)\"; trap 'rm -r \"$PWD\"' EXIT\n\(lines)", input: input)
    }

    /// What differs from this process's environment: the programs are in `PATH`, and the variables of a job of
    /// continuous integration are removed.
    package static func environment() throws -> [String: String?] {
        let own = ProcessInfo.processInfo.environment
        var environment: [String: String?] = [
            "PATH": "\(try directory()):\(own["PATH"] ?? "")", "TZ": "UTC", "NO_COLOR": nil,
        ]
        for name in own.keys where name.hasPrefix("GITHUB_") { environment.updateValue(nil, forKey: name) }
        return environment
    }

    /// The directory of the built programs: the tests are built there, too.
    package static func directory() throws -> String {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(filePath: tests).deletingLastPathComponent().path
    }
}
