internal import CLinux
internal import Dispatch
internal import Glibc
internal import Synchronization

/// The memory that records are gathered in before they are written to their file: two buffers, of which one is filled while
/// the other is written. Plain memory, which never moves, so that a signal handler may write what is left.
///
/// Each buffer has its place in the file. A buffer that is written twice puts the same bytes at the same place.
/// A signal handler may interrupt any change: each becomes visible by one store, before and after which the buffers
/// hold whole lines.
struct RecordBuffers {
    struct Buffer {
        let start: UnsafeMutablePointer<UInt8>
        /// How many bytes are in it, in the low 24 bits, and the number of the record after them: in one word, so that
        /// both change at once.
        private var filling: UInt64 = 1 << 24
        /// Where in the file its first byte goes.
        var offset = 0

        /// How many lost records it tells of.
        var toldLost: UInt64 = 0
        /// Where the line begins that tells of them.
        var toldLostPlace = 0

        /// How many bytes are in it. These bytes are whole lines.
        var length: Int { Int(filling & 0xFF_FFFF) }
        /// Of the record that comes next.
        var nextNumber: UInt64 { filling >> 24 }

        init(offset: Int) {
            start = .allocate(capacity: RecordBuffers.capacity)
            self.offset = offset
        }

        /// Counts bytes that were put behind those that are in it, and are whole lines.
        mutating func add(bytes: Int, records: UInt64) {
            // Not before the bytes are in memory, for a signal handler on this thread.
            atomicMemoryFence(ordering: .releasing)
            filling += UInt64(bytes) + (records << 24)
        }

        /// Empties it.
        mutating func removeAll(nextNumber: UInt64) {
            filling = nextNumber << 24
        }

        /// How many records are in it, from a line's beginning on.
        func records(from place: Int = 0) -> UInt64 {
            var (records, place): (UInt64, Int) = (0, place)
            while place < length {
                // Other lines begin with another key.
                if start[place + 2] == UInt8(ascii: "n") { records += 1 }
                while start[place] != 0x0A { place += 1 }
                place += 1
            }
            return records
        }

        /// How many of its first bytes are whole lines.
        func wholeLines(within bytes: Int) -> Int {
            var end = bytes
            while end > 0, start[end - 1] != 0x0A { end -= 1 }
            return end
        }
    }

    /// In bytes, of each of the two.
    static let capacity = 4 << 20

    /// Which writes it.
    let process = SystemThread.processID
    let descriptor: Int32
    /// The two buffers.
    private let buffers: UnsafeMutablePointer<Buffer>
    /// Which of the two is filled.
    private var filledIndex = 0
    /// Nothing is recorded any more.
    var isOver = false
    /// Nothing is written any more: all is in the file.
    var isClosed = false
    /// Records that could not be kept, and were not told of yet.
    var lost: UInt64 = 0
    private(set) var allLost: UInt64 = 0
    /// The threads whose line was written, a bit for each number.
    private var known: [UInt64] = []

    init(descriptor: Int32, offset: Int) {
        self.descriptor = descriptor
        buffers = .allocate(capacity: 2)
        for index in 0...1 { (buffers + index).initialize(to: Buffer(offset: offset)) }
    }

    /// Deallocates the memory for lines. The rest of this value stays usable.
    mutating func close() {
        setWritten()
        filled.start.deallocate()
        written.start.deallocate()
    }

    /// Notes that all that is in the two buffers was written, and that nothing else is to be.
    mutating func setWritten() {
        isClosed = true
        filled.removeAll(nextNumber: filled.nextNumber)
        written.removeAll(nextNumber: filled.nextNumber)
        // Before the memory goes, for a signal handler on this thread.
        atomicMemoryFence(ordering: .releasing)
    }

    private(set) var filled: Buffer {
        get { buffers[filledIndex] }
        nonmutating _modify { yield &buffers[filledIndex] }
    }

    /// Empty while no thread writes it.
    private(set) var written: Buffer {
        get { buffers[1 - filledIndex] }
        nonmutating _modify { yield &buffers[1 - filledIndex] }
    }

    mutating func countLost(_ records: UInt64) {
        lost += records
        allLost += records
    }

    /// Empties the written buffer. Lost records that it told of are to be told again if their line is not in the file.
    ///
    /// - Parameter kept: how many of its first bytes are in the file.
    mutating func emptyWritten(kept: Int) {
        if kept <= written.toldLostPlace { lost += written.toldLost }
        written.removeAll(nextNumber: filled.nextNumber)
        written.toldLost = 0
    }

    /// Moves what is filled to another place in the file.
    mutating func moveFilled(to offset: Int) {
        filled.offset = offset
    }

    /// Notes that a line of the filled buffer tells of the records that were lost so far.
    ///
    /// - Parameter place: where the line begins.
    mutating func setLostTold(at place: Int) {
        filled.toldLost += lost
        filled.toldLostPlace = place
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

    /// What was said of threads may not be in the file.
    mutating func forgetThreads() {
        known.removeAll(keepingCapacity: true)
    }

    /// In bytes, of the last record at most. There is always room for it.
    private static let longestEnd = RecordLine.longestBeginning + 128

    func hasRoom(for bytes: Int) -> Bool { filled.length + bytes <= Self.capacity - Self.longestEnd }

    /// Adds a line of no stage.
    mutating func append(_ line: [UInt8]) {
        line.withUnsafeBufferPointer { bytes in
            var buffer = LineBuffer(filled.start + filled.length)
            buffer.append(bytes)
            filled.add(bytes: buffer.count, records: 0)
        }
    }

    /// Adds a record as the next one, as happening now.
    mutating func append(restOfLine rest: UnsafeBufferPointer<UInt8>) {
        var buffer = LineBuffer(filled.start + filled.length)
        RecordLine.writeBeginning(
            number: filled.nextNumber, monotonicNanoseconds: SystemThread.monotonicNanoseconds, into: &buffer)
        buffer.append(rest)
        filled.add(bytes: buffer.count, records: 1)
    }

    /// Adds the last record. Also in a signal handler, so the thread is named by the kernel's id, which needs no storage.
    mutating func appendEnd(_ message: StaticString, signal: Int32? = nil) {
        var buffer = LineBuffer(filled.start + filled.length)
        RecordLine.writeBeginning(
            number: filled.nextNumber, monotonicNanoseconds: SystemThread.monotonicNanoseconds, into: &buffer)
        buffer.append(",\"kernelID\":")
        buffer.append(UInt64(UInt32(bitPattern: SystemThread.currentKernelID)))
        buffer.append(",\"stage\":\"end\",\"message\":\"")
        buffer.append(message)
        if let signal {
            buffer.append(UInt8(ascii: " "))
            buffer.append(UInt64(UInt32(bitPattern: signal)))
        }
        buffer.append("\"}\n")
        filled.add(bytes: buffer.count, records: 1)
    }

    /// Makes the filled buffer the one to write, and the other, which is empty, the one to fill.
    mutating func swap() {
        written.offset = filled.offset + filled.length
        written.removeAll(nextNumber: filled.nextNumber)
        atomicMemoryFence(ordering: .releasing)
        filledIndex = 1 - filledIndex
    }

    /// Writes one of the two to its place in the file.
    /// - Returns: how many bytes are there, and the system's error number, or 0.
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

    /// How many bytes the process may write at a place of a file. To write more would end it by a signal.
    private static func roomInFile(at offset: Int) -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { return .max }
        return max(0, Int(clamping: limit.rlim_cur) - offset)
    }
}
