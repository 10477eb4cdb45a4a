import ArgumentParser

/// A subcommand that does its work and returns the exit status of the process.
protocol Command: ParsableCommand {
    /// - Throws: any error. It is printed on standard error, and the exit status is 2.
    func perform(_ terminal: inout Terminal) throws -> ExitStatus
}

extension Command {
    func run() throws {
        var terminal = Terminal()
        var status: ExitStatus
        do {
            status = try perform(&terminal)
            try terminal.flush()
        } catch let code as ExitCode {
            throw code
        } catch {
            // Output from before the error is still useful.
            try? terminal.flush()
            terminal.say("notify-demo: \(error)")
            status = .error
        }
        if status != .success { throw ExitCode(status.rawValue) }
    }
}
