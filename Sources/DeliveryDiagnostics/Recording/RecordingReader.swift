internal import Foundation

extension Recording {
    /// Reads a recording's file, or standard input for `-`.
    ///
    /// - Parameter progress: told now and then how many records were read.
    public init(path: String, progress: (Int) -> Void = { _ in }) throws(LogError) {
        var builder = RecordingBuilder(source: path)
        do {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            for line in text.split(separator: "\n") { builder.append(try RecordLines.record(from: line)) }
        } catch {
            throw LogError(log: path, line: nil, problem: "cannot be read: \(error).")
        }
        self = builder.finish()
    }
}
