package import DeliveryRecording
internal import TerminalText

/// The messages of a text log, each with its thread.
///
/// A message begins with a line in the log's form. Blank lines are ignored, and comments if the form has them. Any
/// other line continues the message before it.
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

        var withoutChain: Writer { Writer(process: process, id: id, name: name) }
    }

    struct Message: Sendable {
        /// The number of its first line.
        var line: Int
        var shown: String
        var text: String
        var time: String?
        /// An index in `writers`.
        var writer: Int
        var beginsUnit = false
    }

    /// The name of the log in errors and differences.
    package let name: String
    package let form: LogForm
    private(set) var writers: [Writer] = []
    private(set) var messages: [Message] = []
    /// The number of lines that are not compared because they are in no form.
    package private(set) var skipped = 0
    /// The expression for the lines that begin a run of work; nil if each line of a pool is a run of its own.
    private(set) var unit: String?
    /// False if the log ends within a line.
    let isComplete: Bool
    private var known: [Writer: Int] = [:]

    /// - Throws: `LogError` if the log cannot be read, has no form that is known, or none with threads;
    ///   `LogPattern.Refusal` if a regular expression of the options cannot be used.
    package init(_ source: LineSource, options: Options = Options()) throws {
        (name, unit) = (source.name, options.unit)
        var (lines, isComplete) = ([(text: String, number: Int)](), true)
        try source.forEachLine { line, number throws(LogError) in
            guard case .text(let bytes, let isWhole) = line else {
                throw LogError(
                    log: source.name, line: number,
                    problem: "this line is longer than \(LineSource.longestLine) bytes, so it is not a log line.")
            }
            isComplete = isWhole
            var text = String(decoding: bytes, as: UTF8.self)
            text.trimPrefix("\u{FEFF}")
            if text.last == "\r" { text.removeLast() }
            if text.contains("\u{1B}") { text.replace(/\u{1B}\[[0-9;]*m/, with: "") }
            if !text.allSatisfy(\.isWhitespace) { lines.append((text, number)) }
        }
        self.isComplete = isComplete
        let fromLine = try options.fromLine.map { try LogPattern($0, option: "--from-line") }
        guard let start = try fromLine.map({ try lines.map(\.text).firstIndex(where: $0.isFound) }) ?? 0 else {
            throw LogError(log: name, line: nil, problem: "no line matches --from-line \(options.fromLine ?? "").")
        }
        // The form is recognised from the first lines, also from those that are left out.
        form = try LogForm.recognise(lines.prefix(1000).map(\.text), options.forms, name)
        try read(lines[start...], options)
        if messages.isEmpty { throw LogError(log: name, line: nil, problem: "contains no log lines.") }
        if form.isCustom { nameThreads() }
    }

    /// Reads from memory.
    package init(name: String, text: String, options: Options = Options()) throws {
        try self.init(LineSource(name: name, bytes: Array(text.utf8)), options: options)
    }

    private mutating func number(of writer: Writer) -> Int {
        if let number = known[writer] { return number }
        known[writer] = writers.count
        writers.append(writer)
        return writers.count - 1
    }

    // MARK: Lines

    private mutating func read(_ lines: ArraySlice<(text: String, number: Int)>, _ options: Options) throws {
        let pattern = try LogPattern(form.pattern, option: "--form")
        let masks = try options.masks.map { try LogPattern($0, option: "--mask") }
        let unit = try options.unit.map { try LogPattern($0, option: "--unit") }
        for (line, number) in lines where !(form.comment.map(line.hasPrefix) ?? false) {
            let match = try pattern.match(line)
            let masked = try masks.reduce(match.map { Self.text($0, line) } ?? line) { try $1.masked($0) }
            if let match {
                messages.append(
                    Message(
                        line: number, shown: line, text: masked, time: Self.capture("time", match),
                        writer: self.number(of: Self.writer(match)), beginsUnit: try unit?.isFound(in: line) ?? false))
            } else if messages.isEmpty || options.skipsOtherLines && !" \t)]}".contains(line.first ?? " ") {
                // Indented lines continue a message also in the combined output of a program.
                skipped += 1
            } else {
                messages[messages.count - 1].text += "\n\(masked)"
            }
        }
    }

    private static func capture(_ name: String, _ match: Regex<AnyRegexOutput>.Match) -> String? {
        match.output[name]?.substring.flatMap { $0.isEmpty ? nil : String($0) }
    }

    /// The level and the text, also beyond what is matched.
    private static func text(_ match: Regex<AnyRegexOutput>.Match, _ line: String) -> String {
        let head = LogPattern.head(of: line)
        let text = (capture("level", match).map { $0 + " " } ?? "") + (capture("text", match) ?? "")
        return match.output["text"]?.range?.upperBound == head.endIndex ? text + line[head.endIndex...] : text
    }

    private static func writer(_ match: Regex<AnyRegexOutput>.Match) -> Writer {
        let name = capture("name", match).flatMap { $0 == "(null)" ? nil : $0 }
        let id = capture("thread", match).map(LogText.id)
        // Java and Python print the id of a thread in place of a name if they are told to.
        let isID = id == nil && name?.allSatisfy(\.isNumber) ?? false
        return Writer(
            process: capture("process", match), id: isID ? name : id, name: isID ? nil : name,
            chain: capture("chain", match))
    }

    /// In a form of the user, threads are names unless all look like ids.
    private mutating func nameThreads() {
        let ids = writers.compactMap(\.id)
        if ids.allSatisfy({ $0.contains(where: \.isNumber) && $0.allSatisfy(\.isHexDigit) }) { return }
        for index in writers.indices where writers[index].name == nil {
            (writers[index].name, writers[index].id) = (writers[index].id, nil)
        }
    }
}
