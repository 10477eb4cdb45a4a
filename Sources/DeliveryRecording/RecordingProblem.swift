/// Something that is wrong with a recording's file. What could be read is kept all the same.
public struct RecordingProblem: Sendable, Hashable, CustomStringConvertible {
    /// The file's path.
    public var source: String
    /// From 1; nil if it is about the file as a whole.
    public var line: Int?
    /// What is wrong, and what became of it.
    public var text: String

    public var description: String { line.map { "\(source):\($0): \(text)" } ?? "\(source): \(text)" }
}
