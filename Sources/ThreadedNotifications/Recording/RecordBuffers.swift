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
    }

    /// In bytes, of each of the two.
    static let capacity = 4 << 20

    let descriptor: Int32
    var filled: Buffer
    /// Empty while nobody writes it.
    var written: Buffer
    /// Of the record that comes next.
    var nextNumber: UInt64 = 1

    init(descriptor: Int32, offset: Int) {
        self.descriptor = descriptor
        filled = Buffer(start: .allocate(capacity: Self.capacity), offset: offset)
        written = Buffer(start: .allocate(capacity: Self.capacity), offset: offset)
    }

    func deallocate() {
        filled.start.deallocate()
        written.start.deallocate()
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
    /// - Returns: the system's error number, or 0.
    static func write(_ buffer: Buffer, to descriptor: Int32) -> Int32 {
        var done = 0
        while done < buffer.length {
            let result = pwrite(descriptor, buffer.start + done, buffer.length - done, buffer.offset + done)
            if result > 0 {
                done += result
            } else if result == 0 {
                return EIO
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}
