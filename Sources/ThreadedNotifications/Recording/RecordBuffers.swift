internal import CLinux
internal import Dispatch
internal import Glibc
internal import Synchronization

/// The memory for records before they are written to the file: two buffers, one of which is filled while the other is
/// written. The memory does not move, so that a signal handler may write the remaining records.
///
/// Each buffer has an offset in the file. Writing a buffer twice writes the same bytes at the same offset. A signal
/// handler may interrupt any change. A change becomes visible by a single store, before and after which the buffers
/// hold complete lines.
struct RecordBuffers {
    struct Buffer {
        let start: UnsafeMutablePointer<UInt8>
        /// The length in the low 24 bits, and the number of the next record: in one word, so that both change at once.
        private var filling: UInt64 = 1 << 24
        /// The offset of the first byte in the file.
        var offset = 0

        /// The number of lost records that a line in it reports.
        var reportedLost: UInt64 = 0
        /// The offset of that line in the buffer.
        var reportedLostOffset = 0

        /// The number of bytes in the buffer. They are complete lines.
        var length: Int { Int(filling & 0xFF_FFFF) }
        /// The number of the next record.
        var nextNumber: UInt64 { filling >> 24 }

        init(offset: Int) {
            start = .allocate(capacity: RecordBuffers.capacity)
            self.offset = offset
        }

        /// Adds bytes that were written behind the existing ones and are complete lines.
        mutating func add(bytes: Int, records: UInt64) {
            // Orders the bytes before the store, for a signal handler on this thread.
            atomicMemoryFence(ordering: .releasing)
            filling += UInt64(bytes) + (records << 24)
        }

        /// Empties the buffer.
        mutating func removeAll(nextNumber: UInt64) {
            filling = nextNumber << 24
        }

        /// The number of records from an offset on, which is the beginning of a line.
        func records(from offset: Int = 0) -> UInt64 {
            var (records, offset): (UInt64, Int) = (0, offset)
            while offset < length {
                // Other lines begin with another key.
                if start[offset + 2] == UInt8(ascii: "n") { records += 1 }
                while start[offset] != 0x0A { offset += 1 }
                offset += 1
            }
            return records
        }

        /// The number of bytes of the complete lines within the first bytes.
        func completeLines(within bytes: Int) -> Int {
            var end = bytes
            while end > 0, start[end - 1] != 0x0A { end -= 1 }
            return end
        }
    }

    /// The size of each buffer in bytes.
    static let capacity = 4 << 20

    /// The system's last error number, or 0.
    var error: Int32 = 0
    /// The process that records.
    let process = SystemThread.processID
    let descriptor: Int32
    /// Two buffers.
    private let buffers: UnsafeMutablePointer<Buffer>
    /// The index of the buffer that is filled.
    private var filledIndex = 0
    /// True if recording has ended.
    var isFinished = false
    /// True if everything was written, and nothing will be.
    var isClosed = false
    /// The number of lost records that no line reports yet.
    var lost: UInt64 = 0
    private(set) var totalLost: UInt64 = 0
    /// The threads that the file identifies already, a bit for each number.
    private var known: [UInt64] = []

    init(descriptor: Int32, offset: Int) {
        self.descriptor = descriptor
        buffers = .allocate(capacity: 2)
        for index in 0...1 { (buffers + index).initialize(to: Buffer(offset: offset)) }
    }

    /// Deallocates the memory for lines. The other members stay usable.
    mutating func close() {
        setWritten()
        filled.start.deallocate()
        written.start.deallocate()
    }

    /// Notes that both buffers were written and that nothing else will be.
    mutating func setWritten() {
        isClosed = true
        filled.removeAll(nextNumber: filled.nextNumber)
        written.removeAll(nextNumber: filled.nextNumber)
        // Orders this before the deallocation of the memory, for a signal handler on this thread.
        atomicMemoryFence(ordering: .releasing)
    }

    private(set) var filled: Buffer {
        get { buffers[filledIndex] }
        nonmutating _modify { yield &buffers[filledIndex] }
    }

    /// The buffer that is written; empty while no thread writes it.
    private(set) var written: Buffer {
        get { buffers[1 - filledIndex] }
        nonmutating _modify { yield &buffers[1 - filledIndex] }
    }

    mutating func countLost(_ records: UInt64) {
        lost += records
        totalLost += records
    }

    /// Empties the written buffer. If its line about lost records is not in the file, the next line reports them again.
    ///
    /// - Parameter kept: the number of its first bytes that are in the file.
    mutating func emptyWritten(kept: Int) {
        if kept <= written.reportedLostOffset { lost += written.reportedLost }
        written.removeAll(nextNumber: filled.nextNumber)
        written.reportedLost = 0
    }

    /// Changes the offset of the filled buffer in the file.
    mutating func moveFilled(to offset: Int) {
        filled.offset = offset
    }

    /// Notes that a line in the filled buffer reports the records that were lost so far.
    ///
    /// - Parameter offset: the offset of the line in the buffer.
    mutating func setLostReported(at offset: Int) {
        filled.reportedLost += lost
        filled.reportedLostOffset = offset
        lost = 0
    }

    func isKnown(_ thread: Int) -> Bool {
        let word = thread / 64
        return word < known.count && known[word] & (1 << UInt64(thread % 64)) != 0
    }

    mutating func setKnown(_ thread: Int, _ isKnown: Bool) {
        let (word, bit) = (thread / 64, UInt64(1) << UInt64(thread % 64))
        if word >= known.count { known += Array(repeating: 0, count: word + 1 - known.count) }
        if isKnown { known[word] |= bit } else { known[word] &= ~bit }
    }

    /// Writes the identities of all threads again, because they may not be in the file.
    mutating func forgetThreads() {
        known.removeAll(keepingCapacity: true)
    }

    /// The largest number of bytes of the last record. The buffers always have room for it.
    private static let maximumEndLength = RecordLine.maximumBeginningLength + 128

    func hasRoom(for bytes: Int) -> Bool { filled.length + bytes <= Self.capacity - Self.maximumEndLength }

    /// Adds a line that is not a stage.
    mutating func append(_ line: [UInt8]) {
        line.withUnsafeBufferPointer { bytes in
            var buffer = LineBuffer(filled.start + filled.length)
            buffer.append(bytes)
            filled.add(bytes: buffer.count, records: 0)
        }
    }

    /// Adds a record with the next number and the current time.
    mutating func append(restOfLine rest: UnsafeBufferPointer<UInt8>) {
        var buffer = LineBuffer(filled.start + filled.length)
        RecordLine.writeBeginning(
            number: filled.nextNumber, monotonicNanoseconds: SystemThread.monotonicNanoseconds, into: &buffer)
        buffer.append(rest)
        filled.add(bytes: buffer.count, records: 1)
    }

    /// Adds the last record. It identifies the thread by the kernel's id, which a signal handler can read safely.
    mutating func appendEnd(_ reason: StaticString, signal: Int32? = nil) {
        var buffer = LineBuffer(filled.start + filled.length)
        RecordLine.writeBeginning(
            number: filled.nextNumber, monotonicNanoseconds: SystemThread.monotonicNanoseconds, into: &buffer)
        buffer.append(",\"kernelID\":")
        buffer.append(UInt64(UInt32(bitPattern: SystemThread.currentKernelID)))
        buffer.append(",\"stage\":\"end\",\"reason\":\"")
        buffer.append(reason)
        buffer.append(UInt8(ascii: "\""))
        if let signal {
            buffer.append(",\"signal\":")
            buffer.append(UInt64(UInt32(bitPattern: signal)))
        }
        buffer.append("}\n")
        filled.add(bytes: buffer.count, records: 1)
    }

    /// Swaps the filled buffer with the written one, which has to be empty.
    mutating func swap() {
        written.offset = filled.offset + filled.length
        written.removeAll(nextNumber: filled.nextNumber)
        atomicMemoryFence(ordering: .releasing)
        filledIndex = 1 - filledIndex
    }

    /// Writes a buffer to its offset in the file.
    /// - Returns: the number of bytes written, and the system's error number, or 0.
    static func write(_ buffer: Buffer, to descriptor: Int32) -> (bytes: Int, error: Int32) {
        var done = 0
        while done < buffer.length {
            let room = roomInFile(at: buffer.offset + done)
            if room == 0 { return (done, EFBIG) }
            let length = min(buffer.length - done, room)
            let result = pwrite(descriptor, buffer.start + done, length, buffer.offset + done)
            if result > 0 {
                done += result
            } else if result == 0 {
                return (done, EIO)
            } else if errno != EINTR {
                return (done, errno)
            }
        }
        return (done, 0)
    }

    /// The number of bytes that the process may write at an offset of a file. Writing more would end it by a signal.
    private static func roomInFile(at offset: Int) -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { return .max }
        return max(0, Int(clamping: limit.rlim_cur) - offset)
    }
}
