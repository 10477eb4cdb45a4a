/// A claim that was checked, with the reason if it does not hold.
package struct ReportedCase: Sendable, Hashable {
    package var claim: String
    /// Nil if the claim holds, otherwise what is true instead.
    package var failure: String?
    /// Evidence of the failure, one line each.
    package var details: [String]

    package init(_ claim: String, failure: String?, details: [String] = []) {
        self.claim = claim
        self.failure = failure
        self.details = details
    }
}
