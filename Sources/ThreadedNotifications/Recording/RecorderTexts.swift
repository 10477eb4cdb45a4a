package import CRecorderInterface

/// Copies strings to memory of the caller, in the form that a recorder takes.
package struct RecorderTexts {
    private var end: UnsafeMutablePointer<UInt8>

    /// - Parameter memory: at least `length` bytes for the strings.
    package init(_ memory: UnsafeMutablePointer<UInt8>) {
        end = memory
    }

    /// The number of bytes that these strings take, and all others of a record, which are short and constant.
    package static func length(_ strings: String?...) -> Int {
        strings.reduce(256) { $0 + ($1?.utf8.count ?? 0) }
    }

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
            number: UInt64(max(0, thread.number)), kernel_id: thread.kernelID, name: text(thread.name))
    }
}
