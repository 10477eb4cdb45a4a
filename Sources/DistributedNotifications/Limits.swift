/// Every limit of centers, servers and their protocol. The table of the article *Distributed Notifications* has the rows
/// of `Limit.table`, and the texts of errors have the numbers of this file.
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
    package let note: String

    private init(_ name: String, _ amount: Amount, _ note: String) {
        (self.name, self.amount, self.note) = (name, amount, note)
    }

    package static let onTheWire = [
        Limit("frame", .bytes(Wire.frameLimit), "kind and payload"),
        Limit("name", .bytes(Wire.nameLimit), "of a notification or an observer"),
        Limit("object", .bytes(Wire.objectLimit), "of a notification or an observer"),
        Limit("userInfo", .bytes(Wire.userInfoLimit), "encoded"),
        Limit("depth", .number(Wire.depthLimit), "nested arrays and dictionaries, including the userInfo"),
        Limit("values", .number(Wire.valueLimit), "the userInfo, and the elements of arrays and dictionaries"),
        Limit("process name", .bytes(Wire.processNameLimit), "the name that a client gives itself"),
    ]

    package static let ofAServer = [
        server("clients", .number(Wire.clientLimit), "more are refused, with this reason"),
        server(
            "clientsBeforeHello", .number(Wire.clientBeforeHelloLimit),
            "one more disconnects the oldest that has sent nothing"),
        server("helloTimeout", .time(Wire.helloTimeout), "a client that sends nothing for this time is refused"),
        server("observersPerClient", .number(Wire.observerLimit), "one more is an error of `addObserver`"),
        server(
            "softQueueBytes", .bytes(Wire.softQueueLimit), "a client's outbound buffer: unread bytes above this"),
        server(
            "softQueueTimeout", .time(Wire.softQueueTimeout),
            "for longer than this drop new notifications for it; they are counted, and reported as a gap when it has "
                + "read the buffer"),
        server("hardQueueBytes", .bytes(Wire.hardQueueLimit), "unread bytes above this drop new notifications at once"),
        server(
            "progressTimeout", .time(Wire.progressTimeout),
            "a client with unread bytes that reads nothing for this time is disconnected"),
        server(
            "heldEntriesPerClient", .number(Wire.heldEntryLimit), "notifications held for a suspended client"),
        server("heldBytesPerClient", .bytes(Wire.heldByteLimit), "their bytes"),
        server("heldBytes", .bytes(Wire.allHeldByteLimit), "bytes held for all clients"),
        server("heldOverflow", .word("discardOldest"), "the policy at these limits"),
        server(
            "framesPerTurn", .number(Wire.turnLimit), "frames of one client that are handled before those of the next"),
        server(
            "postsPerSecond", .number(Wire.postsPerSecond),
            "a client that posts faster is not read for a while; its posts wait in its own process, and none is "
                + "dropped"),
        server("postsAtOnce", .number(Wire.postsAtOnce), "posts that may arrive at once after a pause"),
        server(
            "idleTimeout", .time(Wire.idleTimeout),
            "a server that was started on demand ends after this time without clients"),
        server(
            "stopTimeout", .time(Wire.stopTimeout), "a server that stops writes waiting bytes for this time at most"),
    ]

    package static let ofACenter = [
        Limit(
            "``ClientLimits/waitingBytes``", .bytes(Wire.waitingByteLimit),
            "notifications that wait for the process's threads; more are dropped, counted, and reported as a gap"),
        Limit(
            "``ClientLimits/postTimeout``", .time(Wire.postTimeout),
            "the longest time that `post` waits for a connection, or for a server that does not read"),
        Limit(
            "first pause", .time(Wire.shortestPause),
            "after a failed attempt to connect; each further pause is twice as long"),
        Limit("longest pause", .time(Wire.longestPause), "between attempts, independent of posts"),
    ]

    private static func server(_ name: String, _ amount: Amount, _ note: String) -> Limit {
        Limit("`ServerLimits/\(name)`", amount, note)
    }

    /// The row as the article has it.
    package var row: String { "| \(name) | \(amount) | \(note) |" }
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
