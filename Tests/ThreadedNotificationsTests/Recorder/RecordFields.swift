import CRecorderInterface

/// Keeps the strings of records in memory.
final class RecordFields {
    private var strings: [UnsafeMutableBufferPointer<CChar>] = []

    deinit {
        for string in strings { string.deallocate() }
    }

    func text(_ string: String) -> recorder_text {
        let memory = UnsafeMutableBufferPointer<CChar>.allocate(capacity: string.utf8.count + 1)
        _ = memory.initialize(from: string.utf8.map(CChar.init(bitPattern:)))
        strings.append(memory)
        return recorder_text(start: memory.baseAddress, length: string.utf8.count)
    }

    func record(_ stage: String, name: String? = nil, thread: UInt64 = 1) -> recorder_record {
        var record = recorder_record()
        record.stage = text(stage)
        record.thread = recorder_thread(
            number: thread, kernel_id: Int32(thread), name: text("thread \(thread)"), pool: false)
        if let name { record.name = text(name) }
        return record
    }
}
