internal import DeliveryRecording
internal import TerminalText

/// Draws a timeline as text: time runs downwards, with a column for each thread, a row for each event, and a
/// description to the right.
///
/// No line is longer than `width`. Long descriptions are shortened.
package struct TimelineText: Sendable {
    /// A part of a line. A part that belongs to a lane may be colored.
    package struct Span: Sendable {
        package var text: String
        package var lane: Int?
    }

    private let timeline: Timeline
    private let width: Int
    private let isASCII: Bool
    private let timeUnit: (name: String, nanoseconds: Int64)
    private let timeWidth: Int
    /// The width of a lane.
    private let pitch: Int
    /// The widths of the columns to the right of the lanes, except for the description.
    private let columns: [Int]

    /// Nothing is readable below this width.
    package static let minimumWidth = 40
    private static let minimumPitch = 3
    private static let maximumPitch = 14
    private static let headings = ["what", "post", "latency", "lasts"]

    /// The number of lanes for which a width has space.
    package static func maximumLanes(width: Int) -> Int { max(2, (room(width) - 10) / minimumPitch) }

    /// The description needs more than half of a narrow terminal and less than half of a wide one.
    private static func room(_ width: Int) -> Int { width - min(width * 9 / 20, 64) }

    package init(_ timeline: Timeline, width: Int, isASCII: Bool = false) {
        (self.timeline, self.width, self.isASCII) = (timeline, max(Self.minimumWidth, width), isASCII)
        timeUnit = timeline.end < 100_000_000_000 ? ("ms", 1_000_000) : ("s", 1_000_000_000)
        timeWidth = max(Self.clock(timeline.end, timeUnit.nanoseconds).count, timeUnit.name.count)
        let cells = timeline.rows.lazy.map { timeline.label(of: timeline.items[$0.item], $0.part).columns }
        columns = cells.reduce(Self.headings.map(\.count)) { zip($0, $1).map { max($0, DisplayWidth.of($1)) } }
        let lanes = max(1, timeline.lanes.count)
        let title = timeline.lanes.map { DisplayWidth.of(Self.safe($0.title, isASCII)) + 2 }.max() ?? 0
        // Lanes are not widened if descriptions would become too short to tell names apart.
        let free = self.width - columns.reduce(20) { $0 + $1 + 1 }
        let room = min(Self.room(self.width), free) - timeWidth - 2
        pitch = max(Self.minimumPitch, min(title, Self.maximumPitch, room / lanes))
    }

    // MARK: Lines

    package var text: String {
        var lines: [String] = []
        forEachLine { lines.append($0.map(\.text).joined()) }
        return lines.joined(separator: "\n")
    }

    /// Produces the lines one by one, from top to bottom, without keeping them in memory.
    ///
    /// - Parameter progress: called from time to time with the number of rows drawn.
    package func forEachLine(progress: (Int) -> Void = { _ in }, _ take: ([Span]) throws -> Void) rethrows {
        func print(_ line: [Span]) throws {
            var line = line
            while let last = line.last?.text, last.allSatisfy({ $0 == " " }) { line.removeLast() }
            if let last = line.popLast() {
                let text = last.text.reversed().drop { $0 == " " }.reversed()
                line.append(Span(text: String(text), lane: last.lane))
            }
            try take(line)
        }
        func printWrapped(_ texts: [String]) throws {
            for text in texts.flatMap({ WrappedText.lines(safe($0), width: width, hanging: 2) }) {
                try print([Span(text: text)])
            }
        }
        try printWrapped([timeline.summary] + timeline.overview)
        for line in timeline.rows.isEmpty ? [] : [[]] + heading { try print(line) }
        var graph = TimelineGraph(timeline, pitch: pitch)
        for (index, row) in timeline.rows.enumerated() {
            if index % 1000 == 999 { progress(index) }
            let time = timeline.time(of: row)
            if let pause = timeline.pause(before: index) {
                let before = index > 0 ? timeline.time(of: timeline.rows[index - 1]) : timeline.begin
                try print(line(time: "", graph: graph.later(at: before), words: [Span(text: "\(pause) later")]))
            }
            let words = words(timeline.label(of: timeline.items[row.item], row.part), timeline.items[row.item].lane)
            try print(line(time: Self.clock(time, timeUnit.nanoseconds), graph: graph.draw(row), words: words))
        }
        for line in timeline.rows.count > 40 ? heading : [] { try print(line) }
        try printWrapped(timeline.notes.isEmpty ? [] : [""] + timeline.notes)
    }

    private func line(time: String, graph: [Span], words: [Span]) -> [Span] {
        let drawn = graph.map { Span(text: isASCII ? Self.ascii($0.text) : $0.text, lane: $0.lane) }
        return [Span(text: DisplayWidth.pad(time, to: timeWidth, alignment: .trailing) + "  ")] + drawn + words
    }

    private static func clock(_ time: Int64, _ unit: Int64) -> String {
        ElapsedTime.decimal(time, per: unit, decimals: 3, keepsZeros: true)
    }

    /// The names of the lanes: in one line if they fit, else one per line in steps.
    private var heading: [[Span]] {
        let titles = timeline.lanes.map { safe($0.title) }
        let fits = titles.allSatisfy { DisplayWidth.of($0) < pitch }
        func cells(_ count: Int) -> [Span] {
            (0..<count).map { Span(text: DisplayWidth.pad(fits ? titles[$0] : "│", to: pitch), lane: $0) }
        }
        let steps: [[Span]] =
            fits
            ? []
            : titles.enumerated().map { lane, title in
                let left = timeWidth + 2 + lane * pitch
                let fitting = DisplayWidth.fit(title, to: width - left, ellipsis: ellipsis)
                return line(time: "", graph: cells(lane), words: [Span(text: fitting, lane: lane)])
            }
        let headings = DisplayWidth.fit(columned(Self.headings), to: wordsWidth, ellipsis: ellipsis)
        return steps + [line(time: timeUnit.name, graph: cells(titles.count), words: [Span(text: headings)])]
    }

    // MARK: Words

    private var wordsWidth: Int { max(0, width - timeWidth - 2 - timeline.lanes.count * pitch) }

    private func words(_ label: TimelineLabel, _ lane: Int) -> [Span] {
        let (cells, description) = (label.columns.map(safe), safe(label.description))
        // Empty columns before the description are left to it if it needs the space, or if all are empty.
        let filled = Array(cells.prefix((cells.lastIndex { !$0.isEmpty } ?? 0) + 1))
        let whole = columned(cells) + description
        let isShort = filled.count == 1 || DisplayWidth.of(whole) > wordsWidth
        let words = isShort ? columned(filled) + description : whole
        let fitting = DisplayWidth.fit(words, to: wordsWidth, ellipsis: ellipsis)
        let what = fitting.prefix(columns[0])
        return [Span(text: String(what), lane: lane), Span(text: String(fitting.dropFirst(what.count)))]
    }

    private func columned(_ cells: [String]) -> String {
        cells.enumerated().reduce("") { words, cell in
            // Times are aligned to the right.
            words + DisplayWidth.pad(cell.1, to: columns[cell.0], alignment: cell.0 >= 2 ? .trailing : .leading) + " "
        } + " "
    }

    // MARK: Characters

    private var ellipsis: String { isASCII ? "..." : "…" }

    private func safe(_ text: String) -> String { Self.safe(text, isASCII) }

    /// Makes foreign text safe to print.
    private static func safe(_ text: String, _ isASCII: Bool) -> String {
        let excerpt = Excerpt.of(text, length: 400)
        return isASCII ? ascii(excerpt) : excerpt
    }

    private static func ascii(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            replacements[scalar] ?? (scalar.isASCII ? String(scalar) : scalar.escaped(asASCII: true))
        }.joined()
    }

    private static let replacements: [Unicode.Scalar: String] = {
        let drawing = zip("│┴┆─╌┼◀▶├┤┃┏┗■╂┠┨┊┬●○×".unicodeScalars, "|=.-~+<>||#######::oOx")
        return Dictionary(uniqueKeysWithValues: drawing.map { ($0, String($1)) })
            .merging(["·": "*", "…": "...", "µ": "u", "≤": "<="]) { $1 }
    }()
}
