internal import TerminalText

/// A problem in the file of a recording. The rest of the file is read nevertheless.
public struct RecordingProblem: Sendable, Hashable, CustomStringConvertible {
    public enum Kind: Sendable, Hashable {
        /// The file ends within a line.
        case truncatedLine
        /// A line is not a header, a thread line or a record.
        case unreadableLine
        /// Records are missing, repeated or out of order.
        case numbering
        /// Records have no header.
        case noHeader
        /// Records have another version of the schema.
        case otherVersion
    }

    public var kind: Kind
    /// The path of the file.
    public var source: String
    /// The number of the line, from 1; nil if the problem concerns the whole file.
    public var line: Int?
    /// The problem, and its effect on what was read.
    public var text: String

    public var description: String {
        let source = Excerpt.of(source, length: 1000)
        return line.map { "\(source):\($0): \(text)" } ?? "\(source): \(text)"
    }
}
