/// Divides the bytes of a connection into frames.
///
/// A caller reads into `space()`, reports the number of bytes with `received`, and calls `next` until it returns nil.
/// The decoder allocates its memory when it first expects bytes; `release` frees it. It is a class, because an
/// optimised build (6.3.1) does not run the `deinit` of a noncopyable value when another is assigned to its property.
package final class FrameDecoder {
    private var memory: UnsafeMutableRawBufferPointer?
    private let capacity: Int
    /// The received bytes that are not yet part of a frame.
    private var start = 0
    private var end = 0

    /// - Parameter capacity: in bytes; a frame of the largest size must fit.
    package init(capacity: Int = Wire.frameLimit + Wire.lengthBytes) {
        precondition(capacity >= Wire.frameLimit + Wire.lengthBytes, "FrameDecoder: a frame does not fit")
        self.capacity = capacity
    }

    deinit { memory?.deallocate() }

    package var isEmpty: Bool { start == end }

    /// The memory for the next bytes. It is not empty after `next` has returned nil. Earlier frames become invalid.
    package func space() -> UnsafeMutableRawBufferPointer {
        let memory = memory ?? .allocate(byteCount: capacity, alignment: 16)
        self.memory = memory
        if start == end {
            (start, end) = (0, 0)
        } else if start > 0, capacity - end < Wire.frameLimit {
            memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[start..<end]))
            (start, end) = (0, end - start)
        }
        return UnsafeMutableRawBufferPointer(rebasing: memory[end...])
    }

    package func received(_ count: Int) {
        end += count
        precondition(end <= capacity, "FrameDecoder: more was received than there is space")
    }

    /// The length of the next frame, if that has arrived. It may be one that is not allowed.
    private var length: UInt32? {
        guard end - start >= Wire.lengthBytes else { return nil }
        return memory.map { UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: start, as: UInt32.self)) }
    }

    /// True if a complete frame has been received, or a length that is not allowed.
    package var hasFrame: Bool {
        guard let length else { return false }
        return length == 0 || length > UInt32(Wire.frameLimit) || end - start - Wire.lengthBytes >= Int(length)
    }

    /// The next frame, if it is complete. Its payload is valid until `space` or `release`.
    package func next() throws(WireError) -> Frame? {
        guard hasFrame, let length, let memory else { return nil }
        guard length >= 1, length <= UInt32(Wire.frameLimit) else { throw .frameLength(length) }
        let body = start + Wire.lengthBytes
        start = body + Int(length)
        return Frame(kind: memory[body], payload: UnsafeRawBufferPointer(rebasing: memory[body + 1..<start]))
    }

    /// Frees the memory if it is empty.
    package func release() {
        guard isEmpty else { return }
        memory?.deallocate()
        memory = nil
        (start, end) = (0, 0)
    }
}

/// A frame. The payload is valid as long as `FrameDecoder.next` documents.
package struct Frame {
    package var kind: UInt8
    package var payload: UnsafeRawBufferPointer
}
