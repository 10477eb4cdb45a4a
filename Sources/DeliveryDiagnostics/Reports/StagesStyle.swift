package import DeliveryRecording
internal import TerminalText
internal import ThreadedNotifications

/// Formats each record as a line with aligned columns.
package struct StagesStyle: Sendable {
    private let recording: Recording
    private let start: UInt64
    /// All times have microseconds, so that they are as exact in a long recording.
    private let unit: (name: String, nanoseconds: Int64, decimals: Int)
    private var table = Table([.number(""), .text(), .text(), .text(), .text()])

    /// - Parameter entries: all that are to be printed. Times are relative to the first one.
    package init(_ recording: Recording, _ entries: some BidirectionalCollection<Recording.Entry>) {
        self.recording = recording
        start = entries.first?.time ?? 0
        let length = (entries.last?.time ?? 0) &- start
        unit =
            length < 10_000_000
            ? ("µs", 1000, 0) : length < 10_000_000_000 ? ("ms", 1_000_000, 3) : ("s", 1_000_000_000, 6)
        // Cells are wide because of their thread, their stage, or the time that is the farthest from the first.
        var widest: [Recording.Entry] = []
        var (threads, stages): (Set<[Int32]>, Set<DeliveryStage>) = ([], [])
        for entry in entries {
            let isNew = stages.insert(entry.stage).inserted
            let isNewThread = threads.insert([entry.thread, entry.isThreadKnown ? 1 : 0]).inserted
            if isNew || isNewThread { table.fit(cells(entry)) }
            if widest.isEmpty { widest = [entry, entry] }
            if elapsed(entry) < elapsed(widest[0]) { widest[0] = entry }
            if elapsed(entry) > elapsed(widest[1]) { widest[1] = entry }
        }
        for entry in widest { table.fit(cells(entry)) }
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

    private func elapsed(_ entry: Recording.Entry) -> Int64 { Int64(bitPattern: entry.time &- start) }

    private func cells(_ entry: Recording.Entry) -> [String] {
        let elapsed = elapsed(entry)
        let time = ElapsedTime.decimal(
            Int64(clamping: elapsed.magnitude), per: unit.nanoseconds, decimals: unit.decimals)
        let kernelID = entry.isThreadKnown ? ":\(recording.threads[Int(entry.thread)].identity.kernelID)" : ""
        return [
            "\(elapsed < 0 ? "-" : "")\(time) \(unit.name)",
            "[\(recording.processes[recording.process(of: entry)].id)\(kernelID)]",
            entry.isThreadKnown ? ShownText.escaped(name(of: entry.thread)) : "-", entry.stage.rawValue,
        ]
    }

    private func name(of thread: Int32) -> String {
        let identity = recording.threads[Int(thread)].identity
        return identity.name.map { "\(identity.number) \($0)" } ?? "thread \(identity.number)"
    }
}
