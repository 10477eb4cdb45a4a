import ArgumentParser
import DistributedNotifications
import Foundation
import Logging
import NATSClient
import NIOCore
import NIOPosix
import Synchronization
import ThreadedNotifications

/// Measures the way through two bridges beside a plain publisher and subscriber of the same NATS server.
struct Measure: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure throughput and latency through two bridges, beside plain NATS.",
        discussion: """
            Starts two local servers and two bridges, in directories of their own, and posts 200-byte notifications from \
            one to the other. In turn with that, it publishes and receives as many messages of the same size. It prints \
            the medians of all rounds.

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
        guard let url = bridge.servers.first else { throw ValidationError("no NATS server is given: --nats URL") }
        let server = try NATSServer(url)
        let machines = try Machines(server: url, hold: bridge.hold)
        defer { machines.end() }
        let plain = try await PlainNATS(server)
        try machines.waitUntilConnected()
        var (rates, delays): ([[Double]], [[Double]]) = ([[], []], [[], []])
        for _ in 0..<rounds {
            rates[0].append(try self.rate(of: { plain.received }, { try plain.publish($0, of: count) }))
            rates[1].append(try self.rate(of: { machines.received }, { try machines.post($0) }))
            delays[0] += try self.delays(of: { plain.received }, { try plain.publish($0, of: 1) })
            delays[1] += try self.delays(of: { machines.received }, { try machines.post($0) })
        }
        await plain.connections.0.close()
        print("way          messages/s      p50")
        for (index, name) in ["plain NATS", "two bridges"].enumerated() {
            let (rate, delay) = (Self.median(rates[index]), Self.median(delays[index]))
            let cells = [
                name.padding(toLength: 12, withPad: " ", startingAt: 0), "\(Int(rate))", "\(Int(delay * 1e6)) µs",
            ]
            print(cells[0] + cells[1].leftPadded(11) + cells[2].leftPadded(9))
        }
        let ratios = (Self.median(rates[1]) / Self.median(rates[0]), Self.median(delays[1]) / Self.median(delays[0]))
        print(
            "ratio".padding(toLength: 12, withPad: " ", startingAt: 0) + Self.shown(ratios.0).leftPadded(11)
                + Self.shown(ratios.1).leftPadded(9))
    }

    private static func shown(_ ratio: Double) -> String { "\((ratio * 100).rounded() / 100)" }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private func rate(of received: () -> Int, _ send: (Int) throws -> Void) throws -> Double {
        let (before, start) = (received(), ContinuousClock.now)
        for number in 0..<count { try send(number) }
        try wait { received() >= before + count }
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }

    private func delays(of received: () -> Int, _ send: (Int) throws -> Void) throws -> [Double] {
        try (0..<1000).map { number in
            let (before, start) = (received(), ContinuousClock.now)
            try send(number)
            // A thread that sleeps would be measured too.
            while received() == before, ContinuousClock.now - start < .seconds(5) {}
            return (ContinuousClock.now - start) / .seconds(1)
        }
    }
}

private func wait(_ isDone: () throws -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while try !isDone() {
        guard ContinuousClock.now < deadline else {
            throw ValidationError("Not all arrived within a minute. See the logs above.")
        }
        usleep(200)
    }
}

/// Two machines in this one.
private final class Machines: Sendable {
    private let directories: [String]
    private let bridges: [Process]
    private let centers: [DistributedCenter]
    private let token: ObserverToken
    private let count: Counter
    private static let name = Notification.Name("measured")
    private static let filling = String(repeating: "x", count: 160)

    init(server: String, hold: String?) throws {
        let root = FileManager.default.temporaryDirectory.path + "/measure-\(getpid())"
        try FileManager.default.createDirectory(
            atPath: root, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        directories = [root + "/1", root + "/2"]
        centers = try directories.map { try DistributedCenter(directory: ServerDirectory(path: $0)) }
        let count = Counter()
        self.count = count
        token = try centers[1].addObserver(forName: Self.name, on: .postingThread) { _ in count.add() }
        try centers[1].synchronize()
        bridges = try directories.map { directory in
            let bridge = Process()
            bridge.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            bridge.arguments =
                [
                    "--nats", server, "--name", Self.name.rawValue, "--directory", directory, "--state",
                    directory + "-state",
                ]
                + (hold.map { ["--hold", $0] } ?? [])
            try bridge.run()
            return bridge
        }
    }

    var received: Int { count.value }

    func post(_ number: Int) throws {
        try centers[0].post(name: Self.name, userInfo: ["n": .integer(Int64(number)), "text": .string(Self.filling)])
    }

    func waitUntilConnected() throws {
        for directory in directories {
            try wait {
                let status = try DistributedCenter.status(of: ServerDirectory(path: directory))
                return status?.clients.contains { $0.details["connected to"].map { $0 != "nothing" } ?? false } ?? false
            }
        }
    }

    func end() {
        for bridge in bridges { bridge.terminate() }
        for bridge in bridges { bridge.waitUntilExit() }
        for center in centers { center.close() }
        try? FileManager.default.removeItem(atPath: (directories[0] as NSString).deletingLastPathComponent)
    }
}

private final class PlainNATS: Sendable {
    let connections: (NATSConnection, NATSConnection)
    private let count = Counter()
    private let buffer = Mutex(ByteBuffer())
    private static let payload = [UInt8](repeating: 120, count: 200)

    init(_ server: NATSServer) async throws {
        let log = Logger(label: "measure") { _ in SwiftLogNoOpLogHandler() }
        func connect() async throws -> NATSConnection {
            try await NATSConnection.connect(
                to: server, options: NATSOptions(name: "measure"), group: MultiThreadedEventLoopGroup.singleton,
                logger: log)
        }
        connections = (try await connect(), try await connect())
        connections.1.subscribe("measured.plain") { [count] _ in count.add() }
        try await connections.1.ping()
    }

    var received: Int { count.value }

    /// As a bridge does: what waits is written at once.
    func publish(_ number: Int, of count: Int) throws {
        try buffer.withLock { buffer in
            let payload = Self.payload
            try connections.0.append(payload.span.bytes, to: "measured.plain", into: &buffer)
            guard buffer.readableBytes > 16 << 10 || number == count - 1 || count == 1 else { return }
            connections.0.write(buffer)
            buffer = ByteBuffer()
        }
    }
}

private final class Counter: Sendable {
    private let number = Atomic(0)
    var value: Int { number.load(ordering: .acquiring) }
    func add() { number.add(1, ordering: .releasing) }
}

extension String {
    fileprivate func leftPadded(_ width: Int) -> String { String(repeating: " ", count: max(width - count, 0)) + self }
}
