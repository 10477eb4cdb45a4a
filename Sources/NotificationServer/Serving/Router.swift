internal import DistributedNotifications

/// Decides which clients a post is for, and puts it into their outbound buffers, or holds it while they are suspended.
///
///     post ─► Route (ObserverTable) ─► SuspensionBuffer ─► Outbox
struct Router {
    private var table = ObserverTable()
    private let heldByteLimit: Int
    private(set) var heldBytes = 0
    private(set) var posted = 0

    init(heldByteLimit: Int) {
        self.heldByteLimit = heldByteLimit
    }

    // MARK: Observers

    func observerCount(of client: ServerClient) -> Int { table.count(of: client.number) }

    func observers(of client: ServerClient) -> [ObserverTable.Registered] { table.registrations(of: client.number) }

    /// - Returns: false if the client used the number already; then nothing changes.
    mutating func register(_ registered: ObserverTable.Registered, of client: ServerClient) -> Bool {
        table.register(
            client: client.number, registration: registered.registration, name: registered.name,
            object: registered.object,
            behavior: registered.behavior)
    }

    /// Removes an observer. Only notifications that are already in the outbound buffer are still sent to it.
    mutating func unregister(_ registration: UInt32, of client: ServerClient) {
        guard table.unregister(client: client.number, registration: registration) else { return }
        changeHeld(of: client) { $0.unregister(registration) }
        client.state.outbound.unregister(registration)
    }

    /// Removes the observers of a client. The caller empties its buffers.
    mutating func remove(_ client: ServerClient) {
        table.removeClient(client.number)
        heldBytes -= client.state.suspension.byteCount
    }

    // MARK: Posts

    mutating func setSuspended(_ flag: Bool, _ client: ServerClient, outbox: inout Outbox) {
        deliver(changeHeld(of: client) { $0.setSuspended(flag) }, to: client, outbox: &outbox)
    }

    mutating func post(
        _ payload: UnsafeRawBufferPointer, from poster: ServerClient, clients: ServerClients, outbox: inout Outbox
    ) throws(WireError) {
        let posted = try PostedPayload(payload)
        if poster.state.route?.isRoute(of: posted, payload, version: table.version) != true {
            try posted.checkStrings()
            let recipients = table.matches(name: posted.name, object: posted.object).compactMap { match in
                clients[match.client].map { Route.Recipient(client: $0, observers: match.observers) }
            }
            poster.state.route = Route(posted, payload, version: table.version, recipients: recipients)
        }
        poster.state.posted += 1
        self.posted += 1
        guard let recipients = poster.state.route?.recipients else { return }
        var held: HeldNotification?
        /// Made for the first client that holds it, and shared with the others.
        func heldNotification() -> HeldNotification {
            let notification = held ?? HeldNotification(posted, payload, sender: poster.process)
            held = notification
            return notification
        }
        for recipient in recipients {
            let client = recipient.client
            client.state.counts.matched += 1
            guard client.state.suspension.isSuspended else {
                outbox.deliver(payload, sender: poster.process, observers: recipient.observers, to: client)
                continue
            }
            let spareBytes = heldByteLimit - heldBytes
            let decision = changeHeld(of: client) {
                $0.decide(
                    heldNotification(), observers: recipient.observers, immediately: posted.isImmediate,
                    spareBytes: spareBytes)
            }
            deliver(decision.flush, to: client, outbox: &outbox)
            if !decision.observers.isEmpty {
                outbox.deliver(payload, sender: poster.process, observers: decision.observers, to: client)
            }
        }
    }

    private func deliver(
        _ flush: SuspensionBuffer<HeldNotification>.Flush, to client: ServerClient, outbox: inout Outbox
    ) {
        if let gap = flush.gap { outbox.answer(client, .gap) { $0.gap(gap, cause: .held) } }
        for entry in flush.entries {
            entry.post.payload.withUnsafeBytes {
                outbox.deliver(
                    $0, sender: entry.post.sender, observers: entry.observers, to: client, isHeld: true)
            }
        }
    }

    private mutating func changeHeld<Value>(
        of client: ServerClient, _ body: (inout SuspensionBuffer<HeldNotification>) -> Value
    ) -> Value {
        let before = client.state.suspension.byteCount
        defer { heldBytes += client.state.suspension.byteCount - before }
        return body(&client.state.suspension)
    }
}
