package import DeliveryRecording
internal import Foundation

/// A file of rules, one on each line.
///
///     # The window belongs to the main thread.
///     WindowWillClose on main
///     no handler on main longer than 16 ms
///
/// Text after `#` at the beginning of a line or after a space is a comment.
package enum RuleFile {
    /// - Parameter path: `-` is standard input.
    /// - Throws: `LogError` if the file cannot be read.
    package static func text(path: String) throws(LogError) -> String {
        do {
            let file = path == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
            guard let text = String(data: try file.readToEnd() ?? Data(), encoding: .utf8) else {
                throw LogError(log: path, line: nil, problem: "is not UTF-8. Give a file of rules.")
            }
            return text
        } catch let error as LogError {
            throw error
        } catch {
            throw LogError(log: path, line: nil, problem: "cannot be read. Give a file of rules.")
        }
    }

    /// - Parameter path: the path of the file; `-` is standard input.
    /// - Throws: `RuleErrors` with each line that is not a rule, or if there is no rule.
    package static func rules(_ text: String, path: String) throws(RuleErrors) -> [Rule] {
        let source = path == "-" ? "standard input" : path
        var rules: [Rule] = []
        var errors: [RuleError] = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (number, line) in zip(1..., lines) {
            let origin = path == "-" ? nil : Rule.Origin(file: path, line: number)
            do throws(RuleError) {
                guard let rule = try RuleParser.rule(line, source: "\(source):\(number)", origin: origin) else {
                    continue
                }
                rules.append(rule)
            } catch {
                errors.append(error)
            }
        }
        if rules.isEmpty, errors.isEmpty {
            errors = [
                RuleError(source: source, column: nil, problem: "has no rule. Write one on each line: Saved on main")
            ]
        }
        guard errors.isEmpty else { throw RuleErrors(errors) }
        return rules
    }
}
