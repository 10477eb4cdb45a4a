internal import DeliveryRecording
internal import TerminalText

/// A regular expression that is matched against lines of a log.
///
/// A match cannot be interrupted, so it is limited by what it reads, at most 4 KiB of a line, and refused afterwards:
/// an expression that takes longer than 100 ms for a line, twice, is an error. One that backtracks without end is ended
/// by the user.
package struct LogPattern {
    /// An expression that cannot be used: a usage error.
    package struct Refusal: Error, CustomStringConvertible {
        package let description: String
        init(_ description: String) { self.description = description }
    }

    private static let longestText = 4096
    private static let longestMatch = Duration.milliseconds(100)

    let source: String
    private let regex: Regex<AnyRegexOutput>
    private let option: String

    /// - Parameter option: the option that gives the expression, for error messages.
    package init(_ source: String, option: String) throws(Refusal) {
        (self.source, self.option) = (source, option)
        do {
            regex = try Regex(source).matchingSemantics(.unicodeScalar).dotMatchesNewlines()
        } catch {
            throw Refusal("\(option): \"\(ShownText.escaped(source))\" is not a regular expression: \(error).")
        }
    }

    func has(_ group: String) -> Bool { regex.contains(captureNamed: group) }

    /// The named captures of a line that matches as a whole. The part beyond the limit of the line's length belongs to
    /// the last capture.
    func match(_ line: String) throws(Refusal) -> Regex<AnyRegexOutput>.Match? {
        try limited(line) { $0.wholeMatch(of: regex) }
    }

    /// True if a part of the line matches.
    func isFound(in line: String) throws(Refusal) -> Bool {
        try limited(line) { $0.firstMatch(of: regex) != nil }
    }

    /// The line with `…` for each part that matches.
    func masked(_ line: String) throws(Refusal) -> String {
        try limited(line) { String($0.replacing(regex, with: "…")) + line[$0.endIndex...] }
    }

    /// The part of a line that is matched.
    static func head(of line: String) -> Substring {
        guard line.utf8.count > longestText else { return line[...] }
        let end = line.utf8.index(line.startIndex, offsetBy: longestText)
        return line[..<line.unicodeScalars.index(before: line.unicodeScalars.index(after: end))]
    }

    private func limited<Result>(_ line: String, _ match: (Substring) -> Result) throws(Refusal) -> Result {
        let head = Self.head(of: line)
        for _ in 1...2 {
            let start = SuspendingClock.now
            let result = match(head)
            if SuspendingClock.now - start <= Self.longestMatch { return result }
        }
        throw Refusal(
            "\(option): \"\(ShownText.escaped(source))\" takes longer than 100 ms to match \"\(Excerpt.of(line))\". "
                + "Use an expression that backtracks less.")
    }
}
