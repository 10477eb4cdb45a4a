package import ThreadedNotifications

/// The events that are traced while `body` runs.
/// - Parameter observer: only events of this observer; nil: all.
package func tracing(of observer: UInt64? = nil, _ body: () throws -> Void) throws -> [DeliveryEvent] {
    let events = Locked<[DeliveryEvent]>([])
    DeliveryEvent.tracer = { event in
        if observer == nil || event.observer == observer { events.withLock { $0.append(event) } }
    }
    defer { DeliveryEvent.tracer = nil }
    try body()
    return events.withLock { $0 }
}
