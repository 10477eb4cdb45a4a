internal import DistributedNotifications

/// What a post does: found observers, suspension, and the queues.
extension ServerLoop {
    func post(_ payload: UnsafeRawBufferPointer, from poster: ServerConnection) throws(WireError) {
        let posted = try PostedPayload(payload)
        if poster.route?.isOf(posted, payload, version: table.version) != true {
            try posted.checkStrings()
            poster.route = ServerConnection.Route(
                head: Array(payload[1..<posted.headCount]), hasObject: posted.object != nil, version: table.version,
                legs: table.matches(name: posted.name, object: posted.object).compactMap { match in
                    connections[match.client].map { ServerConnection.Leg(client: $0, owed: match.owed) }
                })
        }
        poster.posted += 1
        self.posted += 1
        guard let legs = poster.route?.legs else { return }
        // Made for the first process that holds it, and shared with the others.
        var held: HeldNotification?
        for leg in legs {
            let client = leg.client
            guard client.suspension.isSuspended else {
                hand(payload, sender: poster.process, owed: leg.owed, to: client)
                continue
            }
            let bytes = client.suspension.byteCount
            let discardedBefore = client.suspension.discardedCount
            let arrival = client.suspension.arrive(
                HeldNotification.shared(&held, posted, payload, sender: poster.process), owed: leg.owed,
                immediately: posted.isImmediate, spareBytes: limits.heldBytes - heldBytes)
            heldBytes += client.suspension.byteCount - bytes
            discarded += client.suspension.discardedCount - discardedBefore
            hand(arrival.flush, to: client)
            if !arrival.owed.isEmpty {
                hand(payload, sender: poster.process, owed: arrival.owed, to: client)
            }
        }
    }

    func hand(_ flush: SuspensionBuffer<HeldNotification>.Flush, to client: ServerConnection) {
        if let gap = flush.gap {
            answer(client, .gap) { Self.write(gap, cause: .held, to: &$0) }
        }
        for entry in flush.entries {
            entry.post.payload.withUnsafeBytes {
                hand($0, sender: entry.post.sender, owed: entry.owed, to: client, isHeld: true)
            }
        }
    }

    /// Puts a notification into a process's queue, or counts it as missed.
    @inline(__always)
    func hand(
        _ payload: UnsafeRawBufferPointer, sender: Int32, owed: [Owed], to client: ServerConnection,
        isHeld: Bool = false
    ) {
        let headSize = Wire.lengthBytes + 7 + 4 * owed.count
        let size = headSize + payload.count
        guard client.queue.admits(size, isHeld: isHeld, now: now) else { return miss(owed, client) }
        client.delivered += 1
        delivered += 1
        client.queue.append(size, now: now) { memory in
            memory.storeBytes(of: UInt32(size - Wire.lengthBytes).littleEndian, as: UInt32.self)
            memory.storeBytes(of: FrameKind.notification.rawValue, toByteOffset: 4, as: UInt8.self)
            memory.storeBytes(of: sender.littleEndian, toByteOffset: 5, as: Int32.self)
            memory.storeBytes(of: UInt16(owed.count).littleEndian, toByteOffset: 9, as: UInt16.self)
            var place = memory + 11
            for one in owed {
                place.storeBytes(of: one.registration.littleEndian, as: UInt32.self)
                place += 4
            }
            if let start = payload.baseAddress { place.copyMemory(from: start, byteCount: payload.count) }
        }
        mark(client)
    }

    func miss(_ owed: [Owed], _ client: ServerConnection) {
        if client.queue.missedCount == 0 { report(.dropping(process: client.process, name: client.name ?? "")) }
        client.queue.miss(owed)
        client.dropped += 1
        dropped += 1
    }

    static func write(_ missed: MissedPosts, cause: NotificationGap.Cause, to writer: inout FrameWriter) {
        writer.integer(cause.wireValue)
        writer.integer(UInt64(missed.count))
        // Of more than fit into a frame, so many; the count is of all.
        let registrations = missed.registrations.prefix(4096)
        writer.integer(UInt16(registrations.count))
        for (registration, count) in registrations {
            writer.integer(registration)
            writer.integer(UInt64(count))
        }
    }

    func answer(_ connection: ServerConnection, _ kind: FrameKind, _ body: (inout FrameWriter) -> Void) {
        var writer = FrameWriter()
        writer.frame(kind, body)
        connection.queue.append(writer.bytes, now: now)
        mark(connection)
    }
}
