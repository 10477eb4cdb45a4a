package import DeliveryRecording
internal import ThreadedNotifications

/// Formats each record as a line with aligned columns.
package struct StagesStyle: Sendable {
    private let start: UInt64
    /// All times have microseconds, so that they are as exact in a long recording.
    private let unit: (name: String, nanoseconds: Int64, decimals: Int)
    private var table = Table([.number(""), .text(), .text(), .text(), .text()])

    /// - Parameter records: all records to be printed, which may be computed twice. Times are relative to the first one.
    package init(_ records: some BidirectionalCollection<DeliveryRecord>) {
        start = records.first?.monotonicNanoseconds ?? 0
        let length = (records.last?.monotonicNanoseconds ?? 0) &- start
        unit =
            length < 10_000_000
            ? ("µs", 1000, 0) : length < 10_000_000_000 ? ("ms", 1_000_000, 3) : ("s", 1_000_000_000, 6)
        // Cells are wide because of their thread, their stage, or the time that is the farthest from the first.
        var widest: [DeliveryRecord] = []
        var (threads, stages): (Set<[Int32]>, Set<DeliveryStage>) = ([], [])
        for record in records {
            let place = [record.process.id, Int32(clamping: record.thread.number), record.isThreadKnown ? 1 : 0]
            let isNew = stages.insert(record.stage).inserted
            if threads.insert(place).inserted || isNew { table.fit(cells(record)) }
            if widest.isEmpty { widest = [record, record] }
            if elapsed(record) < elapsed(widest[0]) { widest[0] = record }
            if elapsed(record) > elapsed(widest[1]) { widest[1] = record }
        }
        for record in widest { table.fit(cells(record)) }
    }

    package func line(for record: DeliveryRecord) -> String {
        let what = [
            // A performed block has no notification.
            record.notification ?? record.post.map { _ in "block" }, record.post.map { "#\($0)" },
            record.observer.map { "observer \($0)" },
            record.stage.isWait && record.message != nil ? nil : Self.target(of: record),
            record.details.map { record.stage.isWait ? RecordWords.withThreadNames($0) : $0 },
        ].compactMap(\.self)
        return table.line(cells(record) + [ShownText.escaped(what.joined(separator: " "))])
    }

    private func elapsed(_ record: DeliveryRecord) -> Int64 {
        Int64(bitPattern: record.monotonicNanoseconds &- start)
    }

    private func cells(_ record: DeliveryRecord) -> [String] {
        let elapsed = elapsed(record)
        let time = ElapsedTime.decimal(
            Int64(clamping: elapsed.magnitude), per: unit.nanoseconds, decimals: unit.decimals, keepsZeros: true)
        let thread = record.isThreadKnown ? record.thread : nil
        return [
            "\(elapsed < 0 ? "-" : "")\(time) \(unit.name)",
            "[\(record.process.id)\(thread.map { ":\($0.kernelID)" } ?? "")]",
            ShownText.escaped(thread.map(Self.name) ?? "-"), record.stage.rawValue,
        ]
    }

    /// Nil if it is the thread of the line.
    private static func target(of record: DeliveryRecord) -> String? {
        record.target.flatMap { $0 == record.thread ? nil : "for \(name(of: $0))" }
    }

    private static func name(of thread: ThreadIdentity) -> String {
        "\(thread.number) \(thread.name ?? "(null)")"
    }
}
