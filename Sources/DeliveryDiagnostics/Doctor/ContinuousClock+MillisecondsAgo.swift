extension ContinuousClock.Instant {
    /// How long it is past, rounded.
    var millisecondsAgo: Int {
        Int((duration(to: .now) / .milliseconds(1)).rounded())
    }
}
