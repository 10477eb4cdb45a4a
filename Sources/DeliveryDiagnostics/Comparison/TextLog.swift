package import DeliveryRecording
internal import ThreadedNotifications

/// A text log in memory: its lines, and a recording of its messages.
///
/// A line names its thread, but not what caused it. Lines of different threads may follow each other by chance, so only
/// the order of each thread is certain.
package struct TextLog: Sendable {
    package private(set) var recording: Recording
    /// The lines without newlines, one after the other.
    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    private var lastIsComplete = true

    /// - Parameter progress: called from time to time with the number of lines read.
    package init(_ reader: LogReader, progress: (Int) -> Void = { _ in }) throws(LogError) {
        var reader = reader
        recording = Recording(source: reader.name)
        var processes: [String: Int32] = [:]
        var threads: [Writer: Int32] = [:]
        var messages: [String: Int32] = [:]
        while let read = try reader.next() {
            let line = read.line
            if processes[line.processID] == nil {
                processes[line.processID] = Int32(recording.processes.count)
                recording.processes.append(ProcessIdentity(id: Int32(line.processID) ?? -1, name: line.process))
                recording.wallOffsets.append(0)
            }
            let process = processes[line.processID] ?? 0
            let writer = Writer(process: process, id: line.threadID)
            if threads[writer] == nil {
                threads[writer] = Int32(recording.threads.count)
                let identity = ThreadIdentity(
                    number: recording.threads.count + 1, name: nil, kernelID: Int32(line.threadID) ?? -1)
                recording.threads.append(Recording.Thread(process: process, identity: identity))
            }
            if messages[line.message] == nil {
                messages[line.message] = Int32(recording.strings.count)
                recording.strings.append(line.message)
            }
            var entry = Recording.Entry(time: 0, stage: .log, thread: threads[writer] ?? 0)
            entry.message = messages[line.message] ?? -1
            entry.line = Int32(clamping: read.number)
            recording.entries.append(entry)
            bytes.append(contentsOf: line.text.utf8)
            ends.append(bytes.count)
            lastIsComplete = read.isComplete
            if ends.count & 0x3FFF == 0 { progress(ends.count) }
        }
    }

    private struct Writer: Hashable {
        var process: Int32
        var id: String
    }

    /// The line of an entry, for a difference.
    func side(_ index: Int?) -> LogDifference.Side {
        guard let index else { return LogDifference.Side(log: recording.source) }
        let start = index == 0 ? 0 : ends[index - 1]
        return LogDifference.Side(
            log: recording.source, number: Int(recording.entries[index].line),
            line: String(decoding: bytes[start..<ends[index]], as: UTF8.self),
            isComplete: lastIsComplete || index < ends.count - 1)
    }

    /// The first line of an entry's thread; nil if the entry itself is the first.
    func firstLine(ofThreadOf index: Int) -> Int? {
        let thread = recording.entries[index].thread
        guard let first = recording.entries[..<index].first(where: { $0.thread == thread }) else { return nil }
        return Int(first.line)
    }
}
