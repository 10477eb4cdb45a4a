package import DeliveryRecording

/// Compares two logs by structure: the messages, their order, and their threads.
///
/// Times and process names are not compared. Thread ids, process ids and thread numbers may differ if they correspond
/// one to one.
/// Cost: one pass over both logs. Memory grows only with the number of threads and processes.
package struct LogComparison {
    package enum Outcome: Hashable, Sendable {
        case same(lines: Int, threads: Int)
        case different(LogDifference)
    }

    private var processes = Renaming<String>()
    private var threads = Renaming<Thread>()
    /// The threads of the first log that wrote a line. Others are only mentioned.
    private var writers: Set<Thread> = []
    private var numbers = Renaming<Number>()

    private struct Thread: Hashable {
        var process: String
        var id: String
    }

    private struct Number: Hashable {
        var process: String
        var number: Int
    }

    /// Reads both logs until they differ or end.
    ///
    /// - Parameter progress: called after every 10,000 lines with the number of equal lines so far.
    package static func compare(
        _ first: LogReader, _ second: LogReader, progress: (Int) -> Void = { _ in }
    ) throws(LogError) -> Outcome {
        var (first, second) = (first, second)
        var comparison = LogComparison()
        var lines = 0
        while true {
            let (one, other) = (try first.next(), try second.next())
            guard one != nil || other != nil else { return .same(lines: lines, threads: comparison.writers.count) }
            lines += 1
            if lines.isMultiple(of: 10_000) { progress(lines) }
            if let reason = comparison.difference(one, other) {
                return .different(
                    LogDifference(
                        reason: reason, first: LogDifference.Side(log: first.name, line: one),
                        second: LogDifference.Side(log: second.name, line: other)))
            }
        }
    }

    private mutating func difference(_ one: LogReader.ReadLine?, _ other: LogReader.ReadLine?) -> LogDifference.Reason?
    {
        guard let one, let other else { return .oneEnds }
        let lines = (one.number, other.number)
        if let mismatch = processes.match(one.line.processID, other.line.processID, lines: lines) {
            return .process(mismatch)
        }
        let writer = Thread(process: one.line.processID, id: one.line.threadID)
        writers.insert(writer)
        if let mismatch = threads.match(
            writer, Thread(process: other.line.processID, id: other.line.threadID), lines: lines)
        {
            return .thread(mismatch)
        }
        return difference(one.line, other.line, lines: lines)
    }

    private mutating func difference(
        _ one: LogLine, _ other: LogLine, lines: (Int, Int)
    ) -> LogDifference.Reason? {
        if one.message == other.message && !one.message.utf8.contains(UInt8(ascii: "{")) { return nil }
        let (parts, otherParts) = (MessagePart.parts(of: one.message), MessagePart.parts(of: other.message))
        guard parts.count == otherParts.count else { return .message }
        for (part, otherPart) in zip(parts, otherParts) {
            switch (part, otherPart) {
            case (.text(let text), .text(let otherText)) where text == otherText:
                continue
            case (.thread(let thread), .thread(let otherThread)):
                let isMain = thread.isMain(in: one)
                guard isMain == otherThread.isMain(in: other), thread.name(in: one) == otherThread.name(in: other)
                else { return .message }
                if isMain { continue }
                let mismatch =
                    thread.isKernelID && otherThread.isKernelID
                    ? threads.match(
                        Thread(process: one.processID, id: String(thread.number)),
                        Thread(process: other.processID, id: String(otherThread.number)), lines: lines)
                    : numbers.match(
                        Number(process: one.processID, number: thread.number),
                        Number(process: other.processID, number: otherThread.number), lines: lines)
                if let mismatch { return .threadNumber(mismatch) }
            default:
                return .message
            }
        }
        return nil
    }
}

extension ThreadDescription {
    /// The main thread has number 1, or a kernel id equal to the process id.
    fileprivate func isMain(in line: LogLine) -> Bool {
        number == 1 || (isKernelID && String(number) == line.processID)
    }

    /// GNUstep does not name the main thread.
    fileprivate func name(in line: LogLine) -> String? {
        isMain(in: line) ? name ?? "main" : name
    }
}

/// A one-to-one mapping between the names of two logs.
private struct Renaming<Name: Hashable> {
    private var first: [Name: (other: Name, line: Int)] = [:]
    private var second: [Name: (other: Name, line: Int)] = [:]

    /// Maps the names to each other. Nil on success.
    mutating func match(_ one: Name, _ other: Name, lines: (Int, Int)) -> LogDifference.Mismatch? {
        let (known, otherKnown) = (first[one], second[other])
        if known == nil && otherKnown == nil {
            first[one] = (other, lines.0)
            second[other] = (one, lines.1)
            return nil
        }
        if let known, known.other == other { return nil }
        return LogDifference.Mismatch(firstSeen: known?.line, secondSeen: otherKnown?.line)
    }
}
