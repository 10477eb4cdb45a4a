/// A problem in the file of a recording. The rest of the file is read nevertheless.
public struct RecordingProblem: Sendable, Hashable, CustomStringConvertible {
    /// The path of the file.
    public var source: String
    /// The number of the line, from 1; nil if the problem concerns the whole file.
    public var line: Int?
    /// The problem, and its effect on what was read.
    public var text: String

    public var description: String { line.map { "\(source):\($0): \(text)" } ?? "\(source): \(text)" }
}
