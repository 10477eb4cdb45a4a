package import DeliveryRecording
package import Foundation
internal import ThreadedNotifications

/// Formats a record as a line of the documents' logs: `2016-02-13 22:05:12.856 test[865:45102] current thread = {number
/// = 1, name = main}`.
package struct DocumentStyle: Sendable {
    private let style: Date.ISO8601FormatStyle

    /// - Parameter timeZone: the time zone of the times; NSLog uses the local one.
    package init(timeZone: TimeZone = .current) {
        style = Date.ISO8601FormatStyle(timeZone: timeZone).year().month().day()
            .dateTimeSeparator(.space).time(includingFractionalSeconds: true)
    }

    package func lines(of recording: Recording) -> [String] {
        recording.entries.compactMap { line(for: $0, of: recording) }
    }

    /// Nil if the record is not a log message.
    package func line(for entry: Recording.Entry, of recording: Recording) -> String? {
        guard entry.stage == .log, let message = recording.message(of: entry) else { return nil }
        let process = recording.processes[recording.process(of: entry)]
        let place = "\(process.name)[\(process.id):\(recording.threads[Int(entry.thread)].identity.kernelID)]"
        return "\(time(recording.wallTime(of: entry))) \(place) \(message)"
    }

    /// - Parameter wallNanoseconds: since 1970-01-01 UTC.
    package func time(_ wallNanoseconds: Int64) -> String {
        // Rounded down, whether or not the format rounds.
        Date(timeIntervalSince1970: Double(wallNanoseconds / 1_000_000) / 1000 + 0.0002).formatted(style)
    }
}
