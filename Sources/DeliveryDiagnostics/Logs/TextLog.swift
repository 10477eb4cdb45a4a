package import DeliveryRecording
internal import TerminalText
internal import ThreadedNotifications

/// The messages of a text log, each with its thread.
///
/// A message begins with a line in the log's form. Blank lines are ignored, and comments if the form has them. Any other
/// line continues the message before it.
package struct TextLog: Sendable {
    /// How a log is read.
    package struct Options: Sendable {
        /// The forms that the log may have.
        package var forms = LogForm.all
        /// Whether to skip the lines in no form that are not indented, instead of adding them to the message before.
        package var skipsOtherLines = false
        /// Regular expressions: what they match is not compared.
        package var masks: [String] = []
        /// A regular expression: the log begins at the first line in which it matches.
        package var fromLine: String?
        /// A regular expression: the lines in which a run of work begins.
        package var unit: String?

        package init() {}
    }

    /// The thread that a line names.
    struct Writer: Hashable, Sendable {
        var process: String?
        var id: String?
        var name: String?
        var chain: String?
    }

    struct Message: Sendable {
        /// The number of its first line.
        var line: Int
        /// The first line, or the description of a record.
        var shown: String
        var text: String
        var time: String?
        /// An index in `writers`.
        var writer: Int
        var beginsUnit = false
    }

    /// The name of the log in errors and differences.
    package let name: String
    /// Nil for a recording.
    package private(set) var form: LogForm?
    private(set) var writers: [Writer] = []
    private(set) var messages: [Message] = []
    /// The number of lines that are not compared because they are in no form.
    package private(set) var skipped = 0
    /// The expression for the lines that begin a run of work; nil if each line of a pool is a run of its own.
    private(set) var unit: String?
    /// False if the log ends within a line.
    private(set) var isComplete = true
    private var known: [Writer: Int] = [:]

    /// The form is recognised from that many lines.
    private static let recognisedLines = 1000

    /// - Parameter progress: called from time to time with the number of lines read.
    /// - Throws: `LogError` if the log cannot be read, has no form that is known, or none with threads;
    ///   `LogPattern.Refusal` if a regular expression of the options cannot be used.
    package init(_ source: LineSource, options: Options = Options(), progress: (Int) -> Void = { _ in }) throws {
        name = source.name
        unit = options.unit
        var patterns = try Patterns(options)
        var first: [(text: String, number: Int)] = []
        var indentation = ""
        var refusal: LogPattern.Refusal?
        func read(_ lines: [(text: String, number: Int)]) throws(LogError) {
            do throws(LogPattern.Refusal) {
                if patterns.form == nil { indentation = Self.indentation(of: lines.map(\.text)) }
                let lines = lines.map { line in
                    let text =
                        line.text.hasPrefix(indentation) ? line.text.dropFirst(indentation.count) : line.text[...]
                    return (text: String(text), number: line.number)
                }
                if patterns.form == nil { form = try recognise(lines, &patterns, options.forms) }
                for line in lines { try append(line.text, line.number, &patterns) }
            } catch {
                refusal = error
            }
            if form == nil || refusal != nil { throw LogError(log: name, line: nil, problem: "") }
        }
        do throws(LogError) {
            try source.forEachLine { line, number throws(LogError) in
                if number.isMultiple(of: 10_000) { progress(number) }
                guard case .text(let bytes, let isWhole) = line else {
                    throw LogError(
                        log: source.name, line: number,
                        problem: "this line is longer than \(LineSource.longestLine) bytes, so it is not a log line.")
                }
                isComplete = isWhole
                guard let text = Self.text(of: bytes, isFirst: number == 1) else { return }
                if patterns.form != nil {
                    try read([(text, number)])
                } else {
                    first.append((text, number))
                    if first.count == Self.recognisedLines { try read(first) }
                }
            }
            if patterns.form == nil { try read(first) }
        } catch {
            if let refusal { throw refusal }
            throw error.problem.isEmpty ? unrecognised(first.map(\.text), options.forms) : error
        }
        if !patterns.hasBegun {
            throw LogError(log: name, line: nil, problem: "no line matches --from-line \(options.fromLine ?? "").")
        }
        if messages.isEmpty { throw unrecognised(first.map(\.text), options.forms) }
        if form?.isCustom == true { nameThreads() }
    }

    /// Reads from memory.
    package init(name: String, text: String, options: Options = Options()) throws {
        try self.init(LineSource(name: name, bytes: Array(text.utf8)), options: options)
    }

    /// The log messages of a recording.
    package init(_ recording: Recording) {
        name = recording.source
        let words = RecordWords(RecordingIndex(recording))
        for (index, entry) in recording.entries.enumerated() where entry.stage == .log {
            let thread = recording.threads[Int(entry.thread)]
            let writer = Writer(
                process: "\(recording.processes[Int(thread.process)].id)", id: "\(thread.identity.kernelID)",
                name: thread.identity.name)
            messages.append(
                Message(
                    line: Int(entry.line), shown: words.threadAndWords(Int32(index)),
                    text: recording.message(of: entry) ?? "", time: "\(entry.time)", writer: number(of: writer)))
        }
    }

    /// `--unit` with its expression if no line matches it.
    static func unmatchedUnit(_ logs: [TextLog]) -> [String] {
        guard let unit = logs.lazy.compactMap(\.unit).first,
            !logs.contains(where: { $0.messages.contains(where: \.beginsUnit) })
        else { return [] }
        return ["--unit \(unit)"]
    }

    /// A line without its line end, its colours and a byte order mark; nil if it is blank.
    private static func text(of bytes: UnsafeBufferPointer<UInt8>, isFirst: Bool) -> String? {
        var bytes = bytes
        if isFirst, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = .init(rebasing: bytes[3...]) }
        if bytes.last == UInt8(ascii: "\r") { bytes = .init(rebasing: bytes.dropLast()) }
        let text = String(decoding: bytes, as: UTF8.self)
        if text.allSatisfy(\.isWhitespace) { return nil }
        return bytes.contains(0x1B) ? text.replacing(/\u{1B}\[[0-9;]*m/, with: "") : text
    }

    /// The blanks with which all lines begin, as in a log that was copied out of a document.
    private static func indentation(of lines: [String]) -> String {
        let indentations = lines.map { $0.prefix { $0 == " " || $0 == "\t" } }
        return indentations.dropFirst().reduce(String(indentations.first ?? "")) { common, other in
            String(zip(common, other).prefix { $0 == $1 }.map(\.0))
        }
    }

    private mutating func number(of writer: Writer) -> Int {
        if let number = known[writer] { return number }
        known[writer] = writers.count
        writers.append(writer)
        return writers.count - 1
    }
}

// MARK: Reading

extension TextLog {
    /// The regular expressions for a log.
    private struct Patterns {
        /// That of the form, when it is known.
        var form: LogPattern?
        let masks: [LogPattern]
        let fromLine: LogPattern?
        let unit: LogPattern?
        let skipsOtherLines: Bool
        var hasBegun: Bool

        init(_ options: Options) throws(LogPattern.Refusal) {
            var masks: [LogPattern] = []
            for mask in options.masks { masks.append(try LogPattern(mask, option: "--mask")) }
            self.masks = masks
            fromLine = try options.fromLine.map { line throws(LogPattern.Refusal) in
                try LogPattern(line, option: "--from-line")
            }
            unit = try options.unit.map { unit throws(LogPattern.Refusal) in try LogPattern(unit, option: "--unit") }
            (skipsOtherLines, hasBegun) = (options.skipsOtherLines, options.fromLine == nil)
        }

        func masked(_ text: String) throws(LogPattern.Refusal) -> String {
            var text = text
            for mask in masks { text = try mask.masked(text) }
            return text
        }
    }

    private func recognise(
        _ lines: [(text: String, number: Int)], _ patterns: inout Patterns, _ forms: [LogForm]
    ) throws(LogPattern.Refusal) -> LogForm? {
        guard case .form(let form) = try LogForm.recognise(lines.map(\.text), of: forms) else { return nil }
        patterns.form = try LogPattern(form.pattern, option: "--form")
        return form
    }

    private mutating func append(
        _ line: String, _ number: Int, _ patterns: inout Patterns
    ) throws(LogPattern.Refusal) {
        if let comment = form?.comment, line.hasPrefix(comment) { return }
        if !patterns.hasBegun, let fromLine = patterns.fromLine { patterns.hasBegun = try fromLine.isFound(in: line) }
        guard patterns.hasBegun else { return }
        guard let match = try patterns.form?.match(line) else {
            // Indented lines continue a message also in the combined output of a program.
            let isIndented = " \t)]}".contains(line.first ?? " ")
            if messages.isEmpty || patterns.skipsOtherLines && !isIndented {
                skipped += 1
            } else {
                messages[messages.count - 1].text += "\n" + (try patterns.masked(line))
            }
            return
        }
        let output = match.output
        func capture(_ name: String) -> String? {
            guard let part = output[name]?.substring, !part.isEmpty else { return nil }
            return String(part)
        }
        let head = LogPattern.head(of: line)
        var text = (capture("level").map { $0 + " " } ?? "") + (capture("text") ?? "")
        if output["text"]?.range?.upperBound == head.endIndex { text += line[head.endIndex...] }
        var writer = Writer(
            process: capture("process"), id: capture("thread").map(LogText.id), name: capture("name"),
            chain: capture("chain"))
        if writer.name == "(null)" { writer.name = nil }
        // Java and Python print the id of a thread in place of a name if they are told to.
        if writer.id == nil, let name = writer.name, name.allSatisfy(\.isNumber) {
            (writer.id, writer.name) = (name, nil)
        }
        messages.append(
            Message(
                line: number, shown: line, text: try patterns.masked(text), time: capture("time"),
                writer: self.number(of: writer), beginsUnit: try patterns.unit?.isFound(in: line) ?? false))
    }

    /// In a form of the user, threads are names unless all look like ids.
    private mutating func nameThreads() {
        let ids = writers.compactMap(\.id)
        if ids.allSatisfy({ $0.contains(where: \.isNumber) && $0.allSatisfy(\.isHexDigit) }) { return }
        for index in writers.indices where writers[index].name == nil {
            (writers[index].name, writers[index].id) = (writers[index].id, nil)
        }
    }

    private func unrecognised(_ lines: [String], _ forms: [LogForm]) -> LogError {
        guard let first = lines.first else { return LogError(log: name, line: nil, problem: "contains no log lines.") }
        let names = LogForm.names.filter { name in forms.contains { $0.name == name } }
        let tried = forms.contains(where: \.isCustom) ? "--form" : names.joined(separator: ", ")
        var problem = ""
        var advice =
            "Print the thread in each line, for example as NSLog does, and name another form with --form "
            + "'(?<time>\\S+) (?<thread>\\S+) (?<text>.*)'."
        if case .withoutThreads(let bare)? = try? LogForm.recognise(lines, of: forms) {
            problem = "its lines are of the form \(bare.map(\.name).joined(separator: " or ")), without threads"
            advice = "Print them with \(bare.map(\.advice).joined(separator: ", or with "))."
        } else {
            problem = "its lines are of no form that is known"
        }
        return LogError(
            log: name, line: nil,
            problem: "\(problem). Tried: \(tried). The first line is \"\(Excerpt.of(first))\". \(advice)")
    }
}
