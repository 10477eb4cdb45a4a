/// Something that Foundation on Linux was known to do otherwise than is expected, before anybody looked again.
struct PlatformFact: Sendable {
    /// Such as `F7`.
    var number: String
    /// Which part of Foundation it is about.
    var area: String
    /// What is expected, in a few words.
    var expected: String
    /// What is asked to see it.
    var questions: [TrialQuestion]

    static let all: [PlatformFact] =
        center + notificationQueue + operationQueues + runLoop + threads + asyncMessages + missing + socketPort
        + asyncMain + propertyLists
}
