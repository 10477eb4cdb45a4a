/// The limits of centers and their protocol, and those of servers that are not in `ServerLimits`. The article
/// *Distributed Notifications* says more about each; the texts of errors have the numbers of this file.
extension Wire {
    // MARK: On the wire

    /// The bytes of kind and payload.
    package static let frameLimit = 64 << 10
    package static let nameLimit = 255
    package static let objectLimit = 1024
    package static let userInfoLimit = 60 << 10
    /// It bounds recursion, and so the stack.
    package static let depthLimit = 64
    /// It bounds the memory of a decoded userInfo.
    package static let valueLimit = 16_384
    package static let processNameLimit = 255
    /// Of the name of a machine or of a user.
    package static let originLimit = 255
    /// Dates of a userInfo, in seconds since 2001: from `Date.distantPast` to the end of the year 9999. Formatters are
    /// not made for other dates, and another process must not be able to cause their use.
    package static let dates: Range<Double> = -63_114_076_800..<252_423_993_600

    // MARK: Of a server

    package static let observerLimit = 512
    package static let heldObserverBytes = 64
    /// What is sent to a kept client before it has acknowledged some.
    package static let keptWindow = 4096
    package static let keptWindowBytes = 1 << 20
    package static let detailsLimit = 16 << 10
    package static let connectionsPerTurn = 64
    package static let descriptorPause = Duration.milliseconds(100)

    // MARK: Of a center

    /// Names and objects whose numbers are kept, of posts and of what is received.
    package static let sequenceLimit = 4096

    /// Of one attempt: for finding or starting a server, with the wait for its lock, and for its answer.
    package static let connectTimeout = Duration.seconds(5)
    package static let shortestPause = Duration.milliseconds(50)
    package static let longestPause = Duration.seconds(5)
}
