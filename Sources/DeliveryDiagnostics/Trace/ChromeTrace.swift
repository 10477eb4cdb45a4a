internal import ThreadedNotifications

/// A recording as JSON in the trace event format of Chrome, which https://ui.perfetto.dev opens too.
public enum ChromeTrace {
    /// - Parameters:
    ///   - progress: told now and then how many records were written.
    ///   - write: is given the text in order, some ten thousand bytes at a time.
    /// - Returns: how many events there are.
    @discardableResult
    public static func write(
        _ recording: Recording, progress: (Int) -> Void = { _ in }, to write: ([UInt8]) throws -> Void
    ) throws -> Int {
        let events = TraceEvents(recording)
        var text = TraceText(recording, links: events.links)
        text.begin()
        var lastPlace: Int32 = 0
        try events.visit { event in
            text.append(event)
            guard text.bytes.count >= 65_536 else { return }
            lastPlace = max(lastPlace, event.place)
            progress(Int(lastPlace))
            try write(text.bytes)
            text.bytes.removeAll(keepingCapacity: true)
        }
        text.end()
        try write(text.bytes)
        return text.count
    }
}
