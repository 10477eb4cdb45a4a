package import DeliveryRecording
package import Foundation
internal import ThreadedNotifications

/// Formats a record as a line of the documents' logs: `2016-02-13 22:05:12.856 test[865:45102] current thread = {number
/// = 1, name = main}`.
package struct DocumentStyle: Sendable {
    private let time: WallTime

    /// - Parameter timeZone: the time zone of the times; NSLog uses the local one.
    package init(timeZone: TimeZone = .current) {
        time = WallTime(timeZone: timeZone)
    }

    /// Nil if the record is not a log message.
    package func line(for record: DeliveryRecord) -> String? {
        guard record.stage == .log, let message = record.message else { return nil }
        let process = "\(record.process.name)[\(record.process.id):\(record.thread.kernelID)]"
        return "\(time.text(record.wallNanoseconds)) \(process) \(message)"
    }
}
