internal import CLinux
internal import Dispatch
internal import Glibc

/// The memory that records are gathered in before they are written to their file: two buffers, of which one is filled while
/// the other is written. Plain memory, which never moves, so that a signal handler may write what is left.
///
/// Each buffer has its place in the file. Whoever writes a buffer, and be it twice, writes the same bytes at the same place.
struct RecordBuffers {
    struct Buffer {
        let start: UnsafeMutablePointer<UInt8>
        /// How many bytes are in it. Changed last, so that these bytes are whole lines at any time.
        var length = 0
        /// Where in the file its first byte goes.
        var offset = 0

        /// How many lost records it tells of.
        var toldLost: UInt64 = 0
        /// Where the line begins that tells of them.
        var toldLostPlace = 0

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
    var filled: Buffer
    /// Empty while nobody writes it.
    var written: Buffer
    /// Of the record that comes next.
    var nextNumber: UInt64 = 1
    /// Nothing is recorded any more.
    var isOver = false
    /// Records that could not be kept, and were not told of yet.
    var lost: UInt64 = 0
    private(set) var allLost: UInt64 = 0
    /// The threads whose line was written, a bit for each number.
    private var known: [UInt64] = []

    init(descriptor: Int32, offset: Int) {
        self.descriptor = descriptor
        filled = Buffer(start: .allocate(capacity: Self.capacity), offset: offset)
        written = Buffer(start: .allocate(capacity: Self.capacity), offset: offset)
    }

    mutating func deallocate() {
        filled.start.deallocate()
        written.start.deallocate()
        (filled.length, written.length) = (0, 0)
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
        written.length = 0
        written.toldLost = 0
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

    func hasRoom(for bytes: Int) -> Bool { filled.length + bytes <= Self.capacity }

    /// Adds a line of no stage.
    mutating func append(_ line: [UInt8]) {
        line.withUnsafeBufferPointer { bytes in
            var buffer = LineBuffer(filled.start + filled.length)
            buffer.append(bytes)
            filled.length += buffer.count
        }
    }

    /// Adds a record as the next one, as happening now.
    mutating func append(restOfLine rest: UnsafeBufferPointer<UInt8>) {
        var buffer = LineBuffer(filled.start + filled.length)
        RecordLine.writeBeginning(
            number: nextNumber, monotonicNanoseconds: SystemThread.monotonicNanoseconds, into: &buffer)
        buffer.append(rest)
        nextNumber += 1
        filled.length += buffer.count
    }

    /// Adds the last record. Also in a signal handler, so the thread is named by the kernel's id, which needs no storage.
    mutating func appendEnd(_ message: StaticString, signal: Int32? = nil) {
        guard hasRoom(for: RecordLine.longestBeginning + 128) else { return }
        var buffer = LineBuffer(filled.start + filled.length)
        RecordLine.writeBeginning(
            number: nextNumber, monotonicNanoseconds: SystemThread.monotonicNanoseconds, into: &buffer)
        buffer.append(",\"kernelID\":")
        buffer.append(UInt64(UInt32(bitPattern: SystemThread.currentKernelID)))
        buffer.append(",\"stage\":\"end\",\"message\":\"")
        buffer.append(message)
        if let signal {
            buffer.append(UInt8(ascii: " "))
            buffer.append(UInt64(UInt32(bitPattern: signal)))
        }
        buffer.append("\"}\n")
        nextNumber += 1
        filled.length += buffer.count
    }

    /// Makes the filled buffer the one to write, and the other, which is empty, the one to fill.
    mutating func swap() {
        (filled, written) = (written, filled)
        filled.offset = written.offset + written.length
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
