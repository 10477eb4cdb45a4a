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
    /// The time and the texts of each row.
    private let cells: [[String]]
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

    /// - Parameter isLinear: true to draw to scale.
    package init(_ timeline: Timeline, isLinear: Bool = false) {
        (self.timeline, self.isLinear) = (timeline, isLinear)
        let names = timeline.lanes.map { DisplayWidth.fit(Excerpt.of($0.title), to: 28) }
        let widest = (names.map(Self.width).max() ?? 0) + 16
        pitch = max(28, min(max(widest, 64), 480 / Double(max(1, names.count))))
        // Names that do not fit beside each other are in steps.
        let step = pitch < widest ? Self.line : 0
        let head = 54 + Double(Self.wrapped(timeline.overview).count) * Self.line
        titles = names.enumerated().map { ($1, head + Double($0) * step) }
        top = head + 24 + Double(names.count) * step
        cells = timeline.rows.map { row in
            let time = ElapsedTime.decimal(timeline.time(of: row), per: 1_000_000, decimals: 3)
            return ["\(time) ms"]
                + timeline.texts(of: row).map { DisplayWidth.fit(Excerpt.of($0, length: 200), to: 90) }
        }
        let widths = cells.reduce(Array(repeating: 0, count: 6)) { zip($0, $1).map { max($0, Self.width($1)) } }
        columns = widths.reduce(into: [Self.left + Double(names.count) * pitch + 20]) { columns, width in
            columns.append(columns[columns.count - 1] + (width > 0 ? width + 14 : 0))
        }
        let height = max(400, Double(timeline.rows.count) * Self.line)
        scale = isLinear ? height / Double(max(1, timeline.end - timeline.begin)) : 0
        boxes = Array(repeating: (top - 8, .infinity), count: timeline.items.count)
        bottom = top - Self.line
        for (index, row) in timeline.rows.enumerated() {
            bottom += Self.line
            if !isLinear, let pause = timeline.pause(before: index) {
                pauses.append((bottom, pause))
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

    /// Digits of DejaVu Sans, the widest of the fonts, are 7.6 wide.
    private static func width(_ text: String) -> Double { Double(DisplayWidth.of(text)) * 7.6 }

    private static func wrapped(_ notes: [String]) -> [String] {
        notes.flatMap { WrappedText.lines(Excerpt.of($0, length: 600), width: 110) }
    }

    private func linear(_ time: Int64) -> Double { top + Double(time - timeline.begin) * scale }

    private func x(_ lane: Int, _ depth: Int = 0) -> Double {
        Self.left + Double(lane) * pitch + min(Double(depth) * 8, pitch - 12)
    }

    /// The position of a time: that of the last event until then.
    private func y(_ time: Int64) -> Double {
        if isLinear { return min(max(top - 8, linear(min(time, .max / 2))), bottom) }
        return rows.indices.last { timeline.time(of: timeline.rows[$0]) <= time }.map { rows[$0].event } ?? top - 8
    }

    private static func color(_ lane: Int) -> String { "c\(lane % PictureStyle.colors)" }

    // MARK: Drawing

    package var svg: String {
        var picture = self
        let arrows = timeline.items.indices.compactMap { picture.arrow(to: $0) }
        let shapes = timeline.items.indices.map { picture.shape(of: $0) }
        let legend = TimelineMark.legend(picture.used, top: bottom + 14, width: max(640, columns[6]))
        let linear = isLinear ? [] : ["Events are drawn at equal distances: --linear draws to scale."]
        let (head, foot) = (Self.wrapped(timeline.overview), Self.wrapped(timeline.notes + linear))
        let footTop = bottom + 20 + legend.height
        let notes = [(head, 38), (foot, footTop)].flatMap { texts, top in
            texts.enumerated().map { SVG.text($1, style: "muted", x: 16, y: top + Double($0) * Self.line) }
        }
        let (width, height) = (max(columns[6], 640) + 16, footTop + Double(foot.count) * Self.line)
        let source = timeline.recording.source.split(separator: "/").last.map(String.init) ?? ""
        let title = "\(ShownText.escaped(source)): \(timeline.size)"
        let threads = timeline.lanes.map(\.title).joined(separator: ", ")
        let parts = [leaders, lanes, arrows, shapes, texts, legend.svg, notes].flatMap(\.self)
        // A column of the heading's font is about 8 wide.
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(SVG.number(width))" height="\(SVG.number(height))" \
            viewBox="0 0 \(SVG.point(width, height))" role="img" aria-labelledby="title description">
            <title id="title">\(XMLText.escaped(title))</title>
            <desc id="description">Time runs downwards. Columns are threads: \(XMLText.escaped(threads)).</desc>
            <style>\(PictureStyle.css)</style>
            <rect class="ground" width="100%" height="100%" rx="6"/>
            \(SVG.text(DisplayWidth.fit(title, to: Int(width - 32) / 8), style: "heading", x: 16, y: 22))
            \(parts.joined(separator: "\n"))
            </svg>

            """
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
        zip(timeline.lanes, titles).enumerated().map { number, lane in
            let (life, title) = lane
            let (begin, end) = (max(y(life.begin), title.y + 6), life.end > timeline.end ? bottom : y(life.end))
            return SVG.text(title.text, style: "lane \(Self.color(number))", x: x(number) - 4, y: title.y)
                + SVG.path("life \(Self.color(number))", "M\(SVG.point(x(number), begin))V\(SVG.number(end))")
        }
    }

    /// Draws a box or a mark.
    private mutating func shape(of number: Int) -> String {
        let (item, box) = (timeline.items[number], boxes[number])
        let (x, color) = (x(item.lane, item.depth), Self.color(item.lane))
        var (marks, path) = ([TimelineMark(item.stage)], String?.none)
        if item.ending != nil || item.isRun {
            let height = box.begin < box.end ? max(3, min(box.end, bottom) - box.begin) : 10
            path = "m-4.5 \(box.begin < box.end ? 0 : -5)h9v\(SVG.number(height))h-9z"
            let runsOn = item.runsOn || item.end > timeline.end
            if item.isRun { marks = [.several] } else if marks == [.handler], runsOn { marks = [.openHandler] }
        }
        if timeline.isUnobserved(item) { marks.append(.unobserved) }
        if item.waiting > 0 { marks.append(.waiting) }
        used.formUnion(marks)
        return marks.enumerated().map { $1.drawn(color, x: x, y: box.begin, path: $0 == 0 ? path : nil) }.joined()
    }

    private mutating func arrow(to number: Int) -> String? {
        let item = timeline.items[number]
        guard let arrow = item.arrow, arrow.lane != item.lane || arrow.kind == .delivery || arrow.kind == .queued else {
            // A delivery on the posting thread is obvious from the handler's position, and other outcomes have a mark.
            return nil
        }
        let start = (
            x: x(arrow.lane, timeline.index.depth(of: arrow.entry)),
            y: events[arrow.entry] ?? y(timeline.recording.elapsed(timeline.index.entry(arrow.entry)))
        )
        var end = (x: x(item.lane, item.depth), y: boxes[number].begin)
        end.x += arrow.lane > item.lane ? 5.5 : -5.5
        var (path, from) = ("L\(SVG.point(end.x, end.y))", start)
        if arrow.lane == item.lane {
            from = (end.x - 8, end.y - 3)
            path = "C\(SVG.point(start.x - 22, start.y)) \(SVG.point(end.x - 22, end.y)) \(SVG.point(end.x, end.y))"
        }
        let mark: TimelineMark = arrow.kind == .lost ? .undelivered : arrow.kind == .queued ? .queued : .delivery
        used.insert(mark)
        let color = Self.color(arrow.lane)
        return mark.drawn(color, x: start.x, y: start.y, path: path)
            + (arrow.kind == .lost ? "" : TimelineMark.head(color, at: end, from: from))
    }

    /// The rows of text, and the pauses between them.
    private var texts: [String] {
        zip(timeline.rows, zip(cells, rows)).map { row, drawn in
            // Times are aligned to the right.
            let styles = ["muted end", Self.color(timeline.items[row.item].lane), "", "end", "end", ""]
            return zip(drawn.0, styles).enumerated().filter { !$1.0.isEmpty }.map { column, cell in
                let x = cell.1.hasSuffix("end") ? columns[column + 1] - 14 : columns[column]
                return SVG.text(cell.0, style: cell.1, x: x, y: drawn.1.text + 4)
            }.joined()
        } + pauses.map { SVG.text($0.words, style: "muted", x: columns[1], y: $0.y + 4) }
    }
}

/// Elements of a picture.
enum SVG {
    static func number(_ value: Double) -> String {
        let tenths = (max(-1e9, min(1e9, value)) * 10).rounded() / 10
        return tenths == tenths.rounded() ? "\(Int(tenths))" : "\(tenths)"
    }

    /// `20 40.5`, a point of a path.
    static func point(_ x: Double, _ y: Double) -> String { "\(number(x)) \(number(y))" }

    static func path(_ style: String, _ path: String) -> String { "<path class=\"\(style)\" d=\"\(path)\"/>" }

    static func text(_ text: String, style: String, x: Double, y: Double) -> String {
        "<text class=\"\(style)\" x=\"\(number(x))\" y=\"\(number(y))\">\(XMLText.escaped(text))</text>"
    }
}
