/// The bytes that came over a connection, cut into frames.
///
/// What a shell does: reads into `space`, says how much with `received`, and takes frames with `next` until there is none. It
/// holds one frame and what came with it; memory is taken when bytes are expected, and may be given back when all are used.
package struct FrameDecoder: ~Copyable {
    private var memory: UnsafeMutableRawBufferPointer?
    private let capacity: Int
    /// The bytes that came and were not taken are from here to there.
    private var start = 0
    private var end = 0

    /// - Parameter capacity: in bytes; a frame of the largest size must fit.
    package init(capacity: Int = Wire.frameLimit + Wire.lengthBytes) {
        precondition(capacity >= Wire.frameLimit + Wire.lengthBytes, "FrameDecoder: a frame does not fit")
        self.capacity = capacity
    }

    deinit {
        memory?.deallocate()
    }

    package var isEmpty: Bool { start == end }

    /// Where to put what comes next; never empty after `next` returned nil. Frames taken before are no longer valid.
    package mutating func space() -> UnsafeMutableRawBufferPointer {
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

    package mutating func received(_ count: Int) {
        end += count
        precondition(end <= capacity, "FrameDecoder: more was received than there is space")
    }

    /// The next frame, if it is all there; its payload is valid until `space` or `release`.
    package mutating func next() throws(WireError) -> Frame? {
        guard end - start >= Wire.lengthBytes, let memory else { return nil }
        let length = UInt32(littleEndian: memory.loadUnaligned(fromByteOffset: start, as: UInt32.self))
        guard length >= 1, length <= UInt32(Wire.frameLimit) else { throw .frameLength(length) }
        let body = start + Wire.lengthBytes
        guard end - body >= Int(length) else { return nil }
        start = body + Int(length)
        return Frame(
            kind: memory[body], payload: UnsafeRawBufferPointer(rebasing: memory[body + 1..<start]))
    }

    /// Whether a whole frame is there, or one that cannot be.
    package var hasFrame: Bool {
        guard end - start >= Wire.lengthBytes, let memory else { return false }
        let length = UInt32(littleEndian: memory.loadUnaligned(fromByteOffset: start, as: UInt32.self))
        return length == 0 || length > UInt32(Wire.frameLimit) || end - start - Wire.lengthBytes >= Int(length)
    }

    /// Gives the memory back if nothing is in it.
    package mutating func release() {
        guard isEmpty else { return }
        memory?.deallocate()
        memory = nil
        (start, end) = (0, 0)
    }
}

/// A frame, valid as long as its decoder says.
package struct Frame {
    package var kind: UInt8
    package var payload: UnsafeRawBufferPointer
}
