internal import TerminalText

/// A rule that cannot be read: where, what was expected, and the nearest correct spelling.
package struct RuleError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file and the line, or the option with the rule.
    package var source: String
    /// The position in the line or in the option's rule, in characters from 1; nil if it concerns all of it.
    package var column: Int?
    package var problem: String

    package var description: String { "\(ShownText.escaped(source))\(column.map { ":\($0)" } ?? ""): \(problem)" }
}

/// Every rule of a file that cannot be read.
package struct RuleErrors: Error, Hashable, Sendable, CustomStringConvertible {
    package var errors: [RuleError]

    package init(_ errors: [RuleError]) { self.errors = errors }

    package var description: String { errors.map(\.description).joined(separator: "\n") }
}
