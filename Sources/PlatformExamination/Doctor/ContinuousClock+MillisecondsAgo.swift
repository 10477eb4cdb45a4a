extension ContinuousClock.Instant {
    /// The time since this instant, in rounded milliseconds.
    var millisecondsAgo: Int {
        Int((duration(to: .now) / .milliseconds(1)).rounded())
    }
}
