import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import SystemPackage

struct TimelineCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "timeline",
        abstract: "Draw a recording: a lane for each thread, an arrow from each post to its deliveries.",
        discussion: """
            Time runs downwards. A row shows an event, its post, the latency since the post, and the duration. Similar \
            consecutive events share one row.

              main  worker
              ●     │       post     #1                  posted on main
              ├────▶┏       deliver  #1    41 µs         its handler begins on worker
              │     ┗       return   #1          2 ms    and returns

            EXAMPLES
              notify-demo run redirect -o run.jsonl; notify-demo timeline run.jsonl
              notify-demo timeline run.jsonl --from 10ms --to 12.5ms --each
              notify-demo timeline run.jsonl --name PriceDidChange --limit 0 | less
              notify-demo timeline run.jsonl --post 7 --ascii --width 100
              notify-demo timeline run.jsonl -o run.svg

            EXIT STATUS
              0 success, 2 the recording cannot be read, or does not contain the post or name
            """)

    @OptionGroup var input: RecordingArgument

    @Flag(
        help: "Draw an SVG picture, for light and dark backgrounds; time runs to the right. -o NAME.svg does the same.")
    var svg = false

    @Option(
        name: [.short, .customLong("output")],
        help: ArgumentHelp(
            "Draw into this file, an SVG picture if its name ends in .svg. Default, and -: standard output.",
            valueName: "file"
        ),
        completion: .file(extensions: ["svg"]))
    var output: String?

    @Flag(help: "Draw with ASCII characters only.")
    var ascii = false

    @Option(
        help: ArgumentHelp(
            "The number of columns, \(TimelineText.minimumWidth) to 1000; default: the terminal's, or 80.",
            valueName: "n"
        ))
    var width: Int?

    @Option(
        help: ArgumentHelp("Begin this long after the first record: 10ms, 1.5s, 200us.", valueName: "time"))
    var from: ElapsedTime?

    @Option(help: ArgumentHelp("End this long after the first record.", valueName: "time"))
    var to: ElapsedTime?

    @Option(help: ArgumentHelp("Draw only this post.", valueName: "n"))
    var post: Int?

    @Option(help: ArgumentHelp("Draw only notifications with this name.", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("Draw at most this many rows; 0 means all.", valueName: "n"))
    var limit = 200

    @Flag(help: "Draw a row for each event, even if similar ones are consecutive.")
    var each = false

    func validate() throws {
        if let width, !(TimelineText.minimumWidth...1000).contains(width) {
            throw ValidationError("--width is \(width); it must be from \(TimelineText.minimumWidth) to 1000.")
        }
        if isPicture, ascii || width != nil {
            let option = svg ? "--svg" : "-o \(output ?? "")"
            throw ValidationError(
                "\(option) draws a picture, so it does not allow --ascii or --width.")
        }
        if limit < 0 { throw ValidationError("--limit is \(limit); it must be 0 (all) or more.") }
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
            return .success
        }
        let columns = file == nil ? TerminalWidth.ofTerminal : nil
        let text = TimelineText(timeline, width: width ?? columns ?? 80, symbols: ascii ? .ascii : .unicode)
        if file != nil {
            try put(text.text + "\n", &terminal)
            return .success
        }
        // Output on a terminal shows the progress itself, and would share its line.
        let showsProgress = TerminalWidth.ofTerminal == nil
        try text.forEachLine(
            progress: { rows in if showsProgress { progress.show("\(rows) rows drawn") } },
            { line in
                let spans = line.map { span in
                    span.lane.map { terminal.outputPalette.numbered(span.text, $0) } ?? span.text
                }
                try terminal.print(spans.joined())
            })
        return .success
    }

    /// The file to draw into, or nil for standard output.
    private var file: String? { output.flatMap { OutputDestination.isStandardOutput($0) ? nil : $0 } }

    private var isPicture: Bool { svg || output?.lowercased().hasSuffix(".svg") == true }

    private func put(_ drawing: String, _ terminal: inout Terminal) throws {
        guard let file else { return try terminal.print(String(drawing.dropLast())) }
        let output = try OutputFile(file)
        try output.write(Array(drawing.utf8))
        try output.finish()
    }

    /// - Throws: `NothingDrawn` if the recording does not contain the post or the name.
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

/// The recording does not contain the post or the name.
private struct NothingDrawn: Error, CustomStringConvertible {
    var problem: String

    var description: String { problem }
}
