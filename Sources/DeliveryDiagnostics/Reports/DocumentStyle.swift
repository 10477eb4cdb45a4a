public import Foundation
internal import ThreadedNotifications

/// Prints what the program said, in exactly the form of the documents' logs:
/// `2016-02-13 22:05:12.856 test[865:45102] current thread = {number = 1, name = main}`.
public struct DocumentStyle: Sendable {
    private let calendar: Calendar

    /// - Parameter timeZone: the one to show times in, as NSLog does the local one.
    public init(timeZone: TimeZone = .current) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        self.calendar = calendar
    }

    /// Nil for a stage at which nothing was said.
    public func line(for record: DeliveryRecord) -> String? {
        guard record.stage == .log, let message = record.message else { return nil }
        let process = record.process
        return "\(time(record.wallNanoseconds)) \(process.name)[\(process.id):\(record.thread.kernelID)] \(message)"
    }

    private func time(_ wallNanoseconds: Int64) -> String {
        let milliseconds = (wallNanoseconds / 1_000_000) % 1000
        let date = Date(timeIntervalSince1970: Double(wallNanoseconds / 1_000_000_000))
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
        let day = [parts.year, parts.month, parts.day].map { padded($0 ?? 0, 2) }.joined(separator: "-")
        let time = [parts.hour, parts.minute, parts.second].map { padded($0 ?? 0, 2) }.joined(separator: ":")
        return "\(day) \(time).\(padded(Int(milliseconds), 3))"
    }

    private func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
