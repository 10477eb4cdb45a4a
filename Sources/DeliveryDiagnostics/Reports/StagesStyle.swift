package import DeliveryRecording
internal import ThreadedNotifications

/// Formats each record as a line with aligned columns.
package struct StagesStyle: Sendable {
    private let start: UInt64
    private let table: Table

    /// - Parameter records: all records to be printed. Times are relative to the first one.
    package init(_ records: [DeliveryRecord]) {
        start = records.first?.monotonicNanoseconds ?? 0
        var table = Table([.number(""), .text(), .text(), .text(), .text()])
        for record in records { table.fit(Self.cells(record, since: start)) }
        self.table = table
    }

    package func line(for record: DeliveryRecord) -> String {
        let what = [
            // A performed block has no notification.
            record.notification ?? record.post.map { _ in "block" }, record.post.map { "#\($0)" },
            record.observer.map { "observer \($0)" }, Self.target(of: record), record.details,
        ].compactMap(\.self)
        return table.line(Self.cells(record, since: start) + [what.joined(separator: " ")])
    }

    /// The cells of the aligned columns.
    private static func cells(_ record: DeliveryRecord, since start: UInt64) -> [String] {
        let microseconds = (Int64(bitPattern: record.monotonicNanoseconds) - Int64(bitPattern: start)) / 1000
        return [
            "\(microseconds) µs", "[\(record.process.id):\(record.thread.kernelID)]",
            name(of: record.thread), record.stage.rawValue,
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
