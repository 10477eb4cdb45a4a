internal import DistributedNotifications

/// What waits to be read by one process, and whether more may.
///
///     taking ──over the limits──► dropping ──all was written──► taking
///                                 counts       the gap is shown first
///
/// Bytes are kept in memory of its own that grows to the limit and goes when all is written. Times are the monotonic clock's,
/// in nanoseconds.
struct OutboundBuffer: ~Copyable {
    private var memory: UnsafeMutableRawPointer?
    private var capacity = 0
    private var head = 0
    private var tail = 0

    private let limits: Limits
    private var overSoftSince: UInt64?
    /// When something was last written, or began to wait.
    private var lastProgress: UInt64 = 0
    private(set) var isDropping = false
    private var missed = MissedPosts()

    struct Limits {
        var soft: Int
        var softTimeout: UInt64
        var hard: Int
        /// What was held has so much room more.
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

    /// Whether a notification's frame of that size is taken; if not, it is to be counted with `miss`.
    ///
    /// - Parameter isHeld: it was held before, and has room of its own.
    @inline(__always)
    mutating func admits(_ byteCount: Int, isHeld: Bool = false, now: UInt64) -> Bool {
        if !isDropping, waiting + byteCount <= limits.soft { return true }
        return admitsMore(byteCount, isHeld: isHeld, now: now)
    }

    private mutating func admitsMore(_ byteCount: Int, isHeld: Bool, now: UInt64) -> Bool {
        if isDropping { return false }
        // What is larger than the limit would never be taken.
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

    mutating func miss(_ observers: [MatchingObserver]) {
        missed.add(observers)
    }

    /// The registration is no more: nothing that it missed is told.
    mutating func unregister(_ registration: UInt32) {
        missed.forget(registration)
    }

    /// Makes room for so many bytes and has `body` write them.
    @inline(__always)
    mutating func append(_ byteCount: Int, now: UInt64, _ body: (UnsafeMutableRawPointer) -> Void) {
        if head == tail {
            (head, tail) = (0, 0)
            lastProgress = now
        }
        if tail + byteCount > capacity { makeRoom(byteCount) }
        if let memory { body(memory + tail) }
        tail += byteCount
    }

    mutating func append(_ bytes: [UInt8], now: UInt64) {
        append(bytes.count, now: now) { memory in
            bytes.withUnsafeBytes {
                memory.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(memory), byteCount: $0.count)
            }
        }
    }

    private mutating func makeRoom(_ byteCount: Int) {
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

    /// What is to be written next.
    var unwritten: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: memory.map { UnsafeRawPointer($0 + head) }, count: waiting)
    }

    /// So much was written.
    /// - Returns: what was missed, once all that waited before is written; it is to be appended.
    mutating func wrote(_ byteCount: Int, now: UInt64) -> MissedPosts? {
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

    /// When the process counts as stalled, unless something is written before; nil if nothing waits.
    var stallsAt: UInt64? { isEmpty ? nil : lastProgress &+ limits.progressTimeout }

    /// How many are missed so far.
    var missedCount: Int { missed.count }
}
