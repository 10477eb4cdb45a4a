package import CRecorderInterface

/// Copies strings to memory of the caller, in the form that a recorder takes.
package struct RecorderTexts {
    private var end: UnsafeMutablePointer<UInt8>

    /// The number of bytes that the short and constant strings of a record take at most.
    package static let constantLength = 256

    /// - Parameter memory: room for the strings.
    package init(_ memory: UnsafeMutablePointer<UInt8>) {
        end = memory
    }

    /// The number of bytes that a string takes.
    @inline(__always)
    package static func length(_ string: String?) -> Int { string?.utf8.count ?? 0 }

    package mutating func text(_ string: String?) -> recorder_text {
        guard let string else { return recorder_text() }
        let count = string.utf8.count
        let isCopied: Void? = string.utf8.withContiguousStorageIfAvailable { bytes in
            if let start = bytes.baseAddress { UnsafeMutableRawPointer(end).copyMemory(from: start, byteCount: count) }
        }
        if isCopied == nil { _ = UnsafeMutableBufferPointer(start: end, count: count).initialize(from: string.utf8) }
        defer { end += count }
        return recorder_text(start: UnsafeRawPointer(end).assumingMemoryBound(to: CChar.self), length: count)
    }

    package mutating func thread(_ thread: ThreadIdentity) -> recorder_thread {
        recorder_thread(
            number: UInt64(max(0, thread.number)), kernel_id: thread.kernelID, name: text(thread.name),
            pool: false)
    }
}
