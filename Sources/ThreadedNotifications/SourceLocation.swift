/// Where in the source something is.
public struct SourceLocation: Sendable, Hashable {
    /// As `#fileID` has it: the module and the file.
    public var file: String
    /// From 1; 0 if it is not known.
    public var line: Int

    public init(_ file: String, _ line: Int) {
        self.file = file
        self.line = line
    }
}

extension SourceLocation: CustomStringConvertible {
    /// `Demo/main.swift:12`.
    public var description: String { line == 0 ? file : "\(file):\(line)" }
}
