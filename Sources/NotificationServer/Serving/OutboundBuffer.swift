internal import DistributedNotifications

/// The bytes that wait to be written to one client, and the decision whether more are accepted.
///
///     taking ──over the limits──► dropping ──all was written──► taking
///                                 counts       the gap is sent first
///
/// The memory grows up to the limit and is freed when all is written. Times are the monotonic clock's, in nanoseconds.
final class OutboundBuffer {
    private var memory: UnsafeMutableRawPointer?
    private var capacity = 0
    private var head = 0
    private var tail = 0

    private let limits: Limits
    private var overSoftSince: UInt64?
    /// When bytes were last written, or began to wait.
    private var lastProgress: UInt64 = 0
    private(set) var isDropping = false
    private var missed = MissedPosts()

    struct Limits {
        var soft: Int
        var softTimeout: UInt64
        var hard: Int
        /// Additional room for notifications that were held.
        var held: Int
        var progressTimeout: UInt64
    }

    init(limits: Limits) {
        self.limits = limits
    }

    deinit {
        memory?.deallocate()
    }

    /// In bytes.
    var waiting: Int { tail - head }

    var isEmpty: Bool { head == tail }

    /// Whether the buffer accepts a notification's frame of this size. If it does not, count it with `miss`.
    ///
    /// - Parameter isHeld: whether the notification was held before; it may then use additional room.
    @inline(__always)
    func admits(_ byteCount: Int, isHeld: Bool = false, now: UInt64) -> Bool {
        if !isDropping, waiting + byteCount <= limits.soft { return true }
        return admitsMore(byteCount, isHeld: isHeld, now: now)
    }

    private func admitsMore(_ byteCount: Int, isHeld: Bool, now: UInt64) -> Bool {
        if isDropping { return false }
        // A frame that is larger than the limit would never be accepted.
        if isEmpty { return true }
        if isHeld {
            isDropping = waiting + byteCount > limits.hard + limits.held
            return !isDropping
        }
        let since = overSoftSince ?? now
        overSoftSince = since
        isDropping = waiting + byteCount > limits.hard || now &- since > limits.softTimeout
        return !isDropping
    }

    func miss(_ observers: [MatchingObserver]) {
        missed.add(observers)
    }

    /// Removes an observer: a gap does not mention it.
    func unregister(_ registration: UInt32) {
        missed.forget(registration)
    }

    /// Makes room for `byteCount` bytes, which `body` writes.
    @inline(__always)
    func append(_ byteCount: Int, now: UInt64, _ body: (UnsafeMutableRawPointer) -> Void) {
        if head == tail {
            (head, tail) = (0, 0)
            lastProgress = now
        }
        if tail + byteCount > capacity { makeRoom(byteCount) }
        if let memory { body(memory + tail) }
        tail += byteCount
    }

    func append(_ bytes: [UInt8], now: UInt64) {
        append(bytes.count, now: now) { memory in
            bytes.withUnsafeBytes {
                memory.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(memory), byteCount: $0.count)
            }
        }
    }

    private func makeRoom(_ byteCount: Int) {
        let needed = waiting + byteCount
        if let memory, needed <= capacity, head >= capacity / 2 {
            memory.copyMemory(from: memory + head, byteCount: waiting)
        } else {
            var larger = max(capacity, 16 << 10)
            while larger < needed { larger *= 2 }
            let new = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
            if let memory {
                new.copyMemory(from: memory + head, byteCount: waiting)
                memory.deallocate()
            }
            memory = new
            capacity = larger
        }
        (head, tail) = (0, tail - head)
    }

    /// The bytes to write next.
    var unwritten: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: memory.map { UnsafeRawPointer($0 + head) }, count: waiting)
    }

    /// Removes the bytes that were written.
    /// - Returns: the missed posts, once all is written. Append them as a gap.
    func wrote(_ byteCount: Int, now: UInt64) -> MissedPosts? {
        head += byteCount
        if byteCount > 0 { lastProgress = now }
        if waiting <= limits.soft { overSoftSince = nil }
        guard head == tail else { return nil }
        (head, tail) = (0, 0)
        if capacity > 64 << 10 {
            memory?.deallocate()
            memory = nil
            capacity = 0
        }
        isDropping = false
        defer { missed = MissedPosts() }
        return missed.isEmpty ? nil : missed
    }

    /// When the client counts as stalled, unless bytes are written before; nil if none wait.
    var stallsAt: UInt64? { isEmpty ? nil : lastProgress &+ limits.progressTimeout }

    /// The number of missed notifications.
    var missedCount: Int { missed.count }
}
