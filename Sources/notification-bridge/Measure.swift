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

    private static let underWay = 2000
    private static let name = Notification.Name("measured")

    func run() async throws {
        guard let url = bridge.servers.first else {
            throw ValidationError("no NATS server is given. Give one: --nats nats://HOST:4222")
        }
        let root = FileManager.default.temporaryDirectory.path + "/measure-\(getpid())"
        try FileManager.default.createDirectory(
            atPath: root, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: root) }
        let directories = ["one", "two"].map { ServerDirectory(path: "\(root)/\($0)") }
        let centers = try directories.map { try DistributedCenter(directory: $0) }
        let bridged = Counter()
        let token = try centers[1].addObserver(forName: Self.name, on: .postingThread) { _ in bridged.add() }
        try await centers[1].synchronize()
        let bridges = try directories.map { try start($0, url) }
        defer {
            for bridge in bridges { bridge.terminate() }
            for bridge in bridges { bridge.waitUntilExit() }
            for center in centers { center.close() }
        }
        for directory in directories {
            try wait {
                let clients = try DistributedCenter.status(of: directory)?.clients ?? []
                return clients.contains { $0.details["connected to"].map { $0 != "nothing" } ?? false }
            }
        }

        let (publisher, subscriber) = (try await connect(url), try await connect(url))
        let received = Counter()
        await subscriber.subscribe("measured.plain") { _ in received.add() }
        try await subscriber.ping()
        let payload = [UInt8](repeating: 120, count: 200)
        let info: [String: PropertyListValue] = ["text": .string(String(repeating: "x", count: 170))]

        var (rates, delays) = ([[Double]](repeating: [], count: 2), [[Double]](repeating: [], count: 2))
        for _ in 0..<rounds {
            // As a bridge does: what waits is written at once.
            var buffer = ByteBuffer()
            rates[0].append(
                try rate(received) { number in
                    buffer.writeMessage(payload.span.bytes, to: "measured.plain")
                    guard buffer.readableBytes > 16 << 10 || number == count else { return }
                    publisher.write(buffer)
                    buffer.clear()
                })
            rates[1].append(try rate(bridged) { _ in try centers[0].post(name: Self.name, userInfo: info) })
            delays[0] += try latencies(received) {
                var message = ByteBuffer()
                message.writeMessage(payload.span.bytes, to: "measured.plain")
                publisher.write(message)
            }
            delays[1] += try latencies(bridged) { try centers[0].post(name: Self.name, userInfo: info) }
        }
        withExtendedLifetime((token, subscriber)) {}
        func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
        let rows = zip(["plain NATS", "two bridges"], zip(rates.map(median), delays.map(median)))
        print("way          messages/s        p50")
        for (name, (rate, delay)) in rows { print(line(name, "\(Int(rate))", "\(Int(delay * 1e6)) µs")) }
        let ratio = (median(rates[1]) / median(rates[0]), median(delays[1]) / median(delays[0]))
        print(line("ratio", "\((ratio.0 * 100).rounded() / 100)", "\((ratio.1 * 100).rounded() / 100)"))
    }

    private func line(_ name: String, _ rate: String, _ delay: String) -> String {
        func padded(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(width - text.count, 1)) + text
        }
        return name + padded(rate, 23 - name.count) + padded(delay, 11)
    }

    private func start(_ directory: ServerDirectory, _ url: String) throws -> Process {
        try Process.run(
            URL(filePath: "/proc/self/exe").resolvingSymlinksInPath(),
            arguments: [
                "--nats", url, "--name", Self.name.rawValue, "--directory", directory.path, "--state",
                directory.path + ".state",
            ] + bridge.connectionArguments)
    }

    private func connect(_ url: String) async throws -> NATSConnection {
        try await NATSConnection.connect(
            to: try NATSServer(url), options: try bridge.natsOptions(),
            group: MultiThreadedEventLoopGroup.singleton)
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
    private func rate(_ received: Counter, _ send: (Int) throws -> Void) throws -> Double {
        let (before, start) = (received.value, ContinuousClock.now)
        for number in 1...count {
            try send(number)
            // More would be dropped by a local server whose observer reads more slowly than others post.
            while number - received.value + before > Self.underWay { usleep(20) }
        }
        try wait { received.value >= before + count }
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }

    /// In seconds.
    private func latencies(_ received: Counter, _ send: () throws -> Void) throws -> [Double] {
        try (0..<1000).map { _ in
            let (before, start) = (received.value, ContinuousClock.now)
            try send()
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
