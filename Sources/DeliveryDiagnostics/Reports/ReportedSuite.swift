/// Claims that were checked together, such as those of a scenario or the rules about a recording.
package struct ReportedSuite: Sendable, Hashable {
    package var name: String
    package var cases: [ReportedCase]
    /// Of the run that was checked.
    package var duration: Duration

    package init(name: String, cases: [ReportedCase], duration: Duration) {
        self.name = name
        self.cases = cases
        self.duration = duration
    }
}
