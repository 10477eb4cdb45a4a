import ArgumentParser
import ChildProcesses
import DistributedNotifications
import Foundation
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
        let (name, localName) = (Notification.Name("measured"), Notification.Name("measured.local"))
        var command = bridge
        command.names = [name.rawValue]
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
            try observers[0].addObserver(forName: localName, on: .postingThread) { _ in local.add() },
            try observers[1].addObserver(forName: name, on: .postingThread) { _ in bridged.add() },
        ]
        for observer in observers { try await observer.synchronize() }
        let bridges = try directories.map { directory in
            try ChildProgram.own(command.arguments)
                .start(["--directory", directory.path, "--state", "\(directory.path).state"])
        }
        defer {
            for bridge in bridges { bridge.kill(SIGTERM) }
            for bridge in bridges { bridge.wait(timeout: .seconds(10)) }
        }
        for directory in directories {
            try wait {
                let clients = try DistributedCenter.status(of: directory)?.clients ?? []
                return clients.contains { $0.details["connected to", default: "nothing"] != "nothing" }
            }
        }
        func connect() async throws -> NATSConnection {
            try await NATSConnection.connect(
                to: options.servers[0], options: options.nats, group: MultiThreadedEventLoopGroup.singleton)
        }
        let (publisher, subscriber) = (try await connect(), try await connect())
        await subscriber.subscribe("measured.plain") { _ in plain.add() }
        try await subscriber.ping()

        let payload = [UInt8](repeating: 120, count: 200)
        let info: [String: PropertyListValue] = ["text": .string(String(repeating: "x", count: 170))]
        var buffer = ByteBuffer()
        func publish(_ isLast: Bool) throws {
            buffer.writeMessage(payload.span.bytes, to: "measured.plain")
            // As a bridge does: what waits is written at once.
            guard isLast || buffer.readableBytes > 16 << 10 else { return }
            publisher.write(buffer)
            buffer.clear()
        }
        let ways: [(name: String, received: Counter, send: (_ isLast: Bool) throws -> Void)] = [
            ("plain NATS", plain, publish),
            ("one local server", local, { _ in try poster.post(name: localName, userInfo: info) }),
            ("two bridges", bridged, { _ in try poster.post(name: name, userInfo: info) }),
        ]
        var (rates, delays) = (ways.map { _ in [Double]() }, ways.map { _ in [Double]() })
        for _ in 0..<rounds {
            for (index, way) in ways.enumerated() { rates[index].append(try rate(way.received, way.send)) }
            for (index, way) in ways.enumerated() { delays[index] += try latencies(way.received, way.send) }
        }
        withExtendedLifetime((observers, tokens, subscriber)) {}
        let medians = [rates, delays].map { values in values.map { $0.sorted()[$0.count / 2] } }
        var rows = zip(ways, zip(medians[0], medians[1])).map { way, median in
            [way.name, "\(Int(median.0))", "\(Int(median.1 * 1e6)) µs"]
        }
        rows.append(["ratio"] + medians.map { String(format: "%.2f", $0[2] / $0[0]) })
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
    private func rate(_ received: Counter, _ send: (Bool) throws -> Void) throws -> Double {
        let (before, start) = (received.value, ContinuousClock.now)
        for number in 1...count {
            try send(number == count)
            // More would be dropped by a local server whose observer reads more slowly than others post.
            while number - received.value + before > 2000 { usleep(20) }
        }
        try wait { received.value >= before + count }
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }

    /// In seconds.
    private func latencies(_ received: Counter, _ send: (Bool) throws -> Void) throws -> [Double] {
        try (0..<1000).map { _ in
            let (before, start) = (received.value, ContinuousClock.now)
            try send(true)
            // A thread that sleeps would be measured too.
            while received.value == before, ContinuousClock.now - start < .seconds(5) {}
            return (ContinuousClock.now - start) / .seconds(1)
        }
    }
}

private final class Counter: Sendable {
    private let number = Atomic(0)
    var value: Int { number.load(ordering: .acquiring) }
    func add() { number.add(1, ordering: .releasing) }
}
