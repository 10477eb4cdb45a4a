package import DeliveryRecording
internal import ThreadedNotifications

/// Writes a recording as JSON in Chrome's trace event format, which https://ui.perfetto.dev can open.
package enum ChromeTrace {
    /// - Parameters:
    ///   - selection: the records to write; by default all.
    ///   - progress: called from time to time with the number of records written.
    ///   - write: called with consecutive parts of the text, about 65,536 bytes each.
    /// - Returns: the number of events.
    @discardableResult
    package static func write(
        _ index: RecordingIndex, _ selection: RecordingSelection? = nil, progress: (Int) -> Void = { _ in },
        to write: ([UInt8]) throws -> Void
    ) throws -> Int {
        let events = TraceEvents(index, selection ?? .all(of: index.recording))
        var text = TraceText(index)
        text.begin()
        var lastIndex: Int32 = 0
        try events.visit { event in
            text.append(event)
            guard text.bytes.count >= 65_536 else { return }
            lastIndex = max(lastIndex, event.index)
            progress(Int(lastIndex))
            try write(text.bytes)
            text.bytes.removeAll(keepingCapacity: true)
        }
        text.end()
        try write(text.bytes)
        return text.count
    }
}
