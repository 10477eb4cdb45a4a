import ArgumentParser

/// A subcommand: does its work, and says how the process is to end.
protocol Command: ParsableCommand {
    /// - Throws: trouble, which is printed on standard error.
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
            // What was printed before the trouble is still worth reading.
            try? terminal.flush()
            terminal.say("notify-demo: \(error)")
            status = .trouble
        }
        if status != .good { throw ExitCode(status.rawValue) }
    }
}
