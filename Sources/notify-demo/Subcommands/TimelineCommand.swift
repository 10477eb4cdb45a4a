import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import TerminalText

struct TimelineCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "timeline",
        abstract: "Draw a recording: a lane for each thread, an arrow from each post to its deliveries.",
        discussion: """
            Time runs downwards. A row shows an event, its post, the latency since the post, and the duration. Four or \
            more similar consecutive events share one row. Drains and signals are not drawn. Without a selection, the \
            part around the first finding of diagnose is drawn, if there is one.

              main  worker  what     post  latency  lasts
              ●     │       post     #1                    posted on main
              ├────▶┏       deliver  #1      41 µs   2 ms  its handler begins on worker
              │     ┗       return   #1              2 ms  and returns

            EXAMPLES
              notify-demo timeline run.jsonl --post 7
              notify-demo timeline run.jsonl --to 5ms --linear -o run.svg
            """)

    @Argument(help: RecordingFile.help, completion: .file())
    var path = RecordingFile.defaultPath

    @OptionGroup(title: "Selection") var selected: SelectionOptions

    @Flag(help: "Draw an SVG picture, as into a file with the suffix .svg.")
    var svg = false

    @Flag(help: "Draw a picture to scale, instead of events at equal distances.")
    var linear = false

    @Option(name: .shortAndLong, help: "Draw into this file. Default, and -: standard output.", completion: .file())
    var output: String?

    @Option(help: ArgumentHelp("Draw at most this many rows; 0 means all.", valueName: "n"))
    var limit = 200

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let (index, selection) = try selected.read(path, terminal)
        let window = selection.isEverything ? FindingWindow(Diagnosis(index)) : nil
        let drawing = try terminal.output(to: output, reading: path)
        let width = (drawing.isStandardOutput ? TerminalStream.standardOutput.width : nil) ?? 80
        let isPicture = svg || linear || output?.lowercased().hasSuffix(".svg") == true
        let timeline = Timeline(
            index, window?.selection ?? selection, limit: limit > 0 ? limit : .max,
            lanes: isPicture ? 24 : TimelineText.maximumLanes(width: width), window: window)
        if isPicture {
            try drawing.write(TimelinePicture(timeline, isLinear: linear).svg.utf8)
        } else {
            let palette = drawing.isStandardOutput ? terminal.palette : Palette(isColored: false)
            for line in TimelineText(timeline, width: width, palette: palette).lines { try drawing.print(line) }
        }
        try drawing.finish()
        return .success
    }
}
