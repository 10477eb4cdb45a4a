/// The lines of a recording's file, so that what reads them again reads what the file has. They have no control
/// characters: those of a string are escaped as in JSON.
package struct RecordingLines {
    package let recording: Recording
    private let bytes: [UInt8]

    /// Reads the recording of a file, or of standard input for `-`, and keeps its lines.
    package init(path: String, progress: (Int) -> Void = { _ in }) throws(LogError) {
        let source = try LineSource(path: path)
        bytes = try source.bytes()
        recording = try Recording(LineSource(name: source.name, bytes: bytes), progress: progress)
    }

    /// - Parameters:
    ///   - selected: the numbers of the lines of the records to print, without the records' own numbers, so that none
    ///     seems to be missing; nil prints every line.
    ///   - write: called with each line and its newline. The last may have none. A line that cannot be read is a
    ///     question mark.
    package func forEach(selected: Set<Int32>?, _ write: ([UInt8]) throws -> Void) rethrows {
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        for (number, bytes) in lines.enumerated() {
            var line = bytes.drop { $0 == 0 }
            if line.isEmpty || bytes.first == 0 && line.first != UInt8(ascii: "{") { continue }
            let isRecord = line.withUnsafeBufferPointer { (try? RecordFields($0))?.has(.stage) }
            if let selected {
                guard let isRecord, !isRecord || selected.contains(Int32(number + 1)) else { continue }
                if line.starts(with: "{\"n\":".utf8), let comma = line.firstIndex(of: UInt8(ascii: ",")) {
                    line = [UInt8(ascii: "{")] + line[(comma + 1)...]
                }
            }
            let end = number + 1 < lines.count ? [UInt8(ascii: "\n")] : []
            try write((isRecord == nil ? [UInt8(ascii: "?")] : shown(line)) + end)
        }
    }

    private func shown(_ line: ArraySlice<UInt8>) -> [UInt8] {
        // A byte of C2 begins the control characters from U+0080.
        guard line.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == 0xC2 }) else { return Array(line) }
        return String(decoding: line, as: UTF8.self).unicodeScalars.flatMap { scalar in
            switch scalar {
            // White space.
            case "\0"..."\u{1F}": [UInt8(ascii: " ")]
            case "\u{7F}"..."\u{9F}": Array("\\u00\(String(scalar.value, radix: 16))".utf8)
            default: Array(String(scalar).utf8)
            }
        }
    }
}
