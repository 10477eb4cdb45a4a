internal import DeliveryRecording

/// Draws a timeline as an SVG picture: time runs to the right, with a lane for each thread.
///
/// The picture is one document without scripts or fonts. It follows the viewer's light or dark mode, and its text can
/// be selected. Labels do not touch; a busy lane has more rows of labels, and a note counts the labels without space.
package struct TimelinePicture: Sendable {
    let timeline: Timeline
    let tips: TimelineTips
    let scale: TimelineScale
    /// The left edge of the lanes, to the right of their names.
    let left: Double
    private(set) var lanes: [LaneFrame] = []
    private(set) var height = 0.0
    private var drawing = Drawing()

    /// The position of a lane: rows of labels, and below them rows of handlers.
    struct LaneFrame {
        var top: Double
        var labelRows: Int
        var rows: Int

        func middle(ofRow row: Int) -> Double {
            top + 3 + Double(labelRows) * TimelinePicture.labelHeight
                + (Double(min(row, rows - 1)) + 0.5) * TimelinePicture.rowHeight
        }

        var bottom: Double { middle(ofRow: rows - 1) + TimelinePicture.rowHeight / 2 + TimelinePicture.laneGap }
    }

    /// In painting order.
    struct Drawing {
        var arrows: [String] = []
        var things: [String] = []
        var labels: [String] = []
        var missingLabels = 0
    }

    static let width = 960.0
    static let maximumTitleWidth = 28
    static let right = 28.0
    static let head = 62.0
    static let rowHeight = 18.0
    static let labelHeight = 12.0
    static let laneGap = 13.0
    static let sliceHeight = 13.0
    static let maximumRows = 6
    static let maximumLabelRows = 4
    static let maximumLanes = 24

    package init(_ timeline: Timeline) {
        let timeline = timeline.folded(toLanes: Self.maximumLanes)
        let title = timeline.lanes.map { min(DisplayWidth.of($0.title), Self.maximumTitleWidth) }.max() ?? 0
        let waiting = timeline.lanes.compactMap(Self.waiting).map { PictureLabels.width($0) + 30 }.max() ?? 0
        left = max(80, 36 + Double(title) * 7, waiting)
        self.timeline = timeline
        tips = TimelineTips(timeline: timeline)
        let moments = timeline.items.flatMap { [$0.begin, $0.end] }.filter {
            $0 > timeline.begin && $0 < timeline.end
        }
        scale = TimelineScale(
            moments: [timeline.begin, timeline.end] + moments,
            busy: timeline.items.filter(\.isRun).map { $0.begin...$0.end }, length: Self.width - left - Self.right)
        var rows = [Int](repeating: 1, count: timeline.lanes.count)
        for item in timeline.items { rows[item.lane] = max(rows[item.lane], min(item.depth + 1, Self.maximumRows)) }
        var labelRows = rows.map { _ in 1 }
        while true {
            layOut(rows, labelRows)
            let crowded = draw().filter { labelRows[$0] < Self.maximumLabelRows }
            if crowded.isEmpty || timeline.items.count > 1000 { break }
            for lane in crowded { labelRows[lane] += 1 }
        }
    }

    private mutating func layOut(_ rows: [Int], _ labelRows: [Int]) {
        lanes = []
        height = Self.head
        for (rows, labelRows) in zip(rows, labelRows) {
            lanes.append(LaneFrame(top: height, labelRows: labelRows, rows: rows))
            height = lanes[lanes.count - 1].bottom
        }
    }

    /// - Returns: the lanes that need another row of labels.
    private mutating func draw() -> Set<Int> {
        drawing = Drawing()
        var labels = PictureLabels(
            bounds: .init(left: left - 4, top: Self.head, right: Self.width - 4, bottom: height))
        for cut in scale.cuts {
            let middle = left + (cut.beginsAt + cut.endsAt) / 2
            labels.occupy(.init(left: middle - 8, top: 0, right: middle + 8, bottom: height))
        }
        drawItems(into: &drawing, &labels)
        drawing.labels += labels.place()
        drawing.missingLabels = labels.missing
        return labels.crowdedLanes
    }

    func x(_ time: Int64) -> Double { left + scale.position(of: time) }

    // MARK: Document

    /// The complete document.
    package var svg: String {
        var notes = timeline.notes
        if drawing.missingLabels > 0 {
            notes.append(
                "\(counted(drawing.missingLabels, "label")) left out for lack of space: point at a symbol to read it.")
        }
        let legendTop = height + 20
        let (legend, legendLines) = legend.svg(top: legendTop, width: Self.width - 24)
        let notesTop = legendTop + 4 + Double(legendLines) * Legend.lineHeight
        let noteLines = notes.flatMap { WrappedText.lines($0, width: 140) }
        let foot = noteLines.enumerated().map { line, note in
            SVG.text(note, style: "muted", x: 16, y: notesTop + Double(line) * 15)
        }
        let whole = SVG.number(notesTop - 8 + (notes.isEmpty ? 0 : Double(noteLines.count) * 15 + 4))
        let width = SVG.number(Self.width)
        let parts =
            axis + laneLines + drawing.arrows + drawing.things + gaps + drawing.labels + [legend] + foot
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(whole)" viewBox="0 0 \(width) \(whole)" \
            role="img" aria-labelledby="title description">
            <title id="title">\(XMLText.escaped(title))</title>
            <desc id="description">\(XMLText.escaped(description))</desc>
            <style>\(Self.style)</style>
            <rect class="ground" x="0.5" y="0.5" width="959" height="\(SVG.number((Double(whole) ?? 1) - 1))" rx="6"/>
            \(SVG.text(title, style: "heading", x: 16, y: 22))
            \(parts.joined(separator: "\n"))
            </svg>

            """
    }

    private var title: String {
        let file = timeline.source.split(separator: "/").last.map(String.init) ?? timeline.source
        let threads = timeline.lanes.reduce(0) { $0 + $1.threads }
        return "\(file): \(counted(threads, "thread")), \(ElapsedTime(nanoseconds: timeline.end - timeline.begin)), "
            + "\(counted(timeline.records, "record"))"
    }

    private var description: String {
        let posts = timeline.items.reduce(0) { $0 + ($1.stage == .post ? $1.count : 0) }
        let handlers = timeline.items.reduce(0) { $0 + ($1.kind == .handler ? $1.count : 0) }
        let slowest = timeline.arrows.filter { $0.kind == .delivery }.map(\.latency)
            .max().map { " The longest time from a post to its handler is \(ElapsedTime(nanoseconds: $0))." }
        return "Time runs to the right. Lanes are threads: \(timeline.lanes.map(\.title).joined(separator: ", ")). "
            + "There are \(counted(posts, "post")) and \(counted(handlers, "handler call")), with an arrow from each "
            + "post to its handlers.\(slowest ?? "")"
    }
}
