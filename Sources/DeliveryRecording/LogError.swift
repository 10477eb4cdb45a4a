internal import TerminalText

/// A problem of a log or a recording: its file and line, and the effect or the remedy.
public struct LogError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file's path, or `standard input`.
    public var log: String
    /// From 1; nil if the problem concerns the whole file.
    public var line: Int?
    /// The problem and its remedy.
    public var problem: String

    package init(log: String, line: Int?, problem: String) {
        self.log = log
        self.line = line
        self.problem = problem
    }

    public var description: String {
        let log = Excerpt.of(log, length: 1000)
        return line.map { "\(log):\($0): \(problem)" } ?? "\(log): \(problem)"
    }
}
