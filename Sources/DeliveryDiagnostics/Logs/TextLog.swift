package import DeliveryRecording
internal import ThreadedNotifications

/// A text log in memory: its messages, each with its thread, as a recording of `log` records.
///
/// A message begins with a line in NSLog's format (see `LogLine`). Comments, which begin with `#`, and blank lines are
/// ignored. Any other line continues the message before it, or is skipped if the log is the combined output of a
/// program: `recording(skipsOtherLines:)`.
///
/// A line names its thread, but not what caused it. Lines of different threads may follow each other by chance, so only
/// the order of each thread is certain.
package struct TextLog: Sendable {
    /// The name of the log in errors and differences.
    package var name: String { messages.source }

    /// True if the log has lines that do not continue a message: before the first message, or such as
    /// `warning: the disk is full`. A program that writes its messages and its log to the same file has such lines.
    package private(set) var isCombinedOutput = false
    /// False if the log ends within a line.
    private(set) var isComplete = true

    /// The first line of each message.
    private var messages: Recording
    /// The first lines without newlines, one after the other.
    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    /// The lines that are not in NSLog's format, each with the index of the message before it, or -1.
    private var otherLines: [(message: Int, text: String)] = []

    /// Reads from a function.
    ///
    /// - Parameters:
    ///   - progress: called from time to time with the number of lines read.
    ///   - readChunk: fills a part of the buffer and returns the number of bytes, 0 at the end.
    /// - Throws: `LogError` if the log cannot be read or has no line in NSLog's format.
    package init(
        name: String, progress: (Int) -> Void = { _ in },
        readChunk: @escaping (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws(LogError) {
        var builder = Builder(name)
        do {
            try LineSource(readChunk: readChunk).forEachLine { line, number in
                if number.isMultiple(of: 10_000) { progress(number) }
                builder.read(line, number)
                return builder.tooLongLine == nil
            }
        } catch {
            throw LogError(log: name, line: nil, problem: "cannot be read: \(error).")
        }
        self = try builder.finish()
    }

    /// Reads from memory.
    package init(name: String, text: String) throws(LogError) {
        var rest = Array(text.utf8)[...]
        try self.init(name: name) { rest.take(into: $0) }
    }

    private init(_ name: String) { messages = Recording(source: name) }

    /// The messages as a recording.
    ///
    /// - Parameter skipsOtherLines: whether to skip lines that are neither in NSLog's format nor indented. Otherwise
    ///   they continue the message before. Lines before the first message are always skipped.
    /// - Returns: the recording, and the number of lines that were skipped.
    package func recording(skipsOtherLines: Bool) -> (recording: Recording, skipped: Int) {
        var (recording, skipped) = (messages, 0)
        var continued = -1
        for line in otherLines {
            guard line.message >= 0, !skipsOtherLines || Self.isIndented(line.text) else {
                skipped += 1
                continue
            }
            if line.message != continued {
                continued = line.message
                recording.strings.append(messages.message(of: messages.entries[continued]) ?? "")
                recording.entries[continued].message = Int32(recording.strings.count - 1)
            }
            recording.strings[recording.strings.count - 1] += "\n" + line.text
        }
        return (recording, skipped)
    }

    /// True if the line continues a message also in the combined output of a program.
    private static func isIndented(_ line: String) -> Bool { " \t)]}".contains(line.first ?? " ") }

    /// The first line of a message.
    func line(_ index: Int) -> String {
        String(decoding: bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]], as: UTF8.self)
    }

    /// True if the log ends within this message.
    func isTruncated(_ index: Int) -> Bool { !isComplete && index == ends.count - 1 }

    private struct Builder {
        private(set) var tooLongLine: Int?
        private var log: TextLog
        private var processes: [String: Int32] = [:]
        private var threads: [Writer: Int32] = [:]
        private var messages: [String: Int32] = [:]
        /// The first line that is not in NSLog's format.
        private var firstProblem: (line: Int, problem: LogLine.Problem, text: String, isComplete: Bool)?

        private struct Writer: Hashable {
            var process: Int32
            var id: String
        }

        init(_ name: String) { log = TextLog(name) }

        mutating func read(_ line: LineSource.Line, _ number: Int) {
            guard case .text(var bytes, let isWhole) = line else {
                tooLongLine = number
                return
            }
            if number == 1, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = .init(rebasing: bytes[3...]) }
            if bytes.last == UInt8(ascii: "\r") { bytes = .init(rebasing: bytes.dropLast()) }
            log.isComplete = isWhole
            if bytes.first == UInt8(ascii: "#") { return }
            do throws(LogLine.Problem) {
                append(try LogLine(bytes), bytes, number)
            } catch {
                let text = String(decoding: bytes, as: UTF8.self)
                if text.allSatisfy(\.isWhitespace) { return }
                if firstProblem == nil { firstProblem = (number, error, text, isWhole) }
                log.otherLines.append((log.ends.count - 1, text))
                let isDiagnostic = !TextLog.isIndented(text) && Self.isDiagnostic(text)
                if log.ends.isEmpty || isDiagnostic { log.isCombinedOutput = true }
            }
        }

        /// Returns whether a line has the shape of `warning: …`, `Fatal error: …` or `main.swift:12: …`.
        private static func isDiagnostic(_ text: String) -> Bool {
            text.prefixMatch(of: /[^\s:{}()="]+(:\d+)*( [^\s:{}()="]+)?:( |$)/) != nil
        }

        private mutating func append(_ line: LogLine, _ bytes: UnsafeBufferPointer<UInt8>, _ number: Int) {
            let process = Self.index(line.processID, in: &processes) {
                log.messages.processes.append(ProcessIdentity(id: Int32(line.processID) ?? -1, name: line.process))
                log.messages.wallOffsets.append(0)
            }
            let thread = Self.index(Writer(process: process, id: line.threadID), in: &threads) {
                let identity = ThreadIdentity(
                    number: log.messages.threads.count + 1, name: nil, kernelID: Int32(line.threadID) ?? -1)
                log.messages.threads.append(Recording.Thread(process: process, identity: identity))
            }
            var entry = Recording.Entry(time: 0, stage: .log, thread: thread)
            entry.message = Self.index(line.message, in: &messages) { log.messages.strings.append(line.message) }
            entry.line = Int32(clamping: number)
            log.messages.entries.append(entry)
            log.bytes.append(contentsOf: bytes)
            log.ends.append(log.bytes.count)
        }

        /// The index of an element in a table.
        ///
        /// - Parameter append: appends a new element to the table.
        private static func index<Element: Hashable>(
            _ element: Element, in indices: inout [Element: Int32], append: () -> Void
        ) -> Int32 {
            if let index = indices[element] { return index }
            indices[element] = Int32(indices.count)
            append()
            return Int32(indices.count - 1)
        }

        func finish() throws(LogError) -> TextLog {
            let problem: String
            if tooLongLine != nil {
                problem = "this line is longer than \(LineSource.longestLine) bytes, so it is not a log line."
            } else if !log.ends.isEmpty {
                return log
            } else if let firstProblem {
                problem =
                    "this is not a log line: \(firstProblem.problem.rawValue)."
                    + (firstProblem.isComplete ? "" : " The log ends within this line, so it may be truncated.")
            } else {
                problem = "contains no log lines."
            }
            let found = firstProblem.map { ", found \"\(Excerpt.of($0.text, length: 60))\"" } ?? ""
            throw LogError(
                log: log.name, line: tooLongLine ?? firstProblem?.line,
                problem: "\(problem) Expected a line such as \"\(LogLine.example)\"\(tooLongLine == nil ? found : "").")
        }
    }
}
