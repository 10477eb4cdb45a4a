/// The lines of a recording's file as they are, so that what reads them again reads what the file has.
///
/// The lines have no control characters: those of a string are escaped as in JSON. A line that cannot be read cannot be
/// read afterwards either. NUL bytes stay: they tell that a record was not finished.
package struct RecordingLines {
    private var bytes: [UInt8] = []

    package init() {}

    /// Reads the recording of a file, or of standard input for `-`, and keeps its lines.
    package mutating func read(path: String, progress: (Int) -> Void = { _ in }) throws(LogError) -> Recording {
        var source = try LineSource(path: path)
        let kept = Kept()
        source.forEachChunk { kept.bytes += $0 }
        let recording = try Recording(source, progress: progress)
        bytes = kept.bytes
        return recording
    }

    private final class Kept { var bytes: [UInt8] = [] }

    /// - Parameters:
    ///   - selected: the numbers of the lines of the records to print; nil prints every line. A header before a record
    ///     says that those before it are left out.
    ///   - write: called with each line and its newline. The last may have none.
    package func forEach(selected: Set<Int32>?, _ write: ([UInt8]) throws -> Void) rethrows {
        var header: (start: String, n: UInt64, t: UInt64, wall: UInt64)?
        var next: UInt64 = 1
        var (start, number) = (0, Int32(0))
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count
            defer { start = end }
            number += 1
            let isWhole = bytes[end - 1] == UInt8(ascii: "\n")
            let line = bytes[start..<(isWhole ? end - 1 : end)]
            let fields = line.withUnsafeBufferPointer { try? RecordFields($0) }
            if selected == nil {
                // A line with NUL bytes is a part of one.
                let isReadable = fields != nil || !isWhole || line.contains(0)
                try write(shown(line, isReadable: isReadable) + (isWhole ? [10] : []))
            }
            guard let selected, let fields else { continue }
            let numbers = fields.numbers
            if let version = numbers.recording {
                let name = fields.name.map { shown(Array(line)[$0.start..<$0.end], isReadable: true) } ?? []
                header = (
                    "{\"recording\":\(version),\"process\":\(numbers.process ?? 0),\"name\":\"\(String(decoding: name, as: UTF8.self))\"",
                    numbers.n ?? 1, numbers.t ?? 0, numbers.wall ?? 0
                )
                next = numbers.n ?? 1
            }
            if fields.stage != nil {
                guard selected.contains(number) else { continue }
                if let n = numbers.n, let t = numbers.t {
                    if n != next, let header {
                        let wall = header.wall &+ t &- header.t
                        try write(Array("\(header.start),\"n\":\(n),\"t\":\(t),\"wall\":\(wall)}\n".utf8))
                    }
                    next = n &+ 1
                }
            }
            try write(shown(line, isReadable: true) + [10])
        }
    }

    private func shown(_ line: ArraySlice<UInt8>, isReadable: Bool) -> [UInt8] {
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
