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
    private let titles: [String]
    /// The texts above and below the drawing.
    private let (head, foot): ([String], [String])
    /// The heading of the rows, and the text of each.
    private let texts: [String]
    private let (pitch, top): (Int, Int)
    private var bottom: Int
    /// For each row: the height of its text.
    private var lines: [Int] = []
    /// The heights of records that are drawn.
    private var heights: [Int32: Int] = [:]

    private static let (margin, line) = (28, 16)

    /// - Parameter isLinear: true to draw to scale.
    package init(_ timeline: Timeline, isLinear: Bool = false) {
        self.timeline = timeline
        let (rows, names) = (timeline.rows, timeline.lanes.map { Excerpt.of($0.title) })
        let pitch = max(32, min((names.map(SVG.width).max() ?? 0) + 16, 480 / max(1, names.count)))
        titles = names.map { DisplayWidth.fit($0, to: (pitch - 8) * 2 / 15) }
        head = Self.wrapped(timeline.overview + (titles == names ? [] : [timeline.threads]))
        foot = Self.wrapped([timeline.end].compactMap(\.self))
        (self.pitch, top) = (pitch, 60 + head.count * Self.line)
        let cells =
            [["ms"] + Timeline.heading] + rows.map { [timeline.milliseconds($0)] + timeline.cells(of: $0) }
        let columns: [Table.Column] = [.number(""), .text(), .text(), .number(""), .number(""), .text(width: 0...90)]
        texts = cells.map(Table(columns, rows: cells).line)
        let times = rows.flatMap { [timeline.time($0.entry), timeline.time($0.last)] }
        let (begin, end) = (times.min() ?? 0, times.max() ?? 0)
        let scale = Double(max(400, rows.count * Self.line)) / Double(max(1, end - begin))
        bottom = top
        for row in rows {
            for record in [row.last, row.entry] {
                heights[record] = isLinear ? top + Int(Double(timeline.time(record) - begin) * scale) : bottom
            }
            lines.append(max(bottom, height(row.entry)))
            bottom = lines[lines.count - 1] + Self.line
        }
        // A box that ends has its end above the bottom.
        bottom = max(bottom, (heights.values.max() ?? 0) + Self.line)
    }

    private static func width(_ texts: [String]) -> Int { texts.map(SVG.width).max() ?? 0 }

    private static func wrapped(_ texts: [String]) -> [String] {
        texts.flatMap { WrappedText.lines(Excerpt.of($0, length: 600), width: 100) }
    }

    /// The height of a record; the bottom if it is not drawn.
    private func height(_ record: Int32) -> Int { heights[record] ?? bottom }

    private func x(_ lane: Int, _ depth: Int) -> Int { Self.margin + lane * pitch + min(depth * 8, pitch - 12) }

    private func x(_ row: Timeline.Row) -> Int { x(timeline.lane(row.entry), row.depth) }

    // MARK: Drawing

    package var svg: String {
        let right = Self.margin + titles.count * pitch + 20
        let legend = legend(at: bottom + 14)
        let widths = [16 + Self.width(head + foot), 4 + 120 * legend.count, right + Self.width(texts)]
        let width = max(640, 16 + (widths.max() ?? 0))
        let leaders = zip(timeline.rows, lines).map { row, line in
            let y = height(row.entry)
            return SVG.path("grid", "M\(x(row)) \(y)L\(right - 18) \(y)L\(right - 4) \(line)")
        }
        let notes =
            zip(0..., head).map { SVG.text($1, 16, 22 + $0 * Self.line, $0 == 0 ? "heading" : "") }
            + zip(0..., foot).map { SVG.text($1, 16, bottom + 44 + $0 * Self.line) }
        let words = zip(texts, [top - 24] + lines).map { SVG.text($0, right, $1 + 4) }
        let parts = [notes, leaders, lanes, boxes, arrows, marks, words, legend].flatMap(\.self)
        let size = "\(width) \(bottom + 36 + foot.count * Self.line)"
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(size)" width="\(width)" xml:space="preserve">
            <title>\(XMLText.escaped(head.first ?? ""))</title>
            <style>\(SVG.style)</style>
            <rect class="ground" width="100%" height="100%" rx="6"/>
            \(parts.joined(separator: "\n"))
            </svg>

            """
    }

    /// The names and lines of the threads.
    private var lanes: [String] {
        let ends = timeline.rows.filter { timeline.index.entry($0.entry).stage == .threadEnd }
        return titles.enumerated().map { lane, title in
            let end = ends.first { timeline.lane($0.entry) == lane }.map { height($0.entry) } ?? bottom
            return SVG.text(title, x(lane, 0) - 4, top - 20, "heading \(SVG.color(lane))")
                + SVG.path("life \(SVG.color(lane))", "M\(x(lane, 0)) \(top - 8)V\(end)")
        }
    }

    /// The handlers and waits, also those that began earlier. A box without an end is open at the bottom.
    private var boxes: [String] {
        let earlier = timeline.earlier.map { number in
            let span = timeline.index.spans[Int(number)]
            return (span.begin, top - 8, span.end, Int(span.depth), span.isWait ? TimelineMark.wait : .handler)
        }
        let drawn = timeline.rows.filter { $0.span >= 0 && $0.part != .end }.map { row in
            let end = row.part == .begin ? timeline.index.spans[Int(row.span)].end : row.last
            return (row.entry, height(row.entry), end, row.depth, row.mark)
        }
        return (earlier + drawn).map { record, begin, end, depth, mark in
            let (lane, end) = (timeline.lane(record), height(end))
            let length = end - begin
            let box = length > 0 ? "m-4 \(length)v-\(length)h8v\(length)\(end < bottom ? "z" : "")" : mark.look.path
            return SVG.path("\(mark) \(SVG.color(lane))", "M\(x(lane, depth)) \(begin)\(box)")
        }
    }

    private var marks: [String] {
        timeline.rows.filter { $0.span < 0 }.map { row in
            let color = SVG.color(timeline.lane(row.entry))
            return SVG.path("\(row.mark) \(color)", "M\(x(row)) \(height(row.entry))\(row.mark.look.path)")
        }
    }

    /// Arrows between threads. On one thread, an arrow would only repeat the order.
    private var arrows: [String] {
        timeline.rows.filter { $0.arrow >= 0 && timeline.lane($0.arrow) != timeline.lane($0.entry) }.map { row in
            let (lane, y) = (timeline.lane(row.arrow), height(row.entry))
            let start = (x: x(lane, timeline.index.depth(of: row.arrow)), y: heights[row.arrow] ?? y)
            let style = row.mark == .undelivered ? "lost \(SVG.color(lane))" : SVG.color(lane)
            return SVG.arrow(from: start, to: (x(row), y), style)
        }
    }

    /// The marks that are used, with their meanings.
    private func legend(at y: Int) -> [String] {
        let used = Set(timeline.rows.map(\.mark))
        let arrow = arrows.isEmpty ? [] : [("to its delivery", SVG.arrow(from: (16, y), to: (40, y), "c0"))]
        let marks = TimelineMark.allCases.filter(used.contains).map { mark in
            (mark.rawValue, SVG.path("\(mark) c0", "M28 \(y)\(mark.look.path)"))
        }
        return (marks + arrow).enumerated().map { number, item in
            "<g transform=\"translate(\(number * 120) 0)\">\(item.1)\(SVG.text(item.0, 44, y + 4))</g>"
        }
    }
}

/// Elements of a picture.
private enum SVG {
    /// Not all viewers support variables.
    static let style: String = {
        let light = ["#0969da", "#9a6700", "#8250df", "#1a7f37", "#bf3989", "#0e7490", "#bc4c00", "#57606a"]
        let dark = ["#58a6ff", "#d29922", "#bc8cff", "#3fb950", "#f778ba", "#39c5cf", "#ff9b5e", "#a5b0bb"]
        func colors(_ ground: String, _ ink: String, _ grid: String, _ bad: String, _ lanes: [String]) -> String {
            "text{fill:\(ink)}.ground,.enqueue,.wait{fill:\(ground)}.grid{stroke:\(grid)}"
                + lanes.enumerated().map { ".c\($0){color:\($1)}" }.joined() + ".undelivered{color:\(bad)}"
        }
        return """
            text{font:12px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;white-space:pre}\
            path{fill:none;stroke:currentColor;stroke-width:1.5}.heading{font-weight:600}.life{opacity:.5}\
            .post,.head{fill:currentColor}.handler{fill:currentColor;fill-opacity:.3}.wait{stroke-dasharray:2 3}\
            .lost{stroke-dasharray:4 3}\
            \(colors("#ffffff", "#1f2328", "#d9dee4", "#cf222e", light))\
            @media (prefers-color-scheme:dark){\(colors("#0d1117", "#e6edf3", "#2b323b", "#ff7b72", dark))}
            """
    }()

    /// Lanes use eight colors in turn.
    static func color(_ lane: Int) -> String { "c\(lane % 8)" }

    /// A little more than the width of text in the widest of the fonts.
    static func width(_ text: String) -> Int { DisplayWidth.of(text) * 15 / 2 }

    static func path(_ style: String, _ path: String) -> String { "<path class=\"\(style)\" d=\"\(path)\"/>" }

    static func text(_ text: String, _ x: Int, _ y: Int, _ style: String = "") -> String {
        "<text class=\"\(style)\" x=\"\(x)\" y=\"\(y)\">\(XMLText.escaped(text))</text>"
    }

    /// A line that ends beside a mark, with a head.
    static func arrow(from start: (x: Int, y: Int), to end: (x: Int, y: Int), _ style: String) -> String {
        let sign = start.x < end.x ? -1 : 1
        return path("way \(style)", "M\(start.x) \(start.y)L\(end.x + sign * 8) \(end.y)")
            + path("head \(style)", "M\(end.x + sign * 5) \(end.y)l\(sign * 7) -3v6z")
    }
}
