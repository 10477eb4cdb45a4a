internal import Foundation

/// Records as JSON, one a line.
public enum RecordLines {
    /// One record as one line, without the newline; the keys are sorted.
    public static func line(for record: DeliveryRecord) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(record), as: UTF8.self)
    }

    /// The record of one line.
    public static func record(from line: some StringProtocol) throws -> DeliveryRecord {
        try JSONDecoder().decode(DeliveryRecord.self, from: Data(line.utf8))
    }
}
