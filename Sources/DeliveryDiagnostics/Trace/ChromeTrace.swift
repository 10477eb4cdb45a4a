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
    ) rethrows -> Int {
        var events = TraceEvents(index, selection ?? RecordingSelection(all: index.recording))
        for number in index.recording.entries.indices {
            events.add(Int32(number))
            guard events.text.bytes.count >= 65_536 else { continue }
            progress(number)
            try write(events.text.bytes)
            events.text.bytes.removeAll(keepingCapacity: true)
        }
        events.end()
        try write(events.text.bytes)
        return events.text.count
    }
}
