package import ThreadedNotifications

/// A finding, a rule that does not hold or an expectation that fails, in words. JUnit, SARIF, annotations and the
/// summary of a job are functions of these.
package struct ReportedFinding: Sendable, Hashable {
    package var isProblem: Bool
    /// The kind of the finding, the rule or the expectation.
    package var title: String
    /// The problem in a sentence.
    package var text: String
    /// The evidence and the remedy.
    package var lines: [String]
    /// The source location of the evidence.
    package var location: SourceLocation?

    package init(
        isProblem: Bool = true, title: String, text: String, lines: [String] = [], location: SourceLocation? = nil
    ) {
        (self.isProblem, self.title, self.text, self.lines, self.location) = (isProblem, title, text, lines, location)
    }
}
