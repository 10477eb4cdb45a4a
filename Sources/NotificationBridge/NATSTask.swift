internal import DistributedNotifications
internal import Logging
internal import NATSClient
internal import NIOCore
internal import NIOPosix
internal import ThreadedNotifications

/// The task of a bridge that keeps a connection to NATS. Its handlers, on the connection's event loop, leave what
/// arrives in `BridgeMail`.
struct NATSTask: Sendable {
    enum Event: Sendable {
        case linkEnded(Int, NATSError)
        case localThreadEnded
    }

    private let options: BridgeOptions
    private let mail: BridgeMail
    private let log: Logger
    private let tell: AsyncStream<Event>.Continuation

    /// A new stream holds so many bytes, and then loses the oldest messages.
    static let streamBytes = 256 << 20
    static let shortestSuccess = Duration.seconds(5)

    init(
        _ options: BridgeOptions, _ mail: BridgeMail, _ log: Logger, _ tell: AsyncStream<Event>.Continuation
    ) {
        (self.options, self.mail, self.log, self.tell) = (options, mail, log, tell)
    }

    /// Runs until the task is cancelled, or the bridge's thread has ended.
    /// - Throws: what only another configuration can mend, before the first connection.
    func run(_ events: AsyncStream<Event>) async throws(NATSError) {
        var events = events.makeAsyncIterator()
        var (backoff, random) = (Backoff(), SystemRandomNumberGenerator())
        var (number, attempts) = (0, 0)
        while !Task.isCancelled, !mail.change({ $0.isStopping }) {
            let server = options.servers[attempts % options.servers.count]
            attempts += 1
            do throws(NATSError) {
                let link = try await connect(to: server, number + 1)
                number += 1
                log.info("is connected to NATS", metadata: ["server": "\(server)"])
                let start = SuspendingClock.now
                guard let error = await end(of: link, &events) else { return }
                // One that ends at once is no success: it may do so each time, if too much waits to be posted here.
                if .now - start > Self.shortestSuccess { backoff = Backoff() }
                throw error
            } catch {
                if number == 0, error.needsConfiguration, attempts >= options.servers.count { throw error }
                if mail.change({ $0.linkProblem }) != error.description {
                    log.warning("is not connected to NATS, and tries again", metadata: ["error": "\(error)"])
                }
                mail.post { ($0.link, $0.linkProblem) = (nil, error.description) }
            }
            try? await Task.sleep(for: backoff.next(using: &random))
        }
    }

    /// - Returns: why the link ended; nil if the bridge is to end.
    private func end(of link: NATSLink, _ events: inout AsyncStream<Event>.AsyncIterator) async -> NATSError? {
        while let event = await events.next(isolation: nil) {
            switch event {
            case .linkEnded(link.number, let error): return error
            case .linkEnded: continue
            case .localThreadEnded: return nil
            }
        }
        return nil
    }

    private func connect(to server: NATSServer, _ number: Int) async throws(NATSError) -> NATSLink {
        var nats = options.nats
        if let file = options.credentialsFile { nats.credentials = try NATSCredentials(file: file) }
        let connection = try await NATSConnection.connect(
            to: server, options: nats, group: MultiThreadedEventLoopGroup.singleton, logger: log)
        do throws(NATSError) {
            let link = NATSLink(
                connection: connection, number: number,
                acknowledgements: options.stream == nil ? nil : NATSConnection.makeInbox())
            mail.change { $0.inbound.begin(link: number) }
            connection.onReadComplete { [mail] in mail.wakeIfNeeded() }
            mail.change { $0.denial = nil }
            connection.onRefusal { [mail, log] error in
                guard mail.change({ $0.denial }) != error.description else { return }
                log.warning("NATS denies what the bridge needs", metadata: ["error": "\(error)"])
                mail.post { $0.denial = error.description }
            }
            if let stream = options.stream, let acknowledgements = link.acknowledgements {
                receiveAcknowledgements(acknowledgements, over: connection)
                try await receive(stream, over: link)
            } else {
                connection.subscribe(filter) { [mail] message in
                    message.payload.withUnsafeReadableBytes { bytes in mail.change { _ = $0.inbound.receive(bytes) } }
                }
                try await connection.ping()
            }
            mail.post { ($0.link, $0.linkProblem) = (link, nil) }
            connection.closed.whenSuccess { [tell] in tell.yield(.linkEnded(number, $0)) }
            return link
        } catch {
            await connection.close()
            throw error
        }
    }

    private var filter: String {
        options.names.count == 1
            ? NotificationSubject.of(options.names[0], prefix: options.prefix)
            : NotificationSubject.all(prefix: options.prefix)
    }

    private func receiveAcknowledgements(_ inbox: String, over connection: NATSConnection) {
        connection.subscribe("\(inbox).*") { [mail, options] message in
            let digits = message.subject.dropFirst(inbox.utf8.count + 1)
            guard let number = UInt64(String(decoding: digits, as: UTF8.self)) else { return }
            do throws(NATSError) {
                try message.checkIsStored(NotificationSubject.all(prefix: options.prefix))
                mail.change { $0.finished.append(number) }
            } catch {
                mail.change {
                    $0.refusal = error.description
                    // It would keep all that follow from being acknowledged.
                    if error.isOfSize { $0.unusable.append(number) }
                }
            }
        }
    }

    /// Receives what a stream holds, from the last message on that was received.
    private func receive(_ name: String, over link: NATSLink) async throws(NATSError) {
        let stream = try await link.connection.openStream(
            name, subjects: [NotificationSubject.all(prefix: options.prefix)], maxBytes: Self.streamBytes)
        let position = mail.change {
            $0.inbound.resume(created: stream.created, first: stream.firstSeq, last: stream.lastSeq)
        }
        let inbox = NATSConnection.makeInbox()
        link.connection.subscribe(inbox) { [mail] message in
            let isInOrder = mail.change { $0.inbound.receive(message, over: link.number) }
            // Another connection begins after the last message that was received.
            if !isInOrder { Task { await link.connection.close() } }
        }
        try await link.connection.createConsumer(of: name, deliverTo: inbox, from: position + 1, filter: filter)
    }
}

extension NATSError {
    /// Whether the stream has a limit for the size of a message, and this one is larger.
    fileprivate var isOfSize: Bool { number == 10054 }
}
