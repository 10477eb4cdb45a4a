package import Foundation

/// Formats wall clock times like the documents' logs: `2016-02-13 22:05:12.856`.
package struct WallTime: Sendable {
    private let calendar: Calendar

    package init(timeZone: TimeZone) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        self.calendar = calendar
    }

    /// - Parameter wallNanoseconds: since 1970-01-01 UTC.
    package func text(_ wallNanoseconds: Int64) -> String {
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
