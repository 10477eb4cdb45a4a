/// A known difference between Foundation on Linux and the expected behaviour. The examination checks whether it still
/// exists.
struct PlatformFact: Sendable {
    /// The number, such as `F7`.
    var number: String
    /// The part of Foundation that the fact concerns.
    var area: String
    /// The expected behaviour in a few words.
    var expected: String
    /// The questions that show the difference.
    var questions: [TrialQuestion]

    static let all: [PlatformFact] =
        center + notificationQueue + operationQueues + runLoop + threads + asyncMessages + missing + socketPort
        + asyncMain + propertyLists
}
