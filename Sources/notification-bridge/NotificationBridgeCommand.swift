import ArgumentParser
import DistributedNotifications
import Foundation
import Logging
import NATSClient
import NotificationBridge
import ServiceLifecycle
import UnixSignals

@main
struct NotificationBridgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notification-bridge",
        abstract: "Exchange notifications with other machines of a user, over NATS.",
        discussion: """
            Publishes what processes of this machine and user post with the given names, and posts here what bridges of \
            other machines publish. It runs until SIGTERM or Ctrl-C ends it, and connects again by itself.

            Without --hold a notification is delivered at most once. With it, JetStream holds what is posted while a \
            link, a bridge or NATS is down.

            EXAMPLES
              notify-demo bridge --nats nats://hub:4222 --name Saved
              notify-demo bridge --nats tls://hub --credentials ~/.nats --hold NOTES \\
                  --name Saved --name Closed

            EXIT STATUS
              0    it was told to end
              2    the local server or NATS refuses it
              64   usage error
            """, subcommands: [Measure.self])

    @Option(
        name: .customLong("nats"),
        help:
            "A NATS server (required), nats://HOST:PORT or tls://HOST:PORT, port 4222 by default. Several are tried in turn."
    )
    var servers: [String] = []

    @Option(
        name: .customLong("name"), help: "A name of notifications to exchange (required), in full. Repeat it for more.")
    var names: [String] = []

    @Option(help: "The stream of JetStream that holds what is published. It is created if there is none.")
    var hold: String?

    @Option(help: "A file with one line, user:password or a token.", completion: .file())
    var credentials: String?

    @Flag(help: "Require TLS.")
    var tls = false

    @Option(
        help: "A PEM file of the certificates to trust, instead of the system's. Implies --tls.", completion: .file())
    var tlsRoots: String?

    @Option(help: "The first part of the subjects: bridges with the same prefix exchange notifications.")
    var subjectPrefix = BridgeOptions().prefix

    @Option(help: "The name by which others see this machine.")
    var machine = BridgeOptions().origin.machine

    @Option(help: "The directory of the local server.", completion: .directory)
    var directory: String?

    @Option(
        help: "Where the bridge keeps its position in the stream (default: in ~/.local/state).", completion: .directory)
    var state: String?

    /// The same options for another process, without what differs from bridge to bridge of a machine.
    var arguments: [String] {
        let values = [("--hold", hold), ("--credentials", credentials), ("--tls-roots", tlsRoots)]
        return servers.flatMap { ["--nats", $0] } + names.flatMap { ["--name", $0] } + (tls ? ["--tls"] : [])
            + values.flatMap { name, value in value.map { [name, $0] } ?? [] } + ["--subject-prefix", subjectPrefix]
    }

    /// - Throws: a usage error.
    func options() throws -> BridgeOptions {
        var options = BridgeOptions()
        do throws(NATSError) {
            for url in servers { options.servers.append(try NATSServer(url)) }
            if let credentials { options.nats.credentials = try NATSCredentials(file: credentials) }
        } catch {
            throw ValidationError("\(error)")
        }
        (options.nats.requiresTLS, options.nats.trustedRoots) = (tls, tlsRoots)
        (options.names, options.stream, options.prefix) = (names, hold, subjectPrefix)
        (options.credentialsFile, options.origin.machine) = (credentials, machine)
        if let directory { options.directory = ServerDirectory(path: directory) }
        if let state { options.stateDirectory = state }
        if let problem = options.problem { throw ValidationError(problem) }
        return options
    }

    func run() async throws {
        let options = try options()
        let log = Logger(label: "notification-bridge") { StreamLogHandler.standardError(label: $0) }
        do {
            let bridge = try Bridge(options, log: log)
            var configuration = ServiceGroupConfiguration(
                services: [.init(service: bridge, successTerminationBehavior: .gracefullyShutdownGroup)],
                gracefulShutdownSignals: [.sigterm, .sigint, .sighup], logger: log)
            configuration.maximumGracefulShutdownDuration = .seconds(5)
            try await ServiceGroup(configuration: configuration).run()
        } catch {
            _ = try? FileHandle.standardError.write(contentsOf: Data("notification-bridge: \(error)\n".utf8))
            throw ExitCode(2)
        }
    }
}
