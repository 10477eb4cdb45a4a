package import DeliveryRecording
internal import TerminalText
internal import ThreadedNotifications

/// Formats each record as a line with aligned columns. Times are in milliseconds since the first one.
package struct StagesStyle: Sendable {
    private let recording: Recording
    private let start: UInt64
    private var table = Table([.number(""), .text(), .text(), .text(), .text()])

    /// - Parameter entries: all that are to be printed.
    package init(_ recording: Recording, _ entries: some Collection<Recording.Entry>) {
        (self.recording, start) = (recording, entries.first?.time ?? 0)
        for entry in entries { table.fit(cells(entry)) }
    }

    package func line(for entry: Recording.Entry) -> String {
        let isTarget = entry.target >= 0 && entry.target != entry.thread && !(entry.stage.isWait && entry.message >= 0)
        let what = [
            // A performed block has no notification.
            recording.name(of: entry) ?? (entry.post < 0 ? nil : "block"),
            entry.post < 0 ? nil : "#\(recording.posts[Int(entry.post)].number)",
            entry.observer < 0 ? nil : "observer \(recording.observers[Int(entry.observer)].number)",
            isTarget ? "for \(name(of: entry.target))" : nil, recording.words(of: entry),
        ].compactMap(\.self)
        return table.line(cells(entry) + [ShownText.escaped(what.joined(separator: " "))])
    }

    private func cells(_ entry: Recording.Entry) -> [String] {
        let elapsed = Int64(bitPattern: entry.time &- start)
        let time = ElapsedTime.decimal(Int64(clamping: elapsed.magnitude), per: 1_000_000, decimals: 3)
        let kernelID = entry.isThreadKnown ? ":\(recording.threads[Int(entry.thread)].identity.kernelID)" : ""
        return [
            "\(elapsed < 0 ? "-" : "")\(time) ms",
            "[\(recording.processes[recording.process(of: entry)].id)\(kernelID)]",
            entry.isThreadKnown ? ShownText.escaped(name(of: entry.thread)) : "-", entry.stage.rawValue,
        ]
    }

    private func name(of thread: Int32) -> String {
        let identity = recording.threads[Int(thread)].identity
        return identity.name.map { "\(identity.number) \($0)" } ?? "thread \(identity.number)"
    }
}
