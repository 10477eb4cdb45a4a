import ArgumentParser
import ChildProcesses
import DistributedNotifications
import Foundation
import Logging
import NATSClient
import NIOCore
import NIOPosix
import NotificationBridge
import Synchronization
import TerminalText
import ThreadedNotifications

/// Measures the way through two bridges beside a plain publisher and subscriber of the same NATS server.
struct Measure: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure throughput and latency through two bridges, beside plain NATS.",
        discussion: """
            Starts two local servers and two bridges, in directories of their own, and posts 200-byte notifications from \
            one to the other. In turn with that, it publishes and receives as many messages of the same size, and posts \
            as many notifications within one local server. It prints the medians of all rounds.

            EXAMPLES
              notification-bridge measure --nats nats://127.0.0.1:4222
              notification-bridge measure --nats nats://127.0.0.1:4222 --hold MEASURED
            """)

    @ParentCommand var bridge: NotificationBridgeCommand

    @Option(help: "Notifications of a round.")
    var count = 50_000

    @Option(help: "Rounds.")
    var rounds = 5

    func run() async throws {
        let (plainName, localName, bridgedName) = ("measured.plain", "measured.local", "measured")
        var command = bridge
        command.names = [bridgedName]
        let options = try command.options()
        let root = FileManager.default.temporaryDirectory.path + "/measure-\(getpid())"
        try FileManager.default.createDirectory(
            atPath: root, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: root) }
        let directories = ["one", "two"].map { ServerDirectory(path: "\(root)/\($0)") }
        let poster = try DistributedCenter(directory: directories[0])
        let observers = try directories.map { try DistributedCenter(directory: $0) }
        let (plain, local, bridged) = (Counter(), Counter(), Counter())
        let tokens = [
            try observers[0].addObserver(forName: .init(localName), on: .postingThread) { _ in local.add() },
            try observers[1].addObserver(forName: .init(bridgedName), on: .postingThread) { _ in bridged.add() },
        ]
        for observer in observers { try await observer.synchronize() }
        let bridges = try directories.map { directory in
            try ChildProgram.own(command.arguments)
                .start(["--directory", directory.path, "--state", "\(directory.path).state"])
        }
        defer {
            for bridge in bridges { bridge.kill(SIGTERM) }
            for bridge in bridges { bridge.wait(timeout: .seconds(10)) }
            for center in observers + [poster] { center.close() }
        }
        for directory in directories {
            try wait {
                let clients = try DistributedCenter.status(of: directory)?.clients ?? []
                return clients.contains { $0.details["connected to", default: "nothing"] != "nothing" }
            }
        }
        func connect() async throws -> NATSConnection {
            try await NATSConnection.connect(
                to: options.servers[0], options: options.nats, group: MultiThreadedEventLoopGroup.singleton,
                logger: Logger(label: "measure") { _ in SwiftLogNoOpLogHandler() })
        }
        let (publisher, subscriber) = (try await connect(), try await connect())
        subscriber.subscribe(plainName) { _ in plain.add() }
        try await subscriber.ping()

        let payload = [UInt8](repeating: 120, count: 200)
        let info: [String: PropertyListValue] = ["text": .string(String(repeating: "x", count: 170))]
        var buffer = ByteBuffer()
        let ways = [
            Way("plain NATS", plain) { isLast in
                try publisher.append(payload.span.bytes, to: plainName, into: &buffer)
                // As a bridge does: what waits is written at once.
                guard isLast || buffer.readableBytes > 16 << 10 else { return }
                publisher.write(buffer)
                buffer.clear()
            },
            Way("one local server", local) { _ in try poster.post(name: .init(localName), userInfo: info) },
            Way("two bridges", bridged) { _ in try poster.post(name: .init(bridgedName), userInfo: info) },
        ]
        for _ in 0..<rounds {
            for way in ways { way.rates.append(try rate(way)) }
            for way in ways { way.delays += try delays(way) }
        }
        withExtendedLifetime((tokens, subscriber)) {}
        func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
        func ratio(_ values: KeyPath<Way, [Double]>) -> String {
            String(format: "%.2f", median(ways[2][keyPath: values]) / median(ways[0][keyPath: values]))
        }
        var rows = ways.map { [$0.name, "\(Int(median($0.rates)))", "\(Int(median($0.delays) * 1e6)) µs"] }
        rows.append(["ratio", ratio(\.rates), ratio(\.delays)])
        for line in Table([.text("way"), .number("messages/s"), .number("p50")], rows: rows).lines() { print(line) }
    }

    private func wait(_ isDone: () throws -> Bool) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while try !isDone() {
            guard ContinuousClock.now < deadline else {
                throw ValidationError("Not all arrived within a minute. See the log above.")
            }
            usleep(200)
        }
    }

    /// Messages in a second.
    private func rate(_ way: Way) throws -> Double {
        let (before, start) = (way.received.value, ContinuousClock.now)
        for number in 1...count {
            try way.send(number == count)
            // More would be dropped by a local server whose observer reads more slowly than others post.
            while number - way.received.value + before > 2000 { usleep(20) }
        }
        try wait { way.received.value >= before + count }
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }

    /// In seconds.
    private func delays(_ way: Way) throws -> [Double] {
        try (0..<1000).map { _ in
            let (before, start) = (way.received.value, ContinuousClock.now)
            try way.send(true)
            // A thread that sleeps would be measured too.
            while way.received.value == before, ContinuousClock.now - start < .seconds(5) {}
            return (ContinuousClock.now - start) / .seconds(1)
        }
    }
}

/// From one thread to another, and what was measured.
private final class Way {
    let name: String
    let received: Counter
    let send: (_ isLast: Bool) throws -> Void
    var (rates, delays) = ([Double](), [Double]())

    init(_ name: String, _ received: Counter, send: @escaping (_ isLast: Bool) throws -> Void) {
        (self.name, self.received, self.send) = (name, received, send)
    }
}

private final class Counter: Sendable {
    private let number = Atomic(0)
    var value: Int { number.load(ordering: .acquiring) }
    func add() { number.add(1, ordering: .releasing) }
}
