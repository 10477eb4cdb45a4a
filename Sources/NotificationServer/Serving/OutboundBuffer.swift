internal import DistributedNotifications

/// The bytes that wait to be written to one client, and the decision whether more are accepted.
///
///     taking ──over the limits──► dropping ──all was written──► taking
///                                 counts       the gap is sent first
///
/// Times are the monotonic clock's, in nanoseconds.
struct OutboundBuffer {
    private var bytes: [UInt8] = []
    /// The number of bytes that were written.
    private var head = 0
    private let limits: ServerLimits
    private var overSoftSince: UInt64?
    /// Held notifications were appended since nothing waited.
    private var hasHeld = false
    /// When bytes were last written, or began to wait.
    private var lastProgress: UInt64 = 0
    private var isDropping = false
    /// The number of notifications that were not accepted, for a gap.
    var missed = 0
    /// Some of them, or others, were held or skipped as their observers asked for, and the client was not told.
    var hasSkips = false

    init(_ limits: ServerLimits) { self.limits = limits }

    /// In bytes.
    var waiting: Int { bytes.count - head }

    var isEmpty: Bool { head == bytes.count }

    /// When the client counts as stalled, unless bytes are written before; nil if none wait.
    var stallsAt: UInt64? { isEmpty ? nil : lastProgress &+ limits.progressTimeout.nanoseconds }

    /// - Parameter isHeld: whether the notification was held before. From the first such one until nothing waits, there
    ///   is additional room, also for others.
    /// - Returns: true if the buffer accepts a notification's frame of this size. If not, count it in `missed`.
    mutating func admits(_ byteCount: Int, isHeld: Bool = false, now: UInt64) -> Bool {
        if isDropping { return false }
        if isHeld { hasHeld = true }
        // A frame that is larger than the limit would never be accepted.
        if waiting + byteCount <= limits.softQueueBytes || isEmpty { return true }
        let hard = limits.hardQueueBytes + (hasHeld ? limits.heldBytesPerClient : 0)
        let since = overSoftSince ?? now
        if !isHeld { overSoftSince = since }
        isDropping = waiting + byteCount > hard || !isHeld && now &- since > limits.softQueueTimeout.nanoseconds
        return !isDropping
    }

    /// Makes room for `byteCount` bytes, which `body` writes.
    @inline(__always)
    mutating func append(_ byteCount: Int, now: UInt64, _ body: (UnsafeMutableRawPointer) -> Void) {
        if isEmpty {
            lastProgress = now
            removeWritten()
        } else if head >= bytes.count / 2, bytes.count + byteCount > bytes.capacity {
            removeWritten()
        }
        bytes.append(addingCapacity: byteCount) { output in
            output.withUnsafeMutableBufferPointer { buffer, count in
                if let start = buffer.baseAddress { body(UnsafeMutableRawPointer(start)) }
                count = byteCount
            }
        }
    }

    mutating func append(_ more: [UInt8], now: UInt64) {
        append(more.count, now: now) { memory in
            more.withUnsafeBytes {
                if let start = $0.baseAddress { memory.copyMemory(from: start, byteCount: $0.count) }
            }
        }
    }

    private mutating func removeWritten() {
        if head > 0 { bytes.removeFirst(head) }
        head = 0
    }

    /// Calls `body` with the bytes to write next.
    func withUnwritten<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[head...])) }
    }

    /// Removes the bytes that were written.
    /// - Returns: the number of missed posts, once all is written. Append it as a gap.
    mutating func wrote(_ byteCount: Int, now: UInt64) -> Int? {
        head += byteCount
        if byteCount > 0 { lastProgress = now }
        if waiting <= limits.softQueueBytes { overSoftSince = nil }
        guard isEmpty else { return nil }
        head = 0
        bytes.removeAll(keepingCapacity: bytes.capacity <= 64 << 10)
        (isDropping, hasHeld) = (false, false)
        defer { missed = 0 }
        return missed > 0 || hasSkips ? missed : nil
    }
}
