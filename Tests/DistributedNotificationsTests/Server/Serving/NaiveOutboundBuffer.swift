@testable import DistributedNotifications
@testable import NotificationServer

/// The rules of an outbound buffer, implemented with a list of frames.
struct NaiveOutboundBuffer {
    var limits: OutboundBuffer.Limits
    var bytes: [UInt8] = []
    var isDropping = false
    var overSoftSince: UInt64?
    var lastProgress: UInt64 = 0
    var missed: [[UInt32]] = []

    init(limits: OutboundBuffer.Limits) {
        self.limits = limits
    }

    mutating func admits(_ count: Int, isHeld: Bool, now: UInt64) -> Bool {
        if isDropping { return false }
        if bytes.isEmpty || bytes.count + count <= limits.soft { return true }
        if isHeld {
            isDropping = bytes.count + count > limits.hard + limits.held
            return !isDropping
        }
        if overSoftSince == nil { overSoftSince = now }
        let isLate = now - (overSoftSince ?? now) > limits.softTimeout
        isDropping = isLate || bytes.count + count > limits.hard
        return !isDropping
    }

    mutating func append(_ more: [UInt8], now: UInt64) {
        if bytes.isEmpty { lastProgress = now }
        bytes += more
    }

    mutating func wrote(_ count: Int, now: UInt64) -> [[UInt32]]? {
        bytes.removeFirst(count)
        if count > 0 { lastProgress = now }
        if bytes.count <= limits.soft { overSoftSince = nil }
        guard bytes.isEmpty else { return nil }
        defer { missed = [] }
        isDropping = false
        return missed.isEmpty ? nil : missed
    }

    var stallsAt: UInt64? { bytes.isEmpty ? nil : lastProgress + limits.progressTimeout }
}
