import ArgumentParser
import DeliveryDiagnostics
import TerminalText

/// A subcommand: its properties are the parsed arguments, and `perform` calls a library and prints the result.
protocol Command: ParsableCommand {
    /// - Throws: any error. It is printed on standard error. The exit status is 64 for a usage error, otherwise 2.
    func perform(_ terminal: Terminal) throws -> ExitStatus
}

extension Command {
    func run() throws {
        let terminal = try Terminal(command: Self._commandName)
        var status = ExitStatus.error
        do {
            status = try perform(terminal)
            terminal.progressLine.clear()
            try terminal.standardOutput.flush()
        } catch let code as ExitCode {
            throw code
        } catch {
            // Output from before the error is still useful.
            try? terminal.standardOutput.flush()
            terminal.say("notify-demo: \(error)")
            // Also if only the end of the output could not be written.
            status = .error
            // A usage error in a file, such as a rule that cannot be read.
            if error is ValidationError { throw ExitCode.validationFailure }
        }
        if status != .success { throw ExitCode(status.rawValue) }
    }
}

/// The exit statuses that the help texts document.
enum ExitStatus: Int32 {
    case success = 0
    /// An expectation failed, runs differ, or something was found.
    case failed = 1
    /// The command could not do its work.
    case error = 2
}

/// Why a command cannot do its work: the failure, its cause, and what to do.
struct CommandError: Error, CustomStringConvertible {
    var description: String
}

extension ValidationError {
    /// Turns any error of a check of arguments into a usage error.
    static func check(_ body: () throws -> Void) throws {
        do { try body() } catch { throw ValidationError("\(error)") }
    }

    /// Checks the range of an option's value.
    static func check<Value: Comparable>(_ option: String, _ value: Value?, from minimum: Value, to maximum: Value)
        throws
    {
        guard let value, !(minimum...maximum).contains(value) else { return }
        let range = maximum as? Int == .max ? "at least \(minimum)" : "from \(minimum) to \(maximum)"
        throw ValidationError("\(option) is \(value); it must be \(range).")
    }
}
