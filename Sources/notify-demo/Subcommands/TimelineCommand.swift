import ArgumentParser
import DeliveryDiagnostics
import SystemPackage

struct TimelineCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "timeline",
        abstract: "Draw a recording: a lane for each thread, an arrow from each post to its deliveries.",
        discussion: """
            Time runs downwards. A row tells what happened, of which post, how long after it (latency), and how long \
            it lasts; what is alike and follows one another is one row.

              main  worker
              ●     │       post     #1                  it is posted on main
              ├────▶┏       deliver  #1    41 µs         its handler begins on worker
              │     ┗       return   #1          2 ms    and returns

            EXAMPLES
              notify-demo run redirect -o run.jsonl; notify-demo timeline run.jsonl
              notify-demo timeline run.jsonl --from 10ms --to 12.5ms --each
              notify-demo timeline run.jsonl --name PriceDidChange --limit 0 | less
              notify-demo timeline run.jsonl --post 7 --ascii --width 100
              notify-demo timeline run.jsonl -o run.svg

            EXIT STATUS
              0 drawn, 2 the recording cannot be read, or has nothing of the post or name
            """)

    @OptionGroup var input: RecordingArgument

    @Flag(help: "Draw a picture, in SVG: time runs to the right; it reads on light and dark. So does -o NAME.svg.")
    var svg = false

    @Option(
        name: [.short, .customLong("output")],
        help: ArgumentHelp(
            "Draw into this file; a picture if its name ends in .svg. - or without, standard output.", valueName: "file"
        ),
        completion: .file(extensions: ["svg"]))
    var output: String?

    @Flag(help: "Draw with ASCII characters only.")
    var ascii = false

    @Option(
        help: ArgumentHelp(
            "How many columns, \(TimelineText.leastWidth) to 1000; default: the terminal's, or 80.", valueName: "n"))
    var width: Int?

    @Option(
        help: ArgumentHelp("Begin so long after the first record: 10ms, 1.5s, 200us.", valueName: "time"))
    var from: ElapsedTime?

    @Option(help: ArgumentHelp("End so long after the first record.", valueName: "time"))
    var to: ElapsedTime?

    @Option(help: ArgumentHelp("Draw only this post.", valueName: "n"))
    var post: Int?

    @Option(help: ArgumentHelp("Draw only notifications of this name.", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("Draw at most so many rows; 0 for all.", valueName: "n"))
    var limit = 200

    @Flag(help: "Draw a row for each, also where many alike follow one another.")
    var each = false

    func validate() throws {
        if let width, !(TimelineText.leastWidth...1000).contains(width) {
            throw ValidationError("--width is \(width), and must be from \(TimelineText.leastWidth) to 1000.")
        }
        if isPicture, ascii || width != nil {
            let option = svg ? "--svg" : "-o \(output ?? "")"
            throw ValidationError(
                "\(option) draws a picture, so it takes no --ascii and no --width. Leave out one of them.")
        }
        if limit < 0 { throw ValidationError("--limit is \(limit), and must be 0, for all, or more.") }
        try input.check(output: output, called: "drawing")
        if let from, let to, from.nanoseconds > to.nanoseconds {
            throw ValidationError("--from \(from) is later than --to \(to).")
        }
    }

    func perform(_ terminal: inout Terminal) throws -> ExitStatus {
        let recording = try input.read(for: "timeline", terminal)
        let progress = ProgressLine("timeline")
        defer { progress.clear() }
        try check(recording)
        let timeline = Timeline(
            recording,
            selection: TimelineSelection(
                from: from?.nanoseconds ?? 0, to: to?.nanoseconds ?? .max, post: post, name: name,
                limit: limit == 0 ? nil : limit, foldsRuns: !each))
        if isPicture {
            try put(TimelinePicture(timeline).svg, &terminal)
            return .good
        }
        let columns = file == nil ? TerminalWidth.ofTerminal : nil
        let text = TimelineText(timeline, width: width ?? columns ?? 80, symbols: ascii ? .ascii : .unicode)
        if file != nil {
            try put(text.text + "\n", &terminal)
            return .good
        }
        // What is printed on a terminal is progress enough, and shares its lines.
        let showsProgress = TerminalWidth.ofTerminal == nil
        try text.forEachLine(
            progress: { rows in if showsProgress { progress.show("\(rows) rows drawn") } },
            { line in
                let spans = line.map { span in
                    span.lane.map { terminal.outputPalette.numbered(span.text, $0) } ?? span.text
                }
                try terminal.print(spans.joined())
            })
        return .good
    }

    /// The file to draw into; nil for standard output.
    private var file: String? { output.flatMap { OutputDestination.isStandardOutput($0) ? nil : $0 } }

    private var isPicture: Bool { svg || output?.lowercased().hasSuffix(".svg") == true }

    private func put(_ drawing: String, _ terminal: inout Terminal) throws {
        guard let file else { return try terminal.print(String(drawing.dropLast())) }
        let output = try OutputFile(file)
        try output.write(Array(drawing.utf8))
        try output.finish()
    }

    /// - Throws: if what was asked for is not there.
    private func check(_ recording: Recording) throws {
        if let name {
            let names = Set(recording.entries.map(\.name)).filter { $0 >= 0 }.map { recording.strings[Int($0)] }
            if !names.contains(name) {
                let nearest = Suggestion.nearest(to: name, among: names.sorted())
                throw NothingDrawn(
                    problem: "\(recording.source): has no notification \"\(name)\"."
                        + (nearest.map { " Did you mean \"\($0)\"?" } ?? ""))
            }
        }
        if let post, !recording.posts.contains(where: { $0.number == post }) {
            throw NothingDrawn(problem: "\(recording.source): has no post #\(post).")
        }
    }
}

/// What was asked for is not in the recording.
private struct NothingDrawn: Error, CustomStringConvertible {
    var problem: String

    var description: String { problem }
}
