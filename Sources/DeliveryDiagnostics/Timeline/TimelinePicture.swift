internal import DeliveryRecording
internal import TerminalText

/// Draws a timeline as an SVG picture: time runs to the right, with a lane for each thread.
///
/// The picture is one document without scripts or fonts. It follows the viewer's light or dark mode, and its text can
/// be selected. Labels do not touch, and a note counts the labels without space. The legend explains each
/// mark that is used.
package struct TimelinePicture: Sendable {
    let timeline: Timeline
    let scale: TimelineScale
    /// The left edge of the lanes, to the right of their names.
    let left: Double
    private(set) var lanes: [LaneFrame] = []
    private var height = Self.head
    var arrows: [String] = []
    var shapes: [String] = []
    var texts: [String] = []
    var used: Set<PictureMark> = []
    /// The number of labels that have no space.
    var missing = 0
    var labels = PictureLabels(bounds: .init(left: 0, top: 0, right: 0, bottom: 0))

    /// The position of a lane: rows of labels, and below them rows of handlers.
    struct LaneFrame {
        var top: Double
        var labelRows: Int
        var rows: Int

        func middle(ofRow row: Int) -> Double {
            top + 3 + Double(labelRows) * TimelinePicture.labelHeight
                + (Double(min(row, rows - 1)) + 0.5) * TimelinePicture.rowHeight
        }

        var bottom: Double { middle(ofRow: rows - 1) + TimelinePicture.rowHeight / 2 + 13 }
    }

    static let width = 960.0
    static let right = 28.0
    static let head = 62.0
    static let rowHeight = 18.0
    static let labelHeight = 12.0
    static let sliceHeight = 13.0
    private static let maximumTitleWidth = 28
    private static let maximumRows = 6
    private static let maximumLanes = 24

    /// - Parameter isLinear: true to draw to scale, without cutting out time or moving events apart.
    package init(_ timeline: Timeline, isLinear: Bool = false) {
        let timeline = timeline.folded(toLanes: Self.maximumLanes)
        let title = timeline.lanes.map { min(DisplayWidth.of($0.title), Self.maximumTitleWidth) }.max() ?? 0
        let waiting = timeline.lanes.compactMap(\.waitingWords).map { PictureLabels.width($0) + 30 }.max() ?? 0
        left = max(80, 36 + Double(title) * 7, waiting)
        self.timeline = timeline
        let moments = timeline.items.flatMap { [$0.begin, $0.end] }.filter { timeline.begin < $0 && $0 < timeline.end }
        // A picture is about long handlers and waits, so none is cut.
        scale = TimelineScale(
            moments: [timeline.begin, timeline.end] + moments,
            busy: timeline.items.filter { $0.end > $0.begin }.map { $0.begin...$0.end },
            length: Self.width - left - Self.right, isLinear: isLinear)
        var rows = [Int](repeating: 1, count: timeline.lanes.count)
        for item in timeline.items { rows[item.lane] = max(rows[item.lane], min(item.depth + 1, Self.maximumRows)) }
        let counts = Dictionary(grouping: timeline.items, by: \.lane).mapValues(\.count)
        for (lane, rows) in rows.enumerated() {
            // A busy lane has two rows of labels.
            lanes.append(LaneFrame(top: height, labelRows: counts[lane, default: 0] > 8 ? 2 : 1, rows: rows))
            height = lanes[lane].bottom
        }
        labels = PictureLabels(bounds: .init(left: left - 4, top: Self.head, right: Self.width - 4, bottom: height))
        for cut in scale.cuts {
            labels.occupy(.init(left: left + cut.middle - 8, top: 0, right: left + cut.middle + 8, bottom: height))
        }
        drawItems()
    }

    func x(_ time: Int64) -> Double { left + scale.position(of: time) }

    static func color(_ lane: Int) -> String { "c\(lane % PictureStyle.colors)" }

    // MARK: Document

    package var svg: String {
        var used = used
        if !scale.cuts.isEmpty { used.insert(.cut) }
        let legend = PictureMark.legend(used, top: height + 20, width: Self.width)
        let crowded = "\(counted(missing, "label")) left out for lack of space: point at a symbol to read it."
        let apart = "Events close to each other are drawn apart: --linear draws to scale."
        let notes =
            ([timeline.window?.words].compactMap(\.self) + timeline.notes + (missing > 0 ? [crowded] : [])
            + (scale.isLinear ? [] : [apart]))
            .flatMap { WrappedText.lines(Excerpt.of($0, length: 600), width: 140) }
        let notesTop = height + 24 + legend.height
        let foot = notes.enumerated().map { line, note in
            SVG.text(note, style: "muted", x: 16, y: notesTop + Double(line) * 15)
        }
        let whole = notesTop - 8 + (notes.isEmpty ? 0 : Double(notes.count) * 15 + 4)
        let (width, height) = (SVG.number(Self.width), SVG.number(whole))
        let busiest = timeline.busiest.map {
            SVG.text($0, style: "muted", x: 32 + Double(DisplayWidth.of(title)) * 8.4, y: 22)
        }
        let parts = [busiest].compactMap(\.self) + axis + laneLines + arrows + shapes + gaps + texts + legend.svg + foot
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" \
            viewBox="0 0 \(width) \(height)" role="img" aria-labelledby="title description">
            <title id="title">\(XMLText.escaped(title))</title>
            <desc id="description">\(XMLText.escaped(description))</desc>
            <style>\(PictureStyle.css)</style>
            <rect class="ground" x="0.5" y="0.5" width="959" height="\(SVG.number(whole - 1))" rx="6"/>
            \(SVG.text(title, style: "heading", x: 16, y: 22))
            \(parts.joined(separator: "\n"))
            </svg>

            """
    }

    private var title: String {
        let recording = timeline.recording
        let file = recording.source.split(separator: "/").last.map(String.init) ?? recording.source
        return "\(ShownText.escaped(file)): \(counted(recording.threads.count, "thread")), \(timeline.duration), "
            + "\(counted(recording.entries.count, "record"))"
    }

    private var description: String {
        func count(_ stage: DeliveryStage) -> Int {
            timeline.items.reduce(0) { $0 + ($1.stage == stage ? $1.count : 0) }
        }
        let slowest = timeline.items.compactMap(\.arrow).filter { $0.kind == .delivery }.map(\.longest.nanoseconds)
            .max().map { " The longest time from a post to its handler is \(ElapsedTime(nanoseconds: $0))." }
        return "Time runs to the right. Lanes are threads: \(timeline.lanes.map(\.title).joined(separator: ", ")). "
            + "There are \(counted(count(.post), "post")) and \(counted(count(.deliver), "handler call")), with an "
            + "arrow from each post to its handlers.\(slowest ?? "")"
    }

    // MARK: Background

    /// Grid lines with their times.
    private var axis: [String] {
        var lines: [String] = []
        var labels = PictureLabels(bounds: .init(left: 4, top: 28, right: Self.width - 4, bottom: Self.head))
        func box(_ middle: Double, _ half: Double, _ top: Double, _ bottom: Double) -> SVG.Box {
            SVG.Box(left: middle - half, top: top, right: middle + half, bottom: bottom)
        }
        for cut in scale.cuts {
            labels.occupy(box(left + cut.middle, PictureLabels.width(cut.duration.description) / 2 + 4, 47, 60))
        }
        for tick in scale.ticks {
            let x = left + tick.position
            lines.append(SVG.path("grid", "M\(SVG.point(x, 46))V\(SVG.number(height))"))
            // At the right edge, a label is moved to the left if there is space.
            let half = PictureLabels.width(tick.label, style: "latency") / 2
            let middle = min(x, Self.width - 8 - half)
            if labels.occupyIfFree(box(middle, half + 4, 31, 43)) {
                lines.append(SVG.text(tick.label, style: "muted middle", x: middle, y: 41))
            }
        }
        return lines
    }

    private var laneLines: [String] {
        zip(timeline.lanes, lanes).enumerated().map { index, lane in
            let (lane, frame) = lane
            let y = frame.middle(ofRow: 0)
            let title = DisplayWidth.fit(Excerpt.of(lane.title, length: 200), to: Self.maximumTitleWidth)
            let waiting = lane.waitingWords.map { SVG.text($0, style: "waiting", x: 16, y: y + 16) } ?? ""
            let begin = max(left, x(lane.begin) - (lane.begin < timeline.begin ? 6 : 0))
            let end = lane.end > timeline.end ? Self.width - Self.right + 8 : x(lane.end)
            return "<g class=\"\(Self.color(index))\">\(SVG.title(lane.title))"
                + SVG.text(title, style: "lane", x: 16, y: y + 4) + waiting
                + SVG.path("life", "M\(SVG.point(begin, y))H\(SVG.number(end))") + "</g>"
                + SVG.path("grid", "M\(SVG.point(8, frame.bottom - 3))H\(SVG.number(Self.width - 8))")
        }
    }

    /// Gaps where time is left out, labelled with their duration.
    private var gaps: [String] {
        scale.cuts.map { cut in
            let middle = left + cut.middle
            func edge(_ x: Double) -> [String] {
                stride(from: 60, to: height + 4, by: 6).enumerated().map { point, y in
                    SVG.point(x + (point.isMultiple(of: 2) ? 0 : 3), min(y, height))
                }
            }
            let (one, other) = (edge(middle - 7), edge(middle + 4))
            return "<g>" + SVG.title("nothing begins, ends or lasts for \(cut.duration)")
                + SVG.path("tear", "M\(one.joined(separator: "L"))L\(other.reversed().joined(separator: "L"))Z")
                + SVG.path("edge", "M\(one.joined(separator: "L"))M\(other.joined(separator: "L"))")
                + SVG.text(cut.duration.description, style: "cut middle", x: middle, y: 57) + "</g>"
        }
    }
}
