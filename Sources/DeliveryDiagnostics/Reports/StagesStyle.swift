package import DeliveryRecording
internal import ThreadedNotifications

/// Formats each record as a line with aligned columns.
package struct StagesStyle: Sendable {
    private let start: UInt64
    private let widths: [Int]

    /// - Parameter records: all records to be printed. Times are relative to the first one.
    package init(_ records: [DeliveryRecord]) {
        start = records.first?.monotonicNanoseconds ?? 0
        var widths = [0, 0, 0, 0]
        for record in records {
            for (column, cell) in Self.cells(record, since: start).enumerated() {
                widths[column] = max(widths[column], cell.count)
            }
        }
        self.widths = widths
    }

    package func line(for record: DeliveryRecord) -> String {
        let what = [
            // A performed block has no notification.
            record.notification ?? record.post.map { _ in "block" }, record.post.map { "#\($0)" },
            record.observer.map { "observer \($0)" }, Self.target(of: record), record.message,
        ].compactMap(\.self)
        var line = ""
        for (column, cell) in Self.cells(record, since: start).enumerated() {
            let padding = String(repeating: " ", count: max(0, widths[column] - cell.count))
            switch column {
            case 0: line += padding + cell
            case widths.count - 1 where what.isEmpty: line += "  " + cell
            default: line += "  " + cell + padding
            }
        }
        return what.isEmpty ? line : line + "  " + what.joined(separator: " ")
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
