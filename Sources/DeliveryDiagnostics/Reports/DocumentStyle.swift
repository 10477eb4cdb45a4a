package import DeliveryRecording
package import Foundation
internal import ThreadedNotifications

/// Formats a record as a line of the documents' logs: `2016-02-13 22:05:12.856 test[865:45102] current thread = {number
/// = 1, name = main}`.
package struct DocumentStyle: Sendable {
    private var calendar = Calendar(identifier: .gregorian)

    /// - Parameter timeZone: the time zone of the times; NSLog uses the local one.
    package init(timeZone: TimeZone = .current) { calendar.timeZone = timeZone }

    /// Nil if the record is not a log message.
    package func line(for record: DeliveryRecord) -> String? {
        guard record.stage == .log, let message = record.message else { return nil }
        let process = "\(record.process.name)[\(record.process.id):\(record.thread.kernelID)]"
        return "\(time(record.wallNanoseconds)) \(process) \(message)"
    }

    /// - Parameter wallNanoseconds: since 1970-01-01 UTC.
    package func time(_ wallNanoseconds: Int64) -> String {
        let date = Date(timeIntervalSince1970: Double(wallNanoseconds / 1_000_000_000))
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
        let fields = [parts.year, parts.month, parts.day, parts.hour, parts.minute, parts.second].map { $0 ?? 0 }
        return String(
            format: "%02ld-%02ld-%02ld %02ld:%02ld:%02ld.%03ld",
            arguments: fields + [Int(wallNanoseconds / 1_000_000 % 1000)])
    }
}
