import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import Foundation
import Scenarios
import SystemPackage
import TerminalText

extension ColorChoice: ExpressibleByArgument {
    static let help = ArgumentHelp("Colour the output. auto: on a terminal, unless NO_COLOR is set.")
}

/// The standard streams of a command: data goes to standard output, messages and progress to standard error.
struct Terminal {
    let standardOutput: Output
    let palette: Palette
    private let messagePalette: Palette
    private let isTerminal = TerminalStream.standardOutput.isTerminal
    let progressLine: ProgressLine

    init(command: String, color: ColorChoice, output: String = "-") throws(OutputError) {
        standardOutput = try Output(output)
        palette = Palette(color, for: .standardOutput)
        messagePalette = Palette(color, for: .standardError)
        progressLine = ProgressLine(command)
    }

    /// The columns of lines that wrap: the terminal's, or unlimited if the output is not a terminal.
    var width: Int { TerminalStream.standardOutput.width ?? .max }

    /// The output for the option `-o`: nil, `-` and `/dev/stdout` are standard output.
    func output(to path: String?) throws(OutputError) -> Output {
        guard let path, !Output.isStandardOutput(path) else { return standardOutput }
        return try Output(path)
    }

    /// Prints lines of data.
    func print(_ lines: String...) throws(OutputError) { try print(lines) }

    func print(_ lines: [String]) throws(OutputError) { try print(shown: lines.map(palette.plain)) }

    /// Prints lines of a palette.
    func print(shown lines: [String]) throws(OutputError) { for line in lines { try standardOutput.print(line) } }

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

    /// Shows the progress on standard error if that is a terminal and the command has run for a second.
    /// Lines of data on a terminal show the progress themselves.
    func show(progress text: @autoclosure () -> String) {
        if !isTerminal || !standardOutput.hasWritten { progressLine.show(text()) }
    }

    /// The line of an expectation and its result; `isMessage` is true for standard error.
    func line(of expectation: Expectation, in scenario: String? = nil, isMessage: Bool = false) -> String {
        let palette = isMessage ? messagePalette : palette
        let claim = (scenario.map { "\($0): " } ?? "") + expectation.claim
        return expectation.failure.map { "\(palette.bad("FAILED"))  \(palette.plain("\(claim): \($0)"))" }
            ?? "\(palette.good("ok"))      \(palette.plain(claim))"
    }

    /// The lines of the results of rules, and their totals; `isMessage` is true for standard error.
    func lines(of report: RuleReport, isMessage: Bool = false) -> [String] {
        let palette = isMessage ? messagePalette : palette
        let stream = isMessage ? TerminalStream.standardError : .standardOutput
        return report.text(width: stream.width ?? .max).map { line in
            guard let result = line.result else { return palette.plain(line.text) }
            return palette.result(result, isGood: result == "ok")
                + palette.plain(String(line.text.dropFirst(result.count)))
        } + [report.totals]
    }
}
