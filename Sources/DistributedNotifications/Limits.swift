/// Every limit of centers, servers and their protocol. The article *Distributed Notifications* has the
/// rows of `Limit.table` and says more about each; the texts of errors have the numbers of this file.
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
    /// Dates of a userInfo, in seconds since 2001: from `Date.distantPast` to the end of the year 9999. Formatters are
    /// not made for other dates, and another process must not be able to cause their use.
    package static let dates: Range<Double> = -63_114_076_800..<252_423_993_600

    // MARK: Of a server

    package static let clientLimit = 1024
    package static let clientBeforeHelloLimit = 64
    package static let helloTimeout = Duration.seconds(5)
    package static let observerLimit = 512
    package static let softQueueLimit = 256 << 10
    package static let softQueueTimeout = Duration.seconds(10)
    package static let hardQueueLimit = 1 << 20
    package static let progressTimeout = Duration.seconds(30)
    package static let heldEntryLimit = 1024
    package static let heldByteLimit = 1 << 20
    package static let allHeldByteLimit = 64 << 20
    package static let heldObserverBytes = 64
    package static let connectionsPerTurn = 64
    package static let descriptorPause = Duration.milliseconds(100)
    package static let turnLimit = 64
    package static let postsPerSecond = 1_000_000
    package static let postsAtOnce = 250_000
    package static let idleTimeout = Duration.seconds(60)
    package static let stopTimeout = Duration.seconds(2)

    // MARK: Of a center

    package static let waitingByteLimit = 16 << 20
    package static let postTimeout = Duration.seconds(5)
    package static let shortestPause = Duration.milliseconds(50)
    package static let longestPause = Duration.seconds(5)
}

/// A row of the table of limits.
package struct Limit {
    package enum Amount {
        case number(Int)
        case bytes(Int)
        case time(Duration)
        case word(String)
    }

    /// What is limited: a property of `ServerLimits` or `ClientLimits`, or in words.
    package let name: String
    package let amount: Amount

    private init(_ name: String, _ amount: Amount) { (self.name, self.amount) = (name, amount) }

    package static let table = [
        Limit("frame", .bytes(Wire.frameLimit)),
        Limit("name", .bytes(Wire.nameLimit)),
        Limit("object", .bytes(Wire.objectLimit)),
        Limit("userInfo", .bytes(Wire.userInfoLimit)),
        Limit("depth", .number(Wire.depthLimit)),
        Limit("values", .number(Wire.valueLimit)),
        Limit("process name", .bytes(Wire.processNameLimit)),
        Limit("`ServerLimits/clients`", .number(Wire.clientLimit)),
        Limit("`ServerLimits/clientsBeforeHello`", .number(Wire.clientBeforeHelloLimit)),
        Limit("`ServerLimits/helloTimeout`", .time(Wire.helloTimeout)),
        Limit("`ServerLimits/observersPerClient`", .number(Wire.observerLimit)),
        Limit("`ServerLimits/softQueueBytes`", .bytes(Wire.softQueueLimit)),
        Limit("`ServerLimits/softQueueTimeout`", .time(Wire.softQueueTimeout)),
        Limit("`ServerLimits/hardQueueBytes`", .bytes(Wire.hardQueueLimit)),
        Limit("`ServerLimits/progressTimeout`", .time(Wire.progressTimeout)),
        Limit("`ServerLimits/heldEntriesPerClient`", .number(Wire.heldEntryLimit)),
        Limit("`ServerLimits/heldBytesPerClient`", .bytes(Wire.heldByteLimit)),
        Limit("`ServerLimits/heldBytes`", .bytes(Wire.allHeldByteLimit)),
        Limit("`ServerLimits/heldOverflow`", .word("discardOldest")),
        Limit("`ServerLimits/framesPerTurn`", .number(Wire.turnLimit)),
        Limit("`ServerLimits/postsPerSecond`", .number(Wire.postsPerSecond)),
        Limit("`ServerLimits/postsAtOnce`", .number(Wire.postsAtOnce)),
        Limit("`ServerLimits/idleTimeout`", .time(Wire.idleTimeout)),
        Limit("`ServerLimits/stopTimeout`", .time(Wire.stopTimeout)),
        Limit("``ClientLimits/waitingBytes``", .bytes(Wire.waitingByteLimit)),
        Limit("``ClientLimits/postTimeout``", .time(Wire.postTimeout)),
        Limit("observer of a held notification", .bytes(Wire.heldObserverBytes)),
        Limit("connections in a turn", .number(Wire.connectionsPerTurn)),
        Limit("pause without descriptors", .time(Wire.descriptorPause)),
        Limit("first pause", .time(Wire.shortestPause)),
        Limit("longest pause", .time(Wire.longestPause)),
    ]

    /// The first two cells of its row in the article.
    package var cells: String { "\(name) | \(amount)" }
}

extension Limit.Amount: CustomStringConvertible {
    /// `64 KiB`, `1,024`, `5 s`.
    package var description: String {
        switch self {
        case .number(let number): Self.grouped(number)
        case .bytes(let bytes) where bytes % (1 << 20) == 0: "\(bytes >> 20) MiB"
        case .bytes(let bytes) where bytes % (1 << 10) == 0 && bytes > 1024: "\(bytes >> 10) KiB"
        case .bytes(let bytes): "\(Self.grouped(bytes)) B"
        case .time(let time) where time < .seconds(1): "\(Int(time / .milliseconds(1))) ms"
        case .time(let time): "\(time.components.seconds) s"
        case .word(let word): "`\(word)`"
        }
    }

    private static func grouped(_ number: Int) -> String {
        number < 1000 ? "\(number)" : "\(grouped(number / 1000)),\(String(1000 + number % 1000).dropFirst())"
    }
}
