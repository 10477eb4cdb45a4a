import ArgumentParser
import DeliveryDiagnostics
import Scenarios
import SystemPackage
import TerminalText

/// The standard streams of a command: data goes to standard output, messages and progress to standard error.
struct Terminal {
    let standardOutput: Output
    let palette = Palette(for: .standardOutput)
    let messagePalette = Palette(for: .standardError)
    let progressLine: ProgressLine

    init(command: String, output: String = "-") throws(CommandError) {
        standardOutput = try Output(output)
        progressLine = ProgressLine(command)
    }

    /// The columns of lines that wrap: the terminal's, or unlimited if the output is not a terminal.
    var width: Int { TerminalStream.standardOutput.width ?? .max }

    /// The output for the option `-o`: nil, `-` and `/dev/stdout` are standard output.
    ///
    /// - Parameter input: the file that the command has read, which is not overwritten.
    func output(to path: String?, reading input: String? = nil) throws -> Output {
        guard let path, !Output.isStandardOutput(path) else { return standardOutput }
        if let input, Output.isFile(path, sameAs: input) {
            throw ValidationError("\(ShownText.name(path)) is the recording that is read. Name another output.")
        }
        return try Output(path)
    }

    /// Prints lines of data.
    func print(_ lines: String...) throws(CommandError) { try print(lines) }

    func print(_ lines: [String]) throws(CommandError) { try print(shown: lines.map(palette.plain)) }

    /// Prints lines of a palette.
    func print(shown lines: [String]) throws(CommandError) { for line in lines { try standardOutput.print(line) } }

    /// Prints a line of data at once, also while the command goes on.
    var showsAtOnce: @Sendable (String) -> Void {
        { [progressLine] line in
            progressLine.clear()
            // Nobody may read it. The expectations are still checked.
            _ = try? FileDescriptor.standardOutput.writeAll(Workflow.neutralized("\(line)\n"))
        }
    }

    /// Prints a message at once.
    func say(_ line: String) { say(shown: messagePalette.plain(line)) }

    /// Prints a message of a palette.
    func say(shown line: String) { write(Workflow.neutralized("\(line)\n")) }

    /// Prints a command for the service that runs the job.
    func annotate(_ line: String) { write(Array("\(line)\n".utf8)) }

    private func write(_ message: [UInt8]) {
        progressLine.clear()
        // If standard error is closed, nothing more can be reported.
        _ = try? FileDescriptor.standardError.writeAll(message)
    }

    /// Prints a message of the program about its work, in one line.
    func report(_ message: String) { say("notify-demo: \(ShownText.escaped(message))") }
}

extension Palette {
    /// The line of an expectation and its result.
    func line(of expectation: Expectation, in scenario: String? = nil) -> String {
        let claim = (scenario.map { "\($0): " } ?? "") + expectation.claim
        return expectation.failure.map { "\(bad("FAILED"))  \(plain("\(claim): \($0)"))" }
            ?? "\(good("ok"))      \(plain(claim))"
    }
}
