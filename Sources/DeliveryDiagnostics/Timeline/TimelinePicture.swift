internal import DeliveryRecording
internal import TerminalText

/// Draws a timeline as an SVG picture, in the layout of the text: time runs downwards, with a column for each thread
/// and a description of each event to the right.
///
/// The picture is one document without scripts or fonts. It follows the viewer's light or dark mode, and its text can
/// be selected. Events are at equal distances, or to scale with lines to their descriptions. The legend explains each
/// mark that is used.
package struct TimelinePicture: Sendable {
    private let timeline: Timeline
    private let isLinear: Bool
    private let titles: [(text: String, y: Double)]
    /// The left edges of the columns of text, and the right edge of the last.
    private let columns: [Double]
    private let (pitch, top): (Double, Double)
    /// The length of a nanosecond in a linear picture.
    private let scale: Double
    private var bottom: Double
    /// For each row: its event's position and its text's.
    private var rows: [(event: Double, text: Double)] = []
    /// For each item: where it begins and ends.
    private var boxes: [(begin: Double, end: Double)]
    /// The beginnings of items by entry.
    private var events: [Int32: Double] = [:]
    private var pauses: [(y: Double, words: String)] = []
    private var used: Set<TimelineMark> = []

    private static let left = 28.0
    private static let line = 16.0
    private static let depthWidth = 8.0
    private static let maximumTitleWidth = 28
    private static let maximumDescription = 90

    /// - Parameter isLinear: true to draw to scale.
    package init(_ timeline: Timeline, isLinear: Bool = false) {
        (self.timeline, self.isLinear) = (timeline, isLinear)
        let names = timeline.lanes.map { DisplayWidth.fit(Excerpt.of($0.title), to: Self.maximumTitleWidth) }
        let widest = (names.map(Self.width).max() ?? 0) + 16
        pitch = max(28, min(max(widest, 64), 480 / Double(max(1, names.count))))
        // Names that do not fit beside each other are in steps.
        let step = pitch < widest ? Self.line : 0
        let head = 54 + Double(Self.head(timeline).count) * Self.line
        titles = names.enumerated().map { ($1, head + Double($0) * step) }
        top = head + 24 + Double(names.count) * step
        let cells = timeline.rows.lazy.map { Self.cells(timeline, $0) }
        let widths = cells.reduce(Array(repeating: 0, count: 6)) { zip($0, $1).map { max($0, Self.width($1)) } }
        var columns = [Self.left + Double(names.count) * pitch + 20]
        for width in widths { columns.append((columns.last ?? 0) + (width > 0 ? width + 14 : 0)) }
        self.columns = columns
        let height = max(400, Double(timeline.rows.count) * Self.line)
        scale = isLinear ? height / Double(max(1, timeline.end - timeline.begin)) : 0
        boxes = Array(repeating: (top - 8, .infinity), count: timeline.items.count)
        bottom = top - Self.line
        for (index, row) in timeline.rows.enumerated() {
            bottom += Self.line
            if !isLinear, let pause = timeline.pause(before: index) {
                pauses.append((bottom, "\(pause) later"))
                bottom += Self.line
            }
            let event = isLinear ? linear(timeline.time(of: row)) : bottom
            bottom = max(bottom, event)
            rows.append((event, bottom))
            if row.part != .end {
                boxes[row.item].begin = event
                events[timeline.items[row.item].entry] = event
            }
            if row.part != .begin { boxes[row.item].end = isLinear ? linear(timeline.items[row.item].end) : event }
        }
        bottom += Self.line
    }

    private static func width(_ text: String) -> Double { Double(DisplayWidth.of(text)) * 6.9 }

    private static func head(_ timeline: Timeline) -> [String] {
        timeline.overview.flatMap { WrappedText.lines(Excerpt.of($0, length: 600), width: 110) }
    }

    /// The time and the texts of a row.
    private static func cells(_ timeline: Timeline, _ row: Timeline.Row) -> [String] {
        let label = timeline.label(of: timeline.items[row.item], row.part)
        let time = ElapsedTime.decimal(timeline.time(of: row), per: 1_000_000, decimals: 3, keepsZeros: true)
        let description = DisplayWidth.fit(Excerpt.of(label.description, length: 200), to: maximumDescription)
        return ["\(time) ms"] + label.columns + [description]
    }

    private func linear(_ time: Int64) -> Double { top + Double(time - timeline.begin) * scale }

    private func x(_ lane: Int, _ depth: Int = 0) -> Double {
        Self.left + Double(lane) * pitch + min(Double(depth) * Self.depthWidth, pitch - 12)
    }

    /// The position of a time: that of the last event until then.
    private func y(_ time: Int64) -> Double {
        if isLinear { return min(max(top - 8, linear(min(time, .max / 2))), bottom) }
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if timeline.time(of: timeline.rows[middle]) <= time { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? rows[low - 1].event : top - 8
    }

    // MARK: Drawing

    package var svg: String {
        var picture = self
        let lanes = lanes
        var (arrows, shapes): ([String], [String]) = ([], [])
        for number in timeline.items.indices {
            let tip = timeline.tip(of: timeline.items[number])
            if let arrow = picture.arrow(to: number) { arrows.append(SVG.group(tip, arrow)) }
            shapes.append(SVG.group(tip, picture.shape(of: number)))
        }
        let legend = TimelineMark.legend(picture.used, top: bottom + 14, width: max(640, columns[6]))
        let linear = "Events are drawn at equal distances: --linear draws to scale."
        let foot = (isLinear ? timeline.notes : timeline.notes + [linear]).flatMap {
            WrappedText.lines(Excerpt.of($0, length: 600), width: 110)
        }
        let footTop = bottom + 20 + legend.height
        let notes =
            Self.head(timeline).enumerated().map { ($1, 38 + Double($0) * Self.line) }
            + foot.enumerated().map { ($1, footTop + Double($0) * Self.line) }
        let muted = notes.map { SVG.text($0.0, style: "muted", x: 16, y: $0.1) }
        let (width, height) = (max(columns[6], 640) + 16, footTop + Double(foot.count) * Self.line)
        // A column of the heading's font is about 8 wide.
        let heading = DisplayWidth.fit(title, to: Int(width - 32) / 8)
        let parts = [leaders, lanes, arrows, shapes, texts, legend.svg, muted].flatMap(\.self)
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(SVG.number(width))" height="\(SVG.number(height))" \
            viewBox="0 0 \(SVG.point(width, height))" role="img" aria-labelledby="title description">
            <title id="title">\(XMLText.escaped(title))</title>
            <desc id="description">\(XMLText.escaped(description))</desc>
            <style>\(PictureStyle.css)</style>
            <rect class="ground" width="100%" height="100%" rx="6"/>
            \(SVG.text(heading, style: "heading", x: 16, y: 22))
            \(parts.joined(separator: "\n"))
            </svg>

            """
    }

    private var title: String {
        let file = timeline.recording.source.split(separator: "/").last.map(String.init) ?? timeline.recording.source
        return "\(ShownText.escaped(file)): \(counted(timeline.recording.threads.count, "thread")), "
            + "\(timeline.duration), \(counted(timeline.recording.entries.count, "record"))"
    }

    private var description: String {
        func count(_ stage: DeliveryStage) -> Int {
            timeline.items.reduce(0) { $0 + ($1.stage == stage ? $1.count : 0) }
        }
        let slowest = timeline.items.compactMap(\.arrow).filter { $0.kind == .delivery }.map(\.latency).max()
        let longest = slowest.map {
            " The longest time from a post to its handler is \(ElapsedTime(nanoseconds: $0))."
        }
        return "Time runs downwards. Columns are threads: \(timeline.lanes.map(\.title).joined(separator: ", ")). "
            + "There are \(counted(count(.post), "post")) and \(counted(count(.deliver), "handler call")), with an "
            + "arrow from each post to its handlers.\(longest ?? "")"
    }

    /// Lines from events to their texts.
    private var leaders: [String] {
        zip(timeline.rows, rows).map { row, y in
            let item = timeline.items[row.item]
            let bend = "L\(SVG.point(columns[0] - 18, y.event))L\(SVG.point(columns[0] - 4, y.text))"
            return SVG.path("grid", "M\(SVG.point(x(item.lane, item.depth), y.event))\(bend)")
        }
    }

    /// The names and lines of the threads.
    private var lanes: [String] {
        timeline.lanes.indices.map { number in
            let (lane, title, color) = (timeline.lanes[number], titles[number], "c\(number % PictureStyle.colors)")
            let (begin, end) = (max(y(lane.begin), title.y + 6), lane.end > timeline.end ? bottom : y(lane.end))
            return SVG.group(
                lane.title,
                SVG.text(title.text, style: "lane \(color)", x: x(number) - 4, y: title.y)
                    + SVG.path("life \(color)", "M\(SVG.point(x(number), begin))V\(SVG.number(end))"))
        }
    }

    /// Draws a box or a mark.
    private mutating func shape(of number: Int) -> String {
        let (item, box) = (timeline.items[number], boxes[number])
        let (x, color) = (x(item.lane, item.depth), "c\(item.lane % PictureStyle.colors)")
        var (mark, path) = (TimelineMark(item.stage), String?.none)
        if !item.isMark {
            let height = box.begin < box.end ? max(3, min(box.end, bottom) - box.begin) : 10
            path = "m-4.5 \(box.begin < box.end ? 0 : -5)h9v\(SVG.number(height))h-9z"
            let runsOn = item.runsOn || item.end > timeline.end
            mark = item.isRun ? .several : mark == .handler && runsOn ? .openHandler : mark
        }
        used.insert(mark)
        var shape = mark.drawn(color, x: x, y: box.begin, path: path)
        for (isUsed, part) in [(timeline.isUnobserved(item), TimelineMark.unobserved), (item.waiting > 0, .waiting)] {
            guard isUsed else { continue }
            used.insert(part)
            shape += part.drawn(color, x: x, y: box.begin)
        }
        return shape
    }

    private mutating func arrow(to number: Int) -> String? {
        let item = timeline.items[number]
        guard let arrow = item.arrow, arrow.lane != item.lane || arrow.kind == .delivery || arrow.kind == .queued else {
            // A delivery on the posting thread is obvious from the handler's position, and other outcomes have a mark.
            return nil
        }
        let start = (x: x(arrow.lane, arrow.depth), y: events[arrow.entry] ?? y(arrow.time))
        let edge = item.isMark ? 5.0 : 5.5
        var end = (x: x(item.lane, item.depth), y: boxes[number].begin)
        var (path, from) = ("", start)
        if arrow.lane == item.lane {
            end.x -= edge
            from = (end.x - 8, end.y - 3)
            path = "C\(SVG.point(start.x - 22, start.y)) \(SVG.point(end.x - 22, end.y)) \(SVG.point(end.x, end.y))"
        } else {
            end.x += arrow.lane < item.lane ? -edge : edge
            path = "L\(SVG.point(end.x, end.y))"
        }
        let mark: TimelineMark = arrow.kind == .lost ? .undelivered : arrow.kind == .queued ? .queued : .delivery
        used.insert(mark)
        let color = "c\(arrow.lane % PictureStyle.colors)"
        return mark.drawn(color, x: start.x, y: start.y, path: path)
            + (arrow.kind == .lost ? "" : TimelineMark.head(color, at: end, from: from))
    }

    /// The rows of text, and the pauses between them.
    private var texts: [String] {
        zip(timeline.rows, rows).map { row, y in
            let color = "c\(timeline.items[row.item].lane % PictureStyle.colors)"
            // Times are aligned to the right.
            let styles = ["muted end", color, "", "end", "end", ""]
            return zip(Self.cells(timeline, row), styles).enumerated().filter { !$1.0.isEmpty }.map { column, cell in
                let x = cell.1.hasSuffix("end") ? columns[column + 1] - 14 : columns[column]
                return SVG.text(cell.0, style: cell.1, x: x, y: y.text + 4)
            }.joined()
        } + pauses.map { SVG.text($0.words, style: "muted", x: columns[1], y: $0.y + 4) }
    }
}
