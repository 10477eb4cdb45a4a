import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import TerminalText

struct TimelineCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "timeline",
        abstract: "Draw a recording: a lane for each thread, an arrow from each post to its deliveries.",
        discussion: """
            Time runs downwards. A row shows an event, its post, the latency since the post, and the duration. Similar \
            consecutive events share one row. Without a selection, the part around the first finding of diagnose is \
            drawn, if there is one.

              main  worker
              ●     │       post     #1                  posted on main
              ├────▶┏       deliver  #1    41 µs         its handler begins on worker
              │     ┗       return   #1          2 ms    and returns

            EXAMPLES
              notify-demo run many-observers -o run.jsonl
              notify-demo timeline run.jsonl --limit 20
              notify-demo timeline run.jsonl --post 7
              notify-demo timeline run.jsonl --to 5ms --linear -o run.svg
            """)

    @Argument(help: RecordingFile.help, completion: .file())
    var path = RecordingFile.defaultPath

    @OptionGroup(title: "Selection") var selected: SelectionOptions

    @Flag(
        help: "Draw an SVG picture, for light and dark backgrounds. -o NAME.svg does the same.")
    var svg = false

    @Option(
        name: .shortAndLong,
        help: "Draw into this file, an SVG picture if its name ends in .svg. Default, and -: standard output.",
        completion: .file(extensions: ["svg"]))
    var output: String?

    @Flag(help: "Draw a picture to scale, instead of events at equal distances.")
    var linear = false

    @Option(help: "The number of columns, \(TimelineText.minimumWidth) to 1000; default: the terminal's, or 80.")
    var width: Int?

    @Option(help: ArgumentHelp("Draw at most this many rows; 0 means all.", valueName: "n"))
    var limit = 200

    @Flag(help: "Draw a row for each event, even if similar ones are consecutive.")
    var each = false

    @Option(help: ColorChoice.help)
    var color = ColorChoice.auto

    private var isPicture: Bool { svg || output?.lowercased().hasSuffix(".svg") == true }

    func validate() throws {
        try ValidationError.check("--width", width, from: TimelineText.minimumWidth, to: 1000)
        if isPicture, width != nil || color != .auto {
            let option = svg ? "--svg" : "-o \(output ?? "")"
            throw ValidationError("\(option) draws a picture, so it does not allow --width or --color.")
        }
        if linear, !isPicture { throw ValidationError("--linear needs a picture: --svg, or -o NAME.svg.") }
        if limit < 0 { throw ValidationError("--limit is \(limit); it must be 0 (all) or more.") }
        try Output.check([("-o", output)], inputs: [path])
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        var (recording, selection) = try selected.read(path, terminal)
        let index = RecordingIndex(recording)
        let window = selected.filter.isEmpty ? FindingWindow(Diagnosis(index)) : nil
        if let window { selection = try RecordingSelection(window.filter, of: recording) }
        let drawing = try terminal.output(to: output)
        let width = width ?? (drawing.isStandardOutput ? TerminalStream.standardOutput.width : nil) ?? 80
        let timeline = Timeline(
            index, selection, limit: limit == 0 ? nil : limit, foldsRuns: !each,
            lanes: isPicture ? 24 : TimelineText.maximumLanes(width: width), window: window)
        if isPicture {
            try drawing.write(TimelinePicture(timeline, isLinear: linear).svg.utf8)
        } else {
            let text = TimelineText(timeline, width: width)
            let palette = drawing.isStandardOutput ? terminal.palette : Palette(.never, for: .standardOutput)
            let show: (Int) -> Void = { terminal.show(progress: "\($0) rows drawn") }
            try text.forEachLine(progress: show) { line in
                let spans = line.map { span in
                    span.lane.map { palette.numbered(span.text, $0) } ?? palette.plain(span.text)
                }
                try drawing.print(spans.joined())
            }
        }
        try drawing.finish()
        return .success
    }
}
