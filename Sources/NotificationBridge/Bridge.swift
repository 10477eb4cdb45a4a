internal import DistributedNotifications
package import Logging
internal import NATSClient
internal import ServiceLifecycle
internal import ThreadedNotifications

/// Connects a machine's notification server with those of other machines, over NATS.
///
///     local server ─► LocalThread ─► NATS ─► InboundPosts ─► LocalThread ─► local server
///        of one machine                             of another machine
///
/// A task keeps a connection to NATS (`NATSTask`), and a thread one to the local server (`LocalThread`).
package struct Bridge: Service {
    private let options: BridgeOptions
    private let log: Logger

    /// - Parameter options: with no `problem`.
    package init(_ options: BridgeOptions, log: Logger) { (self.options, self.log) = (options, log) }

    /// Ends when the service is shut down, after what is under way is published, but at most two seconds later.
    /// - Throws: `DistributedError` or `NATSError`, if the local server or NATS refuses this bridge from the beginning.
    package func run() async throws {
        let memory = try BridgeMemory(directory: options.stateDirectory)
        let position = options.stream.flatMap { memory.position(in: $0) }
        let mail = try BridgeMail(
            InboundPosts(bridge: memory.bridge, names: options.names, position: position),
            directory: options.directory)
        let (events, tell) = AsyncStream.makeStream(of: NATSTask.Event.self)
        let (ends, end) = AsyncStream.makeStream(of: Result<Void, DistributedError>.self)
        let started = SystemThread.startWithoutSignals { [options, log] in
            var thread = LocalThread(options, memory, mail, log)
            end.yield(Result { () throws(DistributedError) in try thread.run() })
            end.finish()
            // Without a link, the task looks at this only.
            mail.post { $0.isStopping = true }
            tell.yield(.localThreadEnded)
        }
        guard case .success(let thread) = started else {
            throw DistributedError.pathNotUsable(
                path: options.directory.socketPath, problem: "the system created no thread to serve it with")
        }
        thread.detach()
        let nats = NATSTask(options, mail, log, tell)
        let problem: NATSError? = await withGracefulShutdownHandler {
            await cancelWhenGracefulShutdown {
                do throws(NATSError) { try await nats.run(events) } catch { return error }
                return nil
            }
        } onGracefulShutdown: {
            // The task may be waiting for an answer of NATS.
            mail.post { $0.isStopping = true }
        }
        mail.post { $0.isStopping = true }
        for await result in ends { try result.get() }
        await mail.change { $0.link }?.connection.close(timeout: .seconds(1))
        if let problem { throw problem }
    }
}
