package import DeliveryRecording
internal import ThreadedNotifications

/// A text log in memory: its messages, each with its thread, as a recording of `log` records.
///
/// A message begins with a line in NSLog's format (see `LogLine`). Comments, which begin with `#`, and blank lines are
/// ignored. Any other line continues the message before it, or is skipped: `recording(skipsOtherLines:)`.
///
/// A line names its thread, but not what caused it. Lines of different threads may follow each other by chance, so only
/// the order of each thread is certain.
package struct TextLog: Sendable {
    /// The name of the log in errors and differences.
    package var name: String { messages.source }

    /// False if the log ends within a line.
    private(set) var isComplete = true

    /// Each entry has a string of its own, at the same index.
    private var messages: Recording
    /// The first line of each message.
    private(set) var lines: [String] = []
    /// The lines that are not in NSLog's format, each with the index of the message before it, or -1.
    private var otherLines: [(message: Int, text: String)] = []

    /// - Parameter progress: called from time to time with the number of lines read.
    /// - Throws: `LogError` if the log cannot be read or has no line in NSLog's format.
    package init(_ source: LineSource, progress: (Int) -> Void = { _ in }) throws(LogError) {
        messages = Recording(source: source.name)
        var writers: [String: Int32] = [:]
        // The first line that is not in NSLog's format.
        var problem = (line: Int?.none, text: "contains no log lines.", found: "")
        func error(_ line: Int?, _ problem: String, found: String = "") -> LogError {
            LogError(
                log: source.name, line: line,
                problem: "\(problem) Expected a line such as \"\(LogLine.example)\"\(found).")
        }
        try source.forEachLine { line, number throws(LogError) in
            if number.isMultiple(of: 10_000) { progress(number) }
            guard case .text(var bytes, let isWhole) = line else {
                throw error(
                    number, "this line is longer than \(LineSource.longestLine) bytes, so it is not a log line.")
            }
            if number == 1, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = .init(rebasing: bytes[3...]) }
            if bytes.last == UInt8(ascii: "\r") { bytes = .init(rebasing: bytes.dropLast()) }
            isComplete = isWhole
            if bytes.first == UInt8(ascii: "#") { return }
            let text = String(decoding: bytes, as: UTF8.self)
            guard let line = LogLine(bytes) else {
                if text.allSatisfy(\.isWhitespace) { return }
                if problem.line == nil {
                    let end = isWhole ? "" : " The log ends within this line, so it may be truncated."
                    problem = (number, "this is not a log line.\(end)", ", found \"\(Excerpt.of(text, length: 60))\"")
                }
                otherLines.append((lines.count - 1, text))
                return
            }
            var entry = Recording.Entry(time: 0, stage: .log, thread: messages.thread(of: line, &writers))
            (entry.message, entry.line) = (Int32(lines.count), Int32(clamping: number))
            messages.entries.append(entry)
            messages.strings.append(line.message)
            lines.append(text)
        }
        if lines.isEmpty { throw error(problem.line, problem.text, found: problem.found) }
    }

    /// Reads from memory.
    package init(name: String, text: String) throws(LogError) {
        try self.init(LineSource(name: name, bytes: Array(text.utf8)))
    }

    /// The messages as a recording.
    ///
    /// - Parameter skipsOtherLines: whether to skip lines that are neither in NSLog's format nor indented. Otherwise
    ///   they continue the message before. Lines before the first message are always skipped.
    /// - Returns: the recording, and the number of lines that were skipped.
    package func recording(skipsOtherLines: Bool) -> (recording: Recording, skipped: Int) {
        var (recording, skipped) = (messages, 0)
        for line in otherLines {
            if line.message >= 0, !skipsOtherLines || Self.isIndented(line.text) {
                recording.strings[line.message] += "\n" + line.text
            } else {
                skipped += 1
            }
        }
        return (recording, skipped)
    }

    /// True if the line continues a message also in the combined output of a program.
    private static func isIndented(_ line: String) -> Bool { " \t)]}".contains(line.first ?? " ") }

    /// True if the log ends within this message.
    func isTruncated(_ index: Int) -> Bool { !isComplete && index == lines.count - 1 }
}

extension Recording {
    /// The thread that wrote a line; appends it if it is new.
    ///
    /// - Parameter writers: the indices of processes by their ids, and of threads by theirs after their processes'.
    fileprivate mutating func thread(of line: LogLine, _ writers: inout [String: Int32]) -> Int32 {
        let id = "\(line.processID):\(line.threadID)"
        if let known = writers[id] { return known }
        let process = writers[line.processID] ?? Int32(processes.count)
        if process == processes.count {
            processes.append(ProcessIdentity(id: Int32(line.processID) ?? -1, name: line.process))
            wallOffsets.append(0)
        }
        let identity = ThreadIdentity(number: threads.count + 1, name: nil, kernelID: Int32(line.threadID) ?? -1)
        threads.append(Thread(process: process, identity: identity))
        (writers[line.processID], writers[id]) = (process, Int32(threads.count - 1))
        return Int32(threads.count - 1)
    }
}
