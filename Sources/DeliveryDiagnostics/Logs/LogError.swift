/// Why a log could not be read: which file and line, what is wrong, what was expected.
public struct LogError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file's path, or `standard input`.
    public var log: String
    /// From 1; nil when it is about the file as a whole.
    public var line: Int?
    /// What is wrong, and what to do.
    public var problem: String

    public var description: String {
        line.map { "\(log):\($0): \(problem)" } ?? "\(log): \(problem)"
    }
}
