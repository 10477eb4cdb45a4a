package import DeliveryRecording
internal import Foundation
internal import SystemPackage
internal import TerminalText

/// A file of rules, one on each line.
///
///     # The window belongs to the main thread.
///     WindowWillClose on main
///     no handler on main longer than 16 ms
///
/// Text after `#` at the beginning of a line or after a space is a comment.
package enum RuleFile {
    /// - Parameters:
    ///   - path: `-` is standard input.
    ///   - contents: what the file should have.
    /// - Throws: `LogError` if the file cannot be read.
    package static func text(path: String, of contents: String = "rules") throws(LogError) -> String {
        let problem: String
        do {
            let file = try path == "-" ? .standardInput : FileDescriptor.open(FilePath(path), .readOnly)
            defer { if path != "-" { try? file.close() } }
            var (bytes, chunk) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 14))
            while case let count = try chunk.withUnsafeMutableBytes({ try file.read(into: $0) }), count > 0 {
                bytes += chunk.prefix(count)
            }
            if let text = String(validating: bytes, as: UTF8.self) { return text }
            problem = "is not UTF-8"
        } catch {
            problem = "cannot be read: \(error)"
        }
        throw LogError(log: path, line: nil, problem: "\(problem). Give a file of \(contents).")
    }

    /// - Parameter path: the path of the file; `-` is standard input.
    /// - Throws: `RuleErrors` with each line that is not a rule, or if there is no rule.
    package static func rules(_ text: String, path: String) throws(RuleErrors) -> [Rule] {
        let source = path == "-" ? "standard input" : path
        var (rules, errors): ([Rule], [RuleError]) = ([], [])
        for (number, line) in zip(1..., text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)) {
            let origin = path == "-" ? nil : Rule.Origin(file: path, line: number)
            do throws(RuleError) {
                if let rule = try RuleParser.rule(line, source: "\(source):\(number)", origin: origin) {
                    rules.append(rule)
                }
            } catch {
                errors.append(error)
            }
        }
        if rules.isEmpty, errors.isEmpty {
            let problem = "has no rule. Write one on each line: Saved on main"
            errors = [RuleError(source: source, column: nil, problem: problem)]
        }
        guard errors.isEmpty else { throw RuleErrors(errors) }
        return rules
    }
}

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
