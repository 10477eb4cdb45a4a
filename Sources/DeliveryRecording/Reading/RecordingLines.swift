/// The lines of a recording's file as they are, so that what reads them again reads what the file has.
///
/// The lines have no control characters: those of a string are escaped as in JSON. A line that cannot be read cannot be
/// read afterwards either. NUL bytes stay: they tell that a record was not finished.
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
    ///   - selected: the numbers of the lines of the records to print; nil prints every line. A header before a record
    ///     says that those before it are left out.
    ///   - write: called with each line and its newline. The last may have none.
    package func forEach(selected: Set<Int32>?, _ write: ([UInt8]) throws -> Void) rethrows {
        var header: (start: [UInt8], t: UInt64, wall: UInt64)?
        var (start, number, next) = (0, Int32(0), UInt64(1))
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count
            let isWhole = bytes[end - 1] == UInt8(ascii: "\n")
            let line = bytes[start..<(isWhole ? end - 1 : end)]
            start = end
            number += 1
            try line.withUnsafeBufferPointer { line in
                let fields = try? RecordFields(line)
                guard let selected else {
                    // A line with NUL bytes is a part of one.
                    let isReadable = fields != nil || !isWhole || line.contains(0)
                    return try write(shown(line, isReadable: isReadable) + (isWhole ? [10] : []))
                }
                guard let fields else { return }
                if let version = fields.number(.recording) {
                    let name = fields.raw(.name).map { shown($0, isReadable: true) } ?? []
                    let process = fields.number(.process) ?? 0
                    let start = Array("{\"recording\":\(version),\"process\":\(process),\"name\":\"".utf8) + name
                    header = (start, fields.number(.t) ?? 0, fields.number(.wall) ?? 0)
                    next = fields.number(.n) ?? 1
                }
                if fields.has(.stage) {
                    guard selected.contains(number) else { return }
                    if let n = fields.number(.n), let t = fields.number(.t) {
                        if n != next, let header {
                            let rest = "\",\"n\":\(n),\"t\":\(t),\"wall\":\(header.wall &+ t &- header.t)}\n"
                            try write(header.start + Array(rest.utf8))
                        }
                        next = n &+ 1
                    }
                }
                try write(shown(line, isReadable: true) + [10])
            }
        }
    }

    private func shown(_ line: UnsafeBufferPointer<UInt8>, isReadable: Bool) -> [UInt8] {
        // A byte of C2 begins the control characters from U+0080.
        guard line.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == 0xC2 }) || !isReadable else { return Array(line) }
        var shown: [UInt8] = isReadable ? [] : [UInt8(ascii: "?")]
        for scalar in String(decoding: line, as: UTF8.self).unicodeScalars {
            switch scalar {
            case "\0": shown.append(0)
            // In a line that can be read, it is white space.
            case "\u{1}"..."\u{1F}": shown.append(UInt8(ascii: " "))
            case "\u{7F}"..."\u{9F}": shown += Array("\\u00\(String(scalar.value, radix: 16))".utf8)
            default: shown += Array(String(scalar).utf8)
            }
        }
        return shown
    }
}
